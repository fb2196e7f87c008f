import Strongroom

extension Database {
    func setKey(_ key: String) throws {
        try usePassphrase(key)
    }
}

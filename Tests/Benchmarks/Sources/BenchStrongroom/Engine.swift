// The engine for all files of this program, which are those of BenchGRDB too.
@_exported import Strongroom

extension Database {
    func setKey(_ key: String) throws {
        try usePassphrase(key)
    }
}

extension DatabasePool {
    func changeKey(to hex: String) throws {
        let bytes = stride(from: 0, to: 64, by: 2).map { UInt8(hex.dropFirst($0).prefix(2), radix: 16)! }
        try rotateKey(to: .rawKey(bytes))
    }
}

import GRDB

extension Database {
    /// GRDB knows nothing of keys here: SQLCipher was put under it by LD_PRELOAD.
    func setKey(_ key: String) throws {
        try execute(sql: key.hasPrefix("x'") ? "PRAGMA key = \"\(key)\"" : "PRAGMA key = '\(key)'")
    }
}

// The engine for all files of this program, which are those of BenchStrongroom too.
@_exported import GRDB

extension Database {
    /// GRDB knows nothing of keys here: SQLCipher takes the place of the system's SQLite at run time.
    func setKey(_ key: String) throws {
        try execute(sql: key.hasPrefix("x'") ? "PRAGMA key = \"\(key)\"" : "PRAGMA key = '\(key)'")
    }
}

extension DatabasePool {
    func changeKey(to hex: String) throws {
        try barrierWriteWithoutTransaction { db in
            try db.execute(sql: "PRAGMA rekey = \"x'\(hex)'\"")
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }
}

extension GrowthWork {
    func keySlots() throws -> Double { fatalError("GRDB has no key slots") }
}

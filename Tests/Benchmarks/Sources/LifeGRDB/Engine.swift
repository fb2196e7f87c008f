// The engine for the files in Day, which LifeStrongroom has too.
@_exported import GRDB

/// GRDB is built without SQLCipher, which takes the place of the system's SQLite at run time.
extension Database {
    func usePassphrase(_ passphrase: String) throws {
        try execute(sql: "PRAGMA key = '\(passphrase)'")
    }

    func changePassphrase(_ passphrase: String) throws {
        try execute(sql: "PRAGMA rekey = '\(passphrase)'")
    }
}

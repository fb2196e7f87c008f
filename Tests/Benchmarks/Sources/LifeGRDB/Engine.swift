// The engine for the files in Day, which LifeStrongroom has too.
@_exported import GRDB

/// GRDB is built without SQLCipher, which LD_PRELOAD puts under it.
extension Database {
    func usePassphrase(_ passphrase: String) throws {
        try execute(sql: "PRAGMA key = '\(passphrase)'")
    }

    func changePassphrase(_ passphrase: String) throws {
        try execute(sql: "PRAGMA rekey = '\(passphrase)'")
    }
}

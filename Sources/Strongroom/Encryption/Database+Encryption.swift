import CSQLCipher
import CStrongroom
import Foundation

/// The encryption of a database.
public struct Encryption: Sendable {}

extension Database {
    /// Prepares the connection for its key, before `prepareDatabase`.
    func setUpEncryption() throws {}

    /// Reads the database for the first time, after `prepareDatabase`: the key is right or opening fails here.
    func verifyEncryption() throws {
        try execute(sql: "SELECT count(*) FROM sqlite_master")
    }

    /// Sets the key of the database. Call it in `prepareDatabase`, before anything else.
    public func usePassphrase(_ passphrase: String) throws {
        try usePassphrase(Data(passphrase.utf8))
    }

    /// Sets the key of the database. Call it in `prepareDatabase`, before anything else.
    public func usePassphrase(_ passphrase: Data) throws {
        guard !passphrase.isEmpty else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the passphrase is empty")
        }
        try check(passphrase.withUnsafeBytes { sqlite3_key(try openConnection, $0.baseAddress, CInt($0.count)) })
    }
}

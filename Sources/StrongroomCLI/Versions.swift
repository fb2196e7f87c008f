import Strongroom

/// The versions of this program and its libraries, for bug reports.
struct Versions: CustomStringConvertible {
    static let strongroom = "0.2.0"

    let sqlcipher: String
    let sqlite: String
    let provider: String

    static func current() throws -> Versions {
        // SQLCipher names its provider on a keyed connection only. A random key costs no derivation, and the
        // database is in memory.
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try .random())
        let queue = try DatabaseQueue(configuration: configuration)
        return try queue.inDatabase { db in
            Versions(
                sqlcipher: try db.cipherVersion,
                sqlite: sqlite,
                provider: try db.cipherProviderVersion ?? "unknown")
        }
    }

    /// SQLite's 3046001 is version 3.46.1.
    static var sqlite: String {
        let number = Database.sqliteLibVersionNumber
        return "\(number / 1_000_000).\(number / 1_000 % 1_000).\(number % 1_000)"
    }

    /// A note for libraries with the WAL-reset bug.
    static var walResetNote: String? {
        Database.libraryHasWALResetBug
            ? "with the WAL-reset bug: fenced here, not in other programs that checkpoint"
            : nil
    }

    var description: String {
        """
        strongroom \(Self.strongroom)
        SQLCipher  \(sqlcipher)
        SQLite     \(sqlite)\(Self.walResetNote.map { ", " + $0 } ?? "")
        Crypto     \(provider)
        """
    }
}

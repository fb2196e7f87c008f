// The causes of a failed opening, and their remedies.

extension DatabaseError {
    /// A Boolean value that indicates whether the key doesn't fit the database, or the file isn't a database. Without
    /// the right key, the two can't be distinguished.
    ///
    /// True for `SQLITE_NOTADB` if the ``reason`` is one that another key can resolve: ``Reason/wrongKey``,
    /// ``Reason/mistypedRecoveryCode`` and ``Reason/encryptedWithoutKey``, but not clear text, an older format, or a
    /// missing or wrong salt.
    public var isWrongKeyError: Bool {
        guard resultCode == .SQLITE_NOTADB else { return false }
        switch reason {
        case nil, .wrongKey, .encryptedWithoutKey, .mistypedRecoveryCode: return true
        default: return false
        }
    }

    static func clearText(_ path: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_NOTADB, .notEncrypted, "\(path) is not encrypted",
            advice: "open it without a key, or encrypt it with DatabaseFile.encrypt(path:to:encryption:)")
    }

    static func notDatabase(_ path: String, _ why: String) -> DatabaseError {
        DatabaseError(.SQLITE_NOTADB, .notDatabase, "\(path) is not a database: \(why)")
    }

    static func otherFormat(_ path: String, version: Int) -> DatabaseError {
        DatabaseError(
            .SQLITE_NOTADB, version < 4 ? .olderFormat : .newerFormat, "\(path) has the SQLCipher \(version) format",
            advice: """
                migrate it with DatabaseFile.migrateInPlace(path:from:) or Configuration.olderFormats, or set \
                CipherSettings.sqlcipher\(version)
                """,
            formatVersion: version)
    }

    static func missingSalt(_ path: String, beside file: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_NOTADB, .missingSalt,
            "the salt of \(path) is missing: its header is plaintext and there is no \(file)",
            advice: "restore that file, or give the salt with PlaintextHeader(salt: .provided(…))")
    }

    static func contradictoryHeader(_ path: String, _ problem: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_NOTADB, .contradictoryHeader, "the plaintext header of \(path) doesn't fit: \(problem)",
            advice: "open the database with the settings that it was created with, or restore it from a backup")
    }

    static func lateHeader(_ path: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_NOTADB, .missingPlaintextHeader, "\(path) is encrypted from its first byte",
            advice: """
                open it without a plaintext header, or add one with \
                DatabaseFile.setPlaintextHeader(_:path:encryption:)
                """)
    }
}

import CStrongroom
import Foundation

extension Database {
    /// Attaches another database, with a key of its own, or in clear text for nil. `DETACH DATABASE` ends it.
    ///
    /// In SQL, `ATTACH` would take the key of the main database, and its salt, which doesn't open a file with the same
    /// passphrase and a salt of its own. Here the key stays out of SQL, too. <https://www.sqlite.org/lang_attach.html>
    ///
    /// - throws: what opening that database would throw; `SQLITE_MISUSE` where a clear database keeps temporary data
    ///   on disk, and an encrypted one is attached.
    public func attach(path: String, as schemaName: String, encryption: Encryption?) throws {
        requireAccess()
        try keySetup.settlePendingKey()
        if encryption != nil { try untraced { try pragmaPolicy.requireTemporaryDataInMemory() } }
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.readonly = self.configuration.readonly
        configuration.busyMode = self.configuration.busyMode
        let other = try Database(path: path, description: description + ".attachment", configuration: configuration)
        try other.withSoleAccess { other in
            try other.setUp()
            try attach(other, as: schemaName)
        }
    }

    private func attach(_ other: Database, as schemaName: String) throws {
        guard let derived = other.cipher.derived else {
            try execute(sql: "ATTACH DATABASE ? AS \(quoted(schemaName)) KEY ''", arguments: [other.filePath])
            return
        }
        if try other.fileSize() == 0 {
            // Nothing is read yet: the format can be said after the key.
            try execute(sql: "ATTACH DATABASE ? AS \(quoted(schemaName)) KEY ''", arguments: [other.filePath])
            return try formatControl.holdingDefaults {
                try keySetup.attach(derived, header: other.cipher.header, schema: quoted(schemaName), key: schemaName)
                try formatControl.deriveBeforeFirstPage(of: schemaName)
            }
        }
        guard derived.settings.hasStandardPages, other.cipher.header == 0 else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: """
                \(other.path) can't be attached: SQLCipher attaches databases in its current format, without plaintext header, only
                """)
        }
        let path = other.filePath
        strongroom_set_opening(connection)
        defer { strongroom_set_opening(nil) }
        try formatControl.holdingDefaults {
            try check(
                derived.withSpec { strongroom_attach(try openConnection, path, schemaName, $0.baseAddress, CInt($0.count)) })
        }
    }
}

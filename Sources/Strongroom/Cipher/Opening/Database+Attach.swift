import Foundation

extension Database {
    /// Attaches another database, with the key of `encryption`, or in clear text if that is nil. `DETACH DATABASE`
    /// detaches it.
    ///
    /// The SQL statement `ATTACH` uses the key and the salt of the main database, which do not open a file with the
    /// same passphrase and another salt. This function also keeps the key out of SQL.
    /// <https://www.sqlite.org/lang_attach.html>
    ///
    /// - throws: the errors of opening that database; `SQLITE_MISUSE` if the main database is in clear text and keeps
    ///   temporary data on disk, and the attached one is encrypted.
    public func attach(path: String, as schemaName: String, encryption: Encryption?) throws {
        requireAccess()
        try stops.refuseReadLocks()
        try keySetup.settlePendingKey()
        if encryption != nil { try untraced { try pragmaPolicy.requireTemporaryDataInMemory() } }
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.readonly = self.configuration.readonly
        configuration.busyMode = self.configuration.busyMode
        configuration.posixPermissions = self.configuration.posixPermissions
        configuration.observesSuspensionNotifications = self.configuration.observesSuspensionNotifications
        let other = try Database(path: path, description: description + ".attachment", configuration: configuration)
        try other.withSoleAccess(family: self.configuration.keyring) { other in
            // Opening for writing takes locks.
            if !other.configuration.readonly { try other.stops.refuseLocks() }
            try other.setUp()
            try other.stops.refuseReadLocks()
            try attach(other, as: schemaName)
        }
    }

    private func attach(_ other: Database, as schemaName: String) throws {
        guard let derived = other.cipher.derived else {
            try execute(
                sql: "ATTACH DATABASE ? AS \(schemaName.quotedDatabaseIdentifier) KEY ''", arguments: [other.filePath])
            return
        }
        if try other.fileSize() == 0 {
            // Nothing has been read yet: the format can still be set after the key.
            try execute(
                sql: "ATTACH DATABASE ? AS \(schemaName.quotedDatabaseIdentifier) KEY ''", arguments: [other.filePath])
            do {
                return try formatControl.holdingDefaults {
                    try formatControl.attach(
                        derived, header: other.cipher.header, schema: schemaName.quotedDatabaseIdentifier,
                        key: schemaName)
                    try formatControl.deriveBeforeFirstPage(of: schemaName)
                }
            } catch {
                detachWithoutKey(schemaName)
                throw error
            }
        }
        guard derived.settings.hasStandardPages, other.cipher.header == 0 else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    \(other.path) can't be attached: SQLCipher only attaches databases in its current format, without \
                    a plaintext header
                    """)
        }
        let path = other.filePath
        ConnectionHandle.setOpening(connection)
        defer { ConnectionHandle.setOpening(nil) }
        try formatControl.holdingDefaults {
            try check(derived.withSpec { try RawConnection(openConnection).attach(path, as: schemaName, key: $0) })
        }
    }

    /// Detaches a schema that has not got its key: what is written into it would be clear text. If that fails, the
    /// connection refuses all statements.
    private func detachWithoutKey(_ schemaName: String) {
        do {
            try stops.undoing { try execute(sql: "DETACH DATABASE \(schemaName.quotedDatabaseIdentifier)") }
        } catch {
            pragmaPolicy.refuseAll(with: error as? DatabaseError ?? DatabaseError(resultCode: .SQLITE_ERROR))
        }
    }
}

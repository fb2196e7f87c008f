extension DatabaseFile {
    /// Adds a plaintext header to an encrypted database, removes it, or changes its size. No other connection may have
    /// the database open.
    ///
    /// The salt stays the same. With `.sidecar`, it is first written into a file beside the database. With `.provided`,
    /// it must be that of the database, which ``inspect(path:)`` returns. Even if the process is killed or a step
    /// fails, the database opens with its key. The cancellation of the calling task and
    /// ``Database/suspendNotification`` stop the change as long as nothing has changed.
    ///
    /// - parameters:
    ///   - header: the new header. Nil to remove the header.
    ///   - path: the path of the database.
    ///   - encryption: the encryption that opens the database now.
    /// - throws: `SQLITE_BUSY` when another connection has the database open; nothing has changed. `SQLITE_MISUSE` for
    ///   a file with several names.
    public static func setPlaintextHeader(_ header: PlaintextHeader?, path: String, encryption: Encryption) throws {
        if let header { try PlaintextHeader.validate(size: header.size) }
        do {
            try withHeaderConnection(path, encryption) { try $0.rewriteHeader(header) }
        } catch {
            // Opening finds the header that the file has now, and removes what a failed change has left.
            try? withHeaderConnection(path, encryption) { try $0.removeUnusedSalt() }
            throw error
        }
    }

    private static func withHeaderConnection(
        _ path: String, _ encryption: Encryption, _ body: (Database) throws -> Void) throws
    {
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.busyMode = .timeout(5)
        try Database(path: path, description: "DatabaseFile", configuration: configuration).withSoleAccess { database in
            try database.setUp()
            try database.followingSuspensions { try body(database) }
        }
    }
}

extension Database {
    fileprivate func rewriteHeader(_ header: PlaintextHeader?) throws {
        guard let derived = cipher.derived, let key = cipher.key, try fileSize() > 0 else {
            throw DatabaseError(refusing: "\(path) is not an encrypted database", reason: .notEncrypted)
        }
        try requireSingleName()
        // With a write-ahead log, the first page in the log and the file would have different formats.
        let wasWAL = try isWAL
        if wasWAL { try requireJournalMode("delete") }
        try stops.check()
        try Task.checkCancellation()
        try announce(header, salt: derived.salt)
        try writeFirstPage(headerSize: header?.size ?? 0)
        // The change has happened: stops do not apply.
        try stops.closing {
            try settle(header, salt: derived.salt)
            try verify(header, key, derived)
            if wasWAL { try requireJournalMode("wal") }
        }
    }

    private func verify(_ header: PlaintextHeader?, _ key: DatabaseKey, _ derived: DerivedKey) throws {
        // If the key contains the salt, the file is only needed for the size.
        let isProvided = header?.salt != .sidecar
        let encryption = Encryption(
            key: key, settings: derived.settings, plaintextHeader: isProvided ? header : nil)
        try requireOpening(encryption) { fresh in
            guard try PageAuthentication(fresh).badPages().isEmpty else {
                throw DatabaseError(
                    resultCode: .SQLITE_CORRUPT, message: "after the change of header, \(path) is damaged")
            }
        }
    }

    /// Writes the new header into the salt file before the first page has it.
    ///
    /// If the salt file contains another header, that one stays in it: opening tries both.
    private func announce(_ header: PlaintextHeader?, salt: Salt) throws {
        guard let header else { return }
        if let bytes = header.salt.provided, bytes != salt.bytes {
            throw DatabaseError(
                refusing: "the salt of \(path) is different", advice: "change the key to change the salt",
                reason: .wrongSalt)
        }
        let present = try SaltFile.read(.permanent, of: filePath), next = SaltFile(salt: salt, header: header.size)
        if cipher.header > 0, let present, present.header != header.size {
            try SaltFile.requireWritable(.permanent, of: filePath)
            try next.write(.rotation, of: filePath)
        } else if header.salt == .sidecar {
            try next.write(.permanent, of: filePath)
        }
    }

    /// After the first page is written, makes its header the only one of the salt file, or removes the file.
    private func settle(_ header: PlaintextHeader?, salt: Salt) throws {
        if let header, header.salt == .sidecar {
            try SaltFile(salt: salt, header: header.size).write(.permanent, of: filePath)
        } else {
            try removeSaltFile()
        }
        try SaltFile.remove(.rotation, of: filePath)
    }

    /// Removes the salt file if its salt is stored elsewhere. Former salts in it open earlier backups or other
    /// databases.
    private func removeSaltFile() throws {
        guard let salt = cipher.derived?.salt else { return }
        try SaltFile(salt: salt, header: 0).remove(.permanent, of: filePath)
    }

    /// Removes the salt file after a failed change: a file that is encrypted from its first byte contains its salt.
    fileprivate func removeUnusedSalt() throws {
        if cipher.header == 0, try fileSize() > 0 { try removeSaltFile() }
    }

    private func writeFirstPage(headerSize: Int) throws {
        try inTransaction(.exclusive) {
            let version = try Int.fetchOne(self, sql: "PRAGMA user_version") ?? 0
            // Before the pragma, which would write it into the salt file at once.
            cipher.header = headerSize
            try runCipherPragma("cipher_plaintext_header_size = \(headerSize)")
            try runUnseen("PRAGMA user_version = \(version)")
            return .commit
        }
    }

    private func requireJournalMode(_ mode: String) throws {
        guard try answer(to: "PRAGMA main.journal_mode = \(mode)") == mode else {
            throw DatabaseError(.SQLITE_BUSY, refusing: "another connection has \(path) open", advice: "close it first")
        }
    }
}

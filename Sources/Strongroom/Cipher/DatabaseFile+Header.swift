extension DatabaseFile {
    /// Turns the readable header of an encrypted database on, or off with nil, or changes its size. Nothing else may
    /// have the database open.
    ///
    /// The salt keeps its value: with `.sidecar` it goes to a file beside the database first, with `.provided` it must
    /// be the one in the database, which ``inspect(path:)`` shows. Whatever is killed or fails, the database opens
    /// with its key. The cancellation of the calling task and ``Database/suspendNotification`` stop the change as long
    /// as nothing has changed.
    ///
    /// - parameter encryption: what opens the database as it is now.
    /// - throws: `SQLITE_BUSY` when another connection has the database open; nothing has changed then.
    ///   `SQLITE_MISUSE` for a file with several names.
    public static func setPlaintextHeader(_ header: PlaintextHeader?, path: String, encryption: Encryption) throws {
        if let header { try PlaintextHeader.validate(size: header.size) }
        do {
            try withHeaderConnection(path, encryption) { try $0.rewriteHeader(header) }
        } catch {
            // Whichever header the file has now, opening finds it, and removes what a change that failed has left.
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
        // In a write-ahead log the first page would be in one format and the file in another.
        let wasWAL = try log.isUsed
        if wasWAL { try requireJournalMode("delete") }
        try stops.check()
        try Task.checkCancellation()
        try announce(header, salt: derived.salt)
        try writeFirstPage(headerSize: header?.size ?? 0)
        // Nothing stops what has happened.
        try stops.closing {
            try settle(header, salt: derived.salt)
            try verify(header, key, derived)
            if wasWAL { try requireJournalMode("wal") }
        }
    }

    private func verify(_ header: PlaintextHeader?, _ key: DatabaseKey, _ derived: DerivedKey) throws {
        // A key that carries the salt needs a file for the size only.
        let isProvided = header?.salt != .sidecar
        try requireOpening(Encryption(key: key, settings: derived.settings, plaintextHeader: isProvided ? header : nil)) { fresh in
            guard try PageAuthentication(fresh).badPages().isEmpty else {
                throw DatabaseError(
                    resultCode: .SQLITE_CORRUPT, message: "after the change of header, \(path) is damaged")
            }
        }
    }

    /// Writes the coming header beside the file before the first page has it.
    ///
    /// Where a salt file tells of another header, that one stays: opening tries both.
    private func announce(_ header: PlaintextHeader?, salt: Salt) throws {
        guard let header else { return }
        if let bytes = header.salt.provided, bytes != salt.bytes {
            throw DatabaseError(
                refusing: "the salt of \(path) is another one", advice: "change the key to change the salt",
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

    /// Once the first page is written, the file beside it tells of that one only, or goes.
    private func settle(_ header: PlaintextHeader?, salt: Salt) throws {
        if let header, header.salt == .sidecar {
            try SaltFile(salt: salt, header: header.size).write(.permanent, of: filePath)
        } else {
            try removeSaltFile()
        }
        try SaltFile.remove(.rotation, of: filePath)
    }

    /// Only a salt that stands somewhere else may go: former ones open backups of the time before, others other
    /// databases.
    private func removeSaltFile() throws {
        guard let salt = cipher.derived?.salt else { return }
        try SaltFile(salt: salt, header: 0).remove(.permanent, of: filePath)
    }

    /// After a change that failed: the salt of a file that is encrypted from its first byte stands in it.
    fileprivate func removeUnusedSalt() throws {
        if cipher.header == 0, try fileSize() > 0 { try removeSaltFile() }
    }

    private func writeFirstPage(headerSize: Int) throws {
        try inTransaction(.exclusive) {
            let version = try Int.fetchOne(self, sql: "PRAGMA user_version") ?? 0
            // Before the pragma, which would have it written beside the file at once.
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

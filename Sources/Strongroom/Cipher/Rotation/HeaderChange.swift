/// A change of the plaintext header of one database, which no other connection has open.
struct HeaderChange {
    private let database: Database

    /// The path as the program gave it, for messages.
    private var path: String { database.path }

    private var cipher: CipherState { database.cipher }

    init(_ database: Database) {
        self.database = database
    }

    /// Turns the header on, changes its size, or turns it off with nil.
    func run(_ header: PlaintextHeader?) throws {
        guard let derived = cipher.derived, let key = cipher.key, try database.fileSize() > 0 else {
            throw DatabaseError(refusing: "\(path) is not an encrypted database", reason: .notEncrypted)
        }
        try database.requireSingleName()
        try requireSalt(header, derived.salt)
        try database.stops.check()
        try Task.checkCancellation()
        // With a write-ahead log, the first page in the log and the file would have different formats.
        let wasWAL = try database.log.isUsed
        if wasWAL { try requireJournalMode("delete") }
        try writeNextSaltFile(header, salt: derived.salt)
        try writeFirstPage(headerSize: header?.size ?? 0)
        // The change has happened: stops do not apply.
        try database.stops.closing {
            try writeFinalSaltFile(header, salt: derived.salt)
            try verify(header, key, derived)
            if wasWAL { try requireJournalMode("wal") }
        }
    }

    private func verify(_ header: PlaintextHeader?, _ key: DatabaseKey, _ derived: DerivedKey) throws {
        // If the key contains the salt, the file is only needed for the size.
        let isProvided = header?.salt != .sidecar
        let encryption = Encryption(key: key, settings: derived.settings, plaintextHeader: isProvided ? header : nil)
        try database.requireOpening(encryption, cipher.keyring) { fresh in
            guard try PageAuthentication(fresh).badPages().isEmpty else {
                throw DatabaseError(
                    resultCode: .SQLITE_CORRUPT, message: "after the change of header, \(path) is damaged")
            }
        }
    }

    private func requireSalt(_ header: PlaintextHeader?, _ salt: Salt) throws {
        guard let bytes = header?.salt.provided, bytes != salt.bytes else { return }
        throw DatabaseError(
            refusing: "the salt of \(path) is different", advice: "change the key to change the salt",
            reason: .wrongSalt)
    }

    /// Writes the new header into the salt file before the first page has it.
    ///
    /// If the salt file contains another header, that one stays in it: opening tries both.
    private func writeNextSaltFile(_ header: PlaintextHeader?, salt: Salt) throws {
        guard let header else { return }
        // Without a plaintext header, what is in the file may be the beginning of what a killed change wrote.
        let present = cipher.header > 0 ? try SaltFile.read(.permanent, of: database.filePath) : nil
        let next = SaltFile(salt: salt, header: header.size)
        if let present, present.header != header.size {
            try SaltFile.requireWritable(.permanent, of: database.filePath)
            try next.write(.rotation, of: database.filePath)
        } else if header.salt == .sidecar {
            try next.write(.permanent, of: database.filePath)
        }
    }

    /// After the first page is written, makes its header the only one of the salt file, or removes the file.
    private func writeFinalSaltFile(_ header: PlaintextHeader?, salt: Salt) throws {
        if let header, header.salt == .sidecar {
            try SaltFile(salt: salt, header: header.size).write(.permanent, of: database.filePath)
        } else {
            try removeSaltFile()
        }
        try SaltFile.remove(.rotation, of: database.filePath)
    }

    /// Removes the salt file if its salt is stored elsewhere. Former salts in it open earlier backups or other
    /// databases.
    private func removeSaltFile() throws {
        guard let salt = cipher.derived?.salt else { return }
        try SaltFile(salt: salt, header: 0).remove(.permanent, of: database.filePath)
    }

    /// Removes what a failed change has left. A file that is encrypted from its first byte contains its salt.
    func cleanUp(wasWAL: Bool) throws {
        if wasWAL { try requireJournalMode("wal") }
        if cipher.header == 0, try database.fileSize() > 0 { try removeSaltFile() }
    }

    private func writeFirstPage(headerSize: Int) throws {
        cipher.phase.beginHeaderChange()
        defer { cipher.phase.endHeaderChange() }
        try database.inTransaction(.exclusive) {
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            // Before the pragma, which would write it into the salt file immediately.
            cipher.changeHeader(to: headerSize)
            try database.runCipherPragma("cipher_plaintext_header_size = \(headerSize)")
            try database.runUnseen("PRAGMA user_version = \(version)")
            return .commit
        }
    }

    private func requireJournalMode(_ mode: String) throws {
        guard try database.answer(to: "PRAGMA main.journal_mode = \(mode)") == mode else {
            throw DatabaseError(.SQLITE_BUSY, refusing: "another connection has \(path) open", advice: "close it first")
        }
    }
}

import CStrongroom

extension DatabaseFile {
    /// Turns the readable header of an encrypted database on, or off with nil. Nothing else may have the database open.
    ///
    /// The salt keeps its value: with `.sidecar` it goes to a file beside the database first, with `.provided` it must be the one
    /// in the database, which ``inspect(path:)`` shows.
    ///
    /// - parameter encryption: what opens the database as it is now.
    /// - throws: `SQLITE_BUSY` when another connection has the database open; nothing has changed then.
    public static func setPlaintextHeader(_ header: PlaintextHeader?, path: String, encryption: Encryption) throws {
        if let header { try PlaintextHeader.validate(size: header.size) }
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.busyMode = .timeout(5)
        try Database(path: path, description: "DatabaseFile", configuration: configuration).withSoleAccess { database in
            try database.setUp()
            try database.rewriteHeader(header)
        }
    }
}

extension Database {
    fileprivate func rewriteHeader(_ header: PlaintextHeader?) throws {
        guard let derived = cipher.derived, try fileSize() > 0 else {
            throw DatabaseError(refusing: "\(path) is not an encrypted database", reason: .notEncrypted)
        }
        // In a write-ahead log the first page would be in one format and the file in another.
        let wasWAL = try isWAL
        if wasWAL { try requireJournalMode("delete") }
        try saveSalt(derived.salt, for: header)
        try writeFirstPage(headerSize: header?.size ?? 0)
        try withPlainConnection(derived: derived, header: header?.size ?? 0) { fresh in
            try fresh.readSchema()
            guard try PageAuthentication(fresh).badPages().isEmpty else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "after the change of header, \(path) is damaged")
            }
        }
        // Only a salt that stands somewhere else may go.
        if header?.salt != .sidecar { try SaltFile(salt: derived.salt, header: 0).remove(.permanent, of: filePath) }
        if wasWAL { try requireJournalMode("wal") }
    }

    private func saveSalt(_ salt: Salt, for header: PlaintextHeader?) throws {
        switch header?.salt {
        case nil: break
        case .sidecar?: try SaltFile(salt: salt, header: header!.size).write(.permanent, of: filePath)
        case .provided(let bytes)?:
            guard bytes == salt.bytes else {
                throw DatabaseError(refusing: "the salt of \(path) is another one", advice: "change the key to change the salt", reason: .wrongSalt)
            }
        }
    }

    private func writeFirstPage(headerSize: Int) throws {
        try inTransaction(.exclusive) {
            let version = try Int.fetchOne(self, sql: "PRAGMA user_version") ?? 0
            try runCipherPragma("cipher_plaintext_header_size = \(headerSize)")
            cipher.header = headerSize
            try check(strongroom_execute(openConnection, "PRAGMA user_version = \(version)"))
            return .commit
        }
    }

    private func requireJournalMode(_ mode: String) throws {
        guard try answer(to: "PRAGMA main.journal_mode = \(mode)") == mode else {
            throw DatabaseError(.SQLITE_BUSY, refusing: "another connection has \(path) open", advice: "close it first")
        }
    }
}

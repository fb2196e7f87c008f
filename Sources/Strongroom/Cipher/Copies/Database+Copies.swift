// Copies between connections, and their common parts.

extension Database {
    /// The encryption that opens a copy in the same way as this connection opened its database. Nil for clear text.
    var ownEncryption: Encryption? {
        guard let key = cipher.key else { return nil }
        var encryption = Encryption(
            key: key, settings: cipher.format.settings, plaintextHeader: cipher.requested.header)
        guard let derived = cipher.derived else { return encryption }
        let salt = cipher.isSaltProvided ? PlaintextHeader.SaltPlace.provided(derived.salt.bytes) : .sidecar
        encryption.plaintextHeader = cipher.header > 0 ? PlaintextHeader(size: cipher.header, salt: salt) : nil
        return encryption
    }

    // MARK: - Vacuuming

    /// Rebuilds the file without unused pages.
    func vacuum() throws {
        try withoutObservers { try writeUnwrittenPages() }
        try execute(sql: "VACUUM")
    }

    /// Writes a copy without unused pages, which is opened like the original.
    func vacuum(into filePath: String) throws {
        let progress = try CopyProgress(of: self, nil)
        try DatabaseFile.make(filePath, as: ownEncryption, from: self, progress) { partial, keys in
            // SQLCipher's VACUUM INTO passes the key and the salt on, but not the format.
            if !cipher.isKeyed || cipher.derived?.settings.hasStandardPages == true && cipher.header == 0 {
                try execute(sql: "VACUUM INTO ?", arguments: [partial])
                return []
            }
            return try DatabaseFile.withDatabase(partial, ownEncryption, keys) {
                try ContentCopy(from: self, to: $0, progress: progress).run()
            }
        }
    }

    // MARK: - Backups

    /// Returns true if pages can be copied unchanged. SQLite's backup copies pages of another size or reserve into a
    /// file that no key opens.
    func hasPages(like other: Database) -> Bool {
        guard cipher.isKeyed, other.cipher.isKeyed else { return true }
        let (own, others) = (cipher.format.settings, other.cipher.format.settings)
        return own.pageSize == others.pageSize && own.pageReserve == others.pageReserve
    }

    /// Writes the rows into a database with the page format of `destination`, which no other process can read and whose
    /// file has no name, and calls `copy` with it.
    func repaged(
        for destination: Database, _ progress: ((DatabaseBackupProgress) throws -> Void)?,
        _ copy: (Database) throws -> Void
    ) throws {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try .random(), settings: destination.cipher.format.settings)
        configuration.foreignKeysEnabled = false
        let pages = try pageCount
        let begun = DatabaseBackupProgress(remainingPageCount: pages, totalPageCount: pages, isCompleted: false)
        let watch = try CopyProgress(
            of: self, pageCount: pages, progress.map { progress in { _ in try progress(begun) } })
        let between = try Database(path: "", description: description + ".backup", configuration: configuration)
        try between.withSoleAccess { between in
            try between.setUp()
            _ = try ContentCopy(from: self, to: between, progress: watch).run()
            try copy(between)
        }
    }

    /// Restricts the mode of an empty destination to that of the source. SQLite has created its file with the default
    /// mode.
    func limitMode(to source: Database) throws {
        guard isFileStored, source.isFileStored, try pageCount <= 1 else { return }
        for file in [filePath] + CompanionFile.ofSQLite.map({ $0.path(of: filePath) }) {
            let error = StagedCopy.limitMode(file, of: source.filePath)
            guard error == 0 else { throw CopyStaging.failure("change the mode of \(file)", error) }
        }
    }

    /// Opens the database as its user will: from its files alone, with a new connection. The salt is read from them. If
    /// it is that of this connection, its key, which the passphrase and the salt determine, is not derived again.
    func requireOpensFromFiles() throws {
        guard isFileStored, let encryption = ownEncryption else { return }
        // In exclusive locking mode, no other connection can open it.
        guard try answer(to: "PRAGMA main.locking_mode") == "normal" else { return }
        do {
            try requireOpening(encryption, cipher.keyring)
        } catch let error as DatabaseError where [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode) {
            throw DatabaseError(.SQLITE_CORRUPT, .damaged, "the copy was written, but can't be opened: \(error)")
        }
    }
}

extension CipherSettings {
    /// The number of bytes at the end of each page that SQLite reserves for SQLCipher.
    var pageReserve: Int { RawPageFormat.reserve(digest: hmacAlgorithm?.rawValue ?? 0) }
}

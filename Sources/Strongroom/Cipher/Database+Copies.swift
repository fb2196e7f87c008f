import CStrongroom

// Copies between connections, and what they have to share.

extension Database {
    /// The encryption that opens a copy as this connection opened its database; nil for clear text.
    var ownEncryption: Encryption? {
        guard let key = cipher.key else { return nil }
        var encryption = Encryption(key: key, settings: cipher.format.settings, plaintextHeader: cipher.requestedHeader)
        guard let derived = cipher.derived else { return encryption }
        let salt = cipher.isSaltProvided ? PlaintextHeader.SaltPlace.provided(derived.salt.bytes) : .sidecar
        encryption.plaintextHeader = cipher.header > 0 ? PlaintextHeader(size: cipher.header, salt: salt) : nil
        return encryption
    }

    // MARK: - Vacuuming

    /// Writes a copy without unused pages, which opens as the original does.
    func vacuum(into filePath: String) throws {
        let progress = try CopyProgress(of: self, nil)
        try DatabaseFile.make(filePath, as: ownEncryption, from: self, progress) { partial in
            // SQLCipher's VACUUM INTO hands on the key and the salt, and nothing that says how they are used.
            if !cipher.isKeyed || cipher.derived?.settings.hasStandardPages == true && cipher.header == 0 {
                try execute(sql: "VACUUM INTO ?", arguments: [partial])
                return [:]
            }
            return try DatabaseFile.withDatabase(partial, ownEncryption) {
                try DatabaseCopy(from: self, to: $0, progress: progress).run()
            }
        }
    }

    /// Refuses the statement `VACUUM INTO` where nothing would open the copy, or everybody could.
    ///
    /// The copy gets the key of the main database, whichever database it is of, and SQLCipher's default format; or
    /// parts of that.
    func requireReadableCopy(of schemaName: String) throws {
        if !cipher.isKeyed, cipher.keepsTemporaryDataInMemory, schemaName != "main" {
            throw DatabaseError(
                refusing: "VACUUM INTO may write an attached database in clear text, as the main one is",
                advice: "open it by itself and use vacuum(into:)")
        }
        // In memory, the key is one that nobody knows.
        guard cipher.isKeyed, cipher.derived?.settings.hasStandardPages != true else { return }
        throw DatabaseError(refusing: "VACUUM INTO would write a copy that no key opens", advice: "use vacuum(into:)")
    }

    // MARK: - Backups

    /// Returns true if pages can be copied as they are: SQLite's backup takes pages of another size, or with other
    /// room for the HMAC, into a file that no key opens.
    func hasPages(like other: Database) -> Bool {
        guard cipher.isKeyed, other.cipher.isKeyed else { return true }
        let (own, others) = (cipher.format.settings, other.cipher.format.settings)
        return own.pageSize == others.pageSize && own.pageReserve == others.pageReserve
    }

    /// Writes the rows into a database with the pages of `destination`, which nobody else can read and whose file has
    /// no name, and hands it to `copy`.
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
            _ = try DatabaseCopy(from: self, to: between, progress: watch).run()
            try copy(between)
        }
    }

    /// Takes away from an empty destination what the source doesn't allow to everybody: SQLite made its file with the
    /// mode of any file.
    func limitMode(to source: Database) throws {
        guard isFileStored, source.isFileStored, try pageCount <= 1 else { return }
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let error = strongroom_copy_limit_mode(filePath + suffix, source.filePath)
            guard error == 0 else { throw CopyStaging.failure("change the mode of \(filePath)\(suffix)", error) }
        }
    }

    /// Opens the database as its user will, from its files alone: with a fresh connection and a key that is derived
    /// anew.
    func requireOpensFromFiles() throws {
        guard isFileStored, let encryption = ownEncryption else { return }
        // Nobody else can open it, then.
        guard try answer(to: "PRAGMA main.locking_mode") == "normal" else { return }
        do {
            try requireOpening(encryption)
        } catch let error as DatabaseError where [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode) {
            throw DatabaseError(.SQLITE_CORRUPT, .damaged, "the copy was written, and doesn't open: \(error)")
        }
    }
}

extension CipherSettings {
    /// Bytes at the end of each page that SQLite leaves to SQLCipher.
    var pageReserve: Int { Int(strongroom_page_reserve(CInt(hmacAlgorithm?.rawValue ?? 0))) }
}

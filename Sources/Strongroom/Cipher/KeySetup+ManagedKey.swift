import CStrongroom

// Keys of key stores: loaded at opening, and made for a new database.

extension KeySetup {
    /// Sets the key of the configuration.
    func useConfiguredKey(_ encryption: Encryption) throws {
        guard let store = encryption.key.source.store, database.isFileStored else {
            cipher.key = cipher.keyring.current(encryption.key)
            return try establishKey(encryption.settings, requestedHeader: encryption.plaintextHeader)
        }
        let managed = ManagedKey(store: store, path: database.filePath)
        var loaded: KeyStoreEntry?
        cipher.key = try cipher.keyring.current(encryption.key) {
            let found = try managed.loaded() ?? managed.make(requireAbsence)
            loaded = found.entry
            return found.key
        }
        try establishKey(encryption.settings, requestedHeader: encryption.plaintextHeader)
        // A connection that finds the key loaded relies on the one that has loaded it.
        if let loaded { try settle(managed, loaded, encryption) }
    }

    /// Uses the next key if the database has it: a rotation was killed before it became the current one.
    private func settle(_ managed: ManagedKey, _ loaded: KeyStoreEntry, _ encryption: Encryption) throws {
        var entry = loaded
        if try database.keyProof.wasKeyChanged() {
            // A rotation that has ended meanwhile has made it the current one.
            guard let fitting = try [KeyStoreEntry.next, .current].first(where: { entry in
                try managed.load(entry).map { try opens(with: $0, encryption) } ?? false
            }) else { return }
            entry = fitting
        }
        guard entry == .next, !configuration.readonly, let key = cipher.key else { return }
        // The database opens with it in any case. The process that changes the key, or the next opening, does the rest.
        try? managed.locked(milliseconds: 0) {
            if try managed.load(.next)?.hasSameBytes(as: key) == true { try managed.takeOver(key) }
        }
    }

    /// Sets another key. Sets the former one again if it doesn't fit.
    private func opens(with key: DatabaseKey, _ encryption: Encryption) throws -> Bool {
        let former = cipher.key!
        guard try !key.hasSameBytes(as: former) else { return false }
        cipher.key = key
        try establishKey(encryption.settings, requestedHeader: encryption.plaintextHeader)
        guard try database.keyProof.wasKeyChanged() else {
            cipher.keyring.replace(former, by: key)
            return true
        }
        cipher.key = former
        try establishKey(encryption.settings, requestedHeader: encryption.plaintextHeader)
        return false
    }

    /// Throws unless there is no database, and no file that belongs to one.
    ///
    /// SQLite creates an empty file whenever it opens one. It has no content under any key, unless there is a log or a
    /// journal whose pages are to come.
    private func requireAbsence() throws {
        let header = try database.fileHeader()
        if header.isClear { throw DatabaseError.clearText(database.path) }
        if header.fileSize > 0 {
            throw DatabaseError.missingKey(
                database.filePath, because: "the database exists",
                advice: "put its key back into the store, or open it with the key itself")
        }
        for suffix in ["-wal", "-journal"] where strongroom_size_of_file(database.filePath + suffix) > 0 {
            throw DatabaseError.missingKey(
                database.filePath, because: "\(database.filePath)\(suffix) is not empty",
                advice: "restore the database that it belongs to, or remove it")
        }
        try DatabaseFile.requireNoKeyFile(of: database.filePath)
        guard configuration.readonly else { return }
        throw DatabaseError.missingKey(
            database.filePath, because: "the database is opened for reading only", advice: "create it first")
    }
}

// MARK: - Copies

extension DatabaseFile {
    /// Returns the encryption of a copy, with the key that its store has for it.
    static func settled(
        _ encryption: Encryption?, forCopyOf source: Database, at destination: String) throws -> Encryption?
    {
        guard var encryption else { return nil }
        encryption.key = source.cipher.keyring.current(encryption.key)
        guard let store = encryption.key.source.store else { return encryption }
        let managed = ManagedKey(store: store, path: realPath(destination))
        encryption.key = try (managed.loaded() ?? managed.make { try requireNoKeyFile(of: managed.path) }).key
        return encryption
    }

    /// Refuses a database with a key file, which contains its key.
    static func requireNoKeyFile(of path: String) throws {
        let files = KeyFiles(database: path)
        guard let role = [KeyFiles.Role.current, .rotation].first(where: files.exists) else { return }
        throw DatabaseError.missingKey(
            path, because: "\(files.path(role)) belongs to a database that has a key",
            advice: "restore that database and open it with a secret of its key file, or move the file away")
    }
}

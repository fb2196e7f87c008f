import CStrongroom

// Keys that a store keeps: loaded at opening, made for a new database, changed with the database.

extension Database {
    // MARK: - Opening

    /// Sets the key of the configuration.
    func useConfiguredKey(_ encryption: Encryption) throws {
        guard let store = encryption.key.source.store, isFileStored else {
            cipher.key = cipher.keyring.current(encryption.key)
            return try establishKey(encryption.settings, requestedHeader: encryption.plaintextHeader)
        }
        let managed = ManagedKey(store: store, path: filePath)
        var loaded: KeyStoreEntry?
        cipher.key = try cipher.keyring.current(encryption.key) {
            let found = try managed.loaded() ?? managed.make(requireAbsence)
            loaded = found.entry
            return found.key
        }
        try establishKey(encryption.settings, requestedHeader: encryption.plaintextHeader)
        // Who finds the key loaded relies on the connection that has loaded it.
        if let loaded { try settle(managed, loaded, encryption) }
    }

    /// Takes the next key where the database has it already: a rotation was killed before it became the current one.
    private func settle(_ managed: ManagedKey, _ loaded: KeyStoreEntry, _ encryption: Encryption) throws {
        var entry = loaded
        if try wasKeyChanged() {
            // A rotation that has ended meanwhile has made it the current one.
            guard let fitting = try [KeyStoreEntry.next, .current].first(where: { entry in
                try managed.load(entry).map { try opens(with: $0, encryption) } ?? false
            }) else { return }
            entry = fitting
        }
        guard entry == .next, !configuration.readonly, let key = cipher.key else { return }
        // The database opens with it in any case. Whoever is changing the key does the rest, or the next opening.
        try? managed.locked(milliseconds: 0) {
            if try managed.load(.next)?.hasSameBytes(as: key) == true { try managed.takeOver(key) }
        }
    }

    /// Sets another key, and the former one again unless it fits.
    private func opens(with key: DatabaseKey, _ encryption: Encryption) throws -> Bool {
        let former = cipher.key!
        guard try !key.hasSameBytes(as: former) else { return false }
        cipher.key = key
        try establishKey(encryption.settings, requestedHeader: encryption.plaintextHeader)
        guard try wasKeyChanged() else {
            cipher.keyring.replace(former, by: key)
            return true
        }
        cipher.key = former
        try establishKey(encryption.settings, requestedHeader: encryption.plaintextHeader)
        return false
    }

    /// Throws unless a new key can harm nothing: there is no database, and nothing that belongs to one.
    ///
    /// SQLite makes an empty file whenever it opens one. Nothing was ever written to it under any key, unless there is
    /// a log or a journal whose pages are to come.
    private func requireAbsence() throws {
        let header = try fileHeader()
        if header.isClear { throw DatabaseError.clearText(path) }
        if header.fileSize > 0 {
            throw DatabaseError.missingKey(
                filePath, because: "the database exists",
                advice: "put its key back into the store, or open it with the key itself")
        }
        for suffix in ["-wal", "-journal"] where strongroom_size_of_file(filePath + suffix) > 0 {
            throw DatabaseError.missingKey(
                filePath, because: "\(filePath)\(suffix) is not empty",
                advice: "restore the database that it belongs to, or remove it")
        }
        try DatabaseFile.requireNoKeyFile(of: filePath)
        guard configuration.readonly else { return }
        throw DatabaseError.missingKey(
            filePath, because: "the database is opened for reading only", advice: "create it first")
    }

    // MARK: - Changing the key

    /// Runs `rotate` with a key that the store has, so that it has the key of the database at every instant.
    ///
    /// A current key of the store that is not the database's is taken as it is: it may open something else.
    func renewKey(in store: any KeyStore, _ rotate: (DatabaseKey) throws -> RotationOutcome) throws -> RotationOutcome {
        let managed = ManagedKey(store: store, path: filePath), own = cipher.key!
        return try managed.locked(milliseconds: 0) {
            if let next = try managed.load(.next) { try settleEarlierChange(managed, next) }
            let current = try managed.load(.current)
            if let current, try !current.hasSameBytes(as: own) { return try rotate(current) }
            let key = try DatabaseKey.random()
            try managed.keep(key, as: .next)
            let outcome: RotationOutcome
            do {
                outcome = try rotate(key)
            } catch {
                // What the store can't do now, it does at the next opening, or before the next change.
                let isChanged = (error as? DatabaseError)?.reason == .keyChanged
                try? isChanged ? managed.takeOver(key) : managed.remove(.next)
                throw error
            }
            try finishChange(managed, key)
            return outcome
        }
    }

    /// A change that was killed has left a next key: the one of the database, or one that never came to be.
    private func settleEarlierChange(_ managed: ManagedKey, _ next: DatabaseKey) throws {
        if try next.hasSameBytes(as: cipher.key!) { return try managed.takeOver(next) }
        // Another process may have changed the key since this connection was opened.
        try requireOpening(bareEncryption)
        try managed.remove(.next)
    }

    private func finishChange(_ managed: ManagedKey, _ key: DatabaseKey) throws {
        do {
            try managed.takeOver(key)
        } catch let error as DatabaseError {
            throw DatabaseError(
                error.extendedResultCode, .keyChanged, "the key was changed, and the store has it as its next key",
                advice: "the next opening makes it the current one: \(error.message ?? "")")
        }
    }
}

// MARK: - Copies

extension DatabaseFile {
    /// The encryption of a copy, with the key that a store has for it.
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

    /// A database with a key file gets its key from there.
    static func requireNoKeyFile(of path: String) throws {
        guard strongroom_file_exists(path + "-keys") else { return }
        throw DatabaseError.missingKey(
            path, because: "\(path)-keys belongs to a database that has a key",
            advice: "restore that database and open it with a secret of its key file, or move the file away")
    }
}

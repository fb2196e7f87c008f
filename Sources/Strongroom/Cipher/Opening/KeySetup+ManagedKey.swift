import Logging

// Keys of key stores: loaded at opening, and made for a new database.

extension Database {
    /// The key of the store that opened the database, with ``DatabaseKey/managed(by:formerKeys:)``. Nil for any other
    /// key.
    ///
    /// A former key opens copies from before a rotation. `rotateKey(to: .managed(by: store))` gives such a copy the
    /// current key.
    public var storedKey: StoredKey? { cipher.keyring.storedKey }
}

extension KeySetup {
    /// Sets the key of the configuration.
    func useConfiguredKey(_ encryption: Encryption) throws {
        guard let store = encryption.key.source.managed?.store, database.isFileStored else {
            cipher.key = cipher.keyring.current(encryption.key)
            return try establishKey(encryption.settings, requestedHeader: encryption.plaintextHeader)
        }
        let managed = ManagedKey(store: store, path: database.filePath)
        var loaded: StoredKey?
        cipher.key = try cipher.keyring.current(encryption.key) {
            let found = try load(managed)
            loaded = found.entry
            return found.key
        }
        try establishKey(encryption.settings, requestedHeader: encryption.plaintextHeader)
        // A connection that finds the key loaded relies on the one that has loaded it.
        if let loaded { try settle(managed, loaded, encryption) }
    }

    /// Returns the key of the store, or a new one if there is no database. A former key is for a database that exists.
    private func load(_ managed: ManagedKey) throws -> (key: DatabaseKey, entry: StoredKey) {
        var found = try managed.loaded()
        if found == nil, try !database.hasNoPage(), let former = try managed.formerKeys()?.first,
            let key = try managed.load(former)
        {
            return (key, .former(former))
        }
        if found == nil {
            let made = try managed.make(requireAbsence)
            if made.isNew { cipher.creation.storedKey = (managed, made.key) }
            found = (made.key, made.entry)
        }
        if try !configuration.readonly && database.hasNoPage() { try managed.claim() }
        return (found!.key, found!.entry == .current ? .current : .next)
    }

    /// Uses the next key if the database has it: a rotation was killed before it became the current one. Uses a former
    /// key for a copy that has it.
    private func settle(_ managed: ManagedKey, _ loaded: StoredKey, _ encryption: Encryption) throws {
        var entry = loaded
        if try database.keyProof.wasKeyChanged() {
            guard let fitting = try fittingKey(managed, encryption) else {
                // Without a current or a next key, none is wrong.
                if case .former = loaded { try requireAbsence() }
                return
            }
            entry = fitting
        }
        cipher.keyring.storedKey = entry
        if case .former(let former) = entry { tell(former) }
        guard entry == .next, !configuration.readonly, let key = cipher.key else { return }
        // The database opens with it in any case. The process that changes the key, or the next opening, does the rest.
        try? managed.locked(milliseconds: 0) {
            if try managed.load(.next)?.hasSameBytes(as: key) == true { try managed.settle(key) }
            cipher.keyring.storedKey = .current
        }
    }

    /// Sets the key of the store that opens the database, and returns it. A rotation that has ended meanwhile has made
    /// the next key the current one.
    private func fittingKey(_ managed: ManagedKey, _ encryption: Encryption) throws -> StoredKey? {
        if let key = try managed.load(.next), try opens(with: key, encryption) { return .next }
        if let key = try managed.load(.current), try opens(with: key, encryption) { return .current }
        for former in try managed.formerKeys() ?? [] {
            if let key = try managed.load(former), try opens(with: key, encryption) { return .former(former) }
        }
        return nil
    }

    private func tell(_ former: FormerKey) {
        Logger(label: "Strongroom").warning(
            """
            \(database.path) opens with a former key of its store, \(former.identifier) of \(former.date): it is a \
            copy from before a rotation, or was not rotated
            """)
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
        for file in [CompanionFile.log, .journal].map({ $0.path(of: database.filePath) })
        where NamedFile.size(file) > 0 {
            throw DatabaseError.missingKey(
                database.filePath, because: "\(file) is not empty",
                advice: "restore the database that it belongs to, or remove it")
        }
        try SlotFiles(database: database.filePath).requireNone()
        guard configuration.readonly else { return }
        throw DatabaseError.missingKey(
            database.filePath, because: "the database is opened for reading only", advice: "create it first")
    }
}

import Foundation

/// The key of a database in a key store: the rules by which it is loaded, made and changed.
struct ManagedKey {
    let store: any KeyStore
    /// The real path of the database.
    let path: String

    /// The file beside the database that admits one process at a time to make or change its key. It is never removed,
    /// because removing it would give two processes two locks.
    static func lockFile(of path: String) -> String { CompanionFile.keyLock.path(of: path) }

    // MARK: - Loading

    /// Returns the key and its entry. Nil if the store has none.
    ///
    /// At the end of a rotation the store has no current key for a moment, and afterwards no next key.
    func loaded() throws -> (key: DatabaseKey, entry: KeyStoreEntry)? {
        for entry in [KeyStoreEntry.current, .next, .current] {
            if let key = try load(entry) { return (key, entry) }
        }
        return nil
    }

    /// Returns a key. Nil if it is absent.
    func load(_ entry: KeyStoreEntry) throws -> DatabaseKey? {
        do {
            let key = try store.load(entry)
            guard key.source.managed == nil else { throw KeyStoreError.failed("it refers to another store") }
            return key
        } catch KeyStoreError.absent {
            return nil
        } catch {
            throw failure(error, "load")
        }
    }

    /// Returns true if the store has a raw key, as its current, its next or a former one.
    func has(_ key: DatabaseKey) throws -> Bool {
        for entry in KeyStoreEntry.allCases where try load(entry)?.hasSameBytes(as: key) == true { return true }
        guard let identifier = try key.identifier else { return false }
        return try formerKeys()?.contains { $0.identifier == identifier } == true
    }

    // MARK: - Making

    /// Returns the key of the store, or a new one if there is no database.
    ///
    /// - parameter requireAbsence: throws if there is a database, or may be one.
    func make(
        _ requireAbsence: () throws -> Void
    ) throws -> (key: DatabaseKey, entry: KeyStoreEntry, isNew: Bool) {
        do {
            try requireAbsence()
        } catch {
            // Another process may have made the key, and the database, since the store was asked.
            if let loaded = try loaded() { return (loaded.key, loaded.entry, false) }
            throw error
        }
        return try locked(milliseconds: 60_000) {
            // The former holder of the lock may have made one.
            if let loaded = try loaded() { return (loaded.key, loaded.entry, false) }
            try requireAbsence()
            let key = try DatabaseKey.random()
            try keep(key, as: .current)
            return (key, .current, true)
        }
    }

    /// Records that the database has the stored key. A store that can't record it is none that refuses.
    ///
    /// - throws: `SQLITE_CANTOPEN` with the reason `foreignKeyStore` if the key is that of another database, which
    ///   exists.
    func claim() throws {
        if try refuseOtherDatabase()?.hasBytes(of: path) != true { try? store.recordDatabasePath(path) }
    }

    /// Throws if the key is that of another database, which exists. Returns the path that the store has recorded.
    @discardableResult
    func refuseOtherDatabase() throws -> String? {
        let recorded = try recordedPath()
        guard let other = existing(recorded) else { return recorded }
        throw DatabaseError(
            .SQLITE_CANTOPEN,
            refusing: "the key store has the key of \(other): a change of its key would be one of \(path), too",
            advice: """
                give \(path) a store of its own, with another path, account or command; a copy that shares the key \
                is made with vacuum(into:)
                """, reason: .foreignKeyStore)
    }

    /// Returns the path of the database that the store has recorded. Nil if it has recorded none.
    func recordedPath() throws -> String? {
        do {
            return try store.databasePath()
        } catch KeyStoreError.absent {
            return nil
        } catch {
            throw failure(error, "find the database that has")
        }
    }

    /// Returns the recorded path if it is that of another database, which exists.
    private func existing(_ recorded: String?) -> String? {
        recorded.flatMap { !$0.hasBytes(of: path) && NamedFile.size($0) > 0 ? $0 : nil }
    }

    /// Stores a key, and verifies that the store returns it.
    func keep(_ key: DatabaseKey, as entry: KeyStoreEntry) throws {
        do {
            try store.store(key, as: entry)
        } catch {
            throw failure(error, "store")
        }
        guard let kept = try load(entry), try kept.hasSameBytes(as: key) else {
            throw failure(KeyStoreError.failed("the store returns another key than it was given"), "store")
        }
    }

    // MARK: - Changing

    /// Makes the next key the current one. At every instant the store has it as one of the two.
    func takeOver(_ key: DatabaseKey) throws {
        if try load(.current)?.hasSameBytes(as: key) != true {
            try remove(.current)
            try keep(key, as: .current)
        }
        try remove(.next)
    }

    /// Makes the next key the current one after a rotation that was killed. The former current key may be that of
    /// another database, unless the store has recorded this one: it becomes a former key.
    func settle(_ key: DatabaseKey) throws {
        if let current = try load(.current), try !current.hasSameBytes(as: key),
            try recordedPath()?.hasBytes(of: path) != true
        {
            try setAside(current)
        }
        try takeOver(key)
    }

    /// Keeps a key as a former one, if the store can.
    ///
    /// - returns: false if the store can't keep former keys, or not this one.
    @discardableResult
    func setAside(_ key: DatabaseKey) throws -> Bool {
        guard let identifier = try key.identifier, let formers = try formerKeys() else { return false }
        if !formers.contains(where: { $0.identifier == identifier }) { _ = try keepFormer(key) }
        return true
    }

    /// Removes a key, if there is one.
    func remove(_ entry: KeyStoreEntry) throws {
        do {
            try store.remove(entry)
        } catch KeyStoreError.absent {
        } catch {
            throw failure(error, "remove")
        }
    }

    // MARK: - One at a time

    /// Runs `body` while no other process makes or changes the key. The lock of the database that the store has
    /// recorded is held too: its rotation, and that of a copy, change the same entries.
    func locked<T>(milliseconds: CInt, _ body: () throws -> T) throws -> T {
        try holding(path, milliseconds) {
            guard let other = try existing(recordedPath()) else { return try body() }
            return try holding(other, milliseconds, body)
        }
    }

    private func holding<T>(_ path: String, _ milliseconds: CInt, _ body: () throws -> T) throws -> T {
        let file = Self.lockFile(of: path), descriptor = NamedFile.hold(file, like: path, milliseconds: milliseconds)
        guard descriptor >= 0 else {
            guard descriptor != -EBUSY else {
                throw DatabaseError(
                    .SQLITE_BUSY, refusing: "another process makes or changes the key of \(path)",
                    advice: "try again later")
            }
            throw DatabaseError(
                .SQLITE_CANTOPEN, refusing: "can't lock \(file): \(SecretFile.Failure.words(-descriptor))",
                advice: "check its owner and mode, and those of its folder")
        }
        defer { close(descriptor) }
        return try body()
    }

    func failure(_ error: any Error, _ verb: String) -> DatabaseError {
        let error = error as? KeyStoreError ?? .failed("unknown error")
        return error.databaseError(doing: "\(verb) the key of \(path)")
    }
}

extension DatabaseKey {
    /// Compares two raw keys in constant time.
    func hasSameBytes(as other: DatabaseKey) throws -> Bool {
        guard source.form == other.source.form else { return false }
        return try source.withSecret { own in try other.source.withSecret { own.isEqual(to: $0) } }
    }
}

extension KeySource {
    /// The store of the key, and the former keys that it keeps. Nil for a key that is given directly or by a provider.
    var managed: (store: any KeyStore, formerKeys: FormerKeys)? {
        if case .store(let store, let formerKeys) = storage { (store, formerKeys) } else { nil }
    }
}

extension DatabaseError {
    /// Returns the error for a database that exists without a key in the store.
    static func missingKey(_ path: String, because found: String, advice: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_CANTOPEN, refusing: "the key store has no key for \(path), and none was made: \(found)",
            advice: advice, reason: .missingKey)
    }
}

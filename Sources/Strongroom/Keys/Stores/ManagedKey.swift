import CStrongroom
import Foundation

/// The key of a database in a key store: the rules by which it is loaded, made and changed.
struct ManagedKey {
    let store: any KeyStore
    /// The real path of the database.
    let path: String

    /// The file beside the database that admits one process at a time to make or change its key. It is never removed,
    /// because removing it would give two processes two locks.
    static func lockFile(of path: String) -> String { path + "-key-lock" }

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
            guard key.source.store == nil else { throw KeyStoreError.failed("it refers to another store") }
            return key
        } catch KeyStoreError.absent {
            return nil
        } catch {
            throw failure(error, "load")
        }
    }

    // MARK: - Making

    /// Returns the key of the store, or a new one if there is no database.
    ///
    /// - parameter requireAbsence: throws if there is a database, or may be one.
    func make(_ requireAbsence: () throws -> Void) throws -> (key: DatabaseKey, entry: KeyStoreEntry) {
        try requireAbsence()
        return try locked(milliseconds: 60_000) {
            // The former holder of the lock may have made one.
            if let loaded = try loaded() { return loaded }
            try requireAbsence()
            let key = try DatabaseKey.random()
            try keep(key, as: .current)
            return (key, .current)
        }
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

    /// Runs `body` while no other process makes or changes the key.
    func locked<T>(milliseconds: CInt, _ body: () throws -> T) throws -> T {
        let file = Self.lockFile(of: path), descriptor = strongroom_file_hold(file, path, milliseconds)
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

    private func failure(_ error: any Error, _ verb: String) -> DatabaseError {
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
    /// The store of the key. Nil for a key that is given directly or by a provider.
    var store: (any KeyStore)? {
        if case .store(let store) = storage { store } else { nil }
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

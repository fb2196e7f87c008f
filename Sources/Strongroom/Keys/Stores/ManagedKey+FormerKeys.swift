import Foundation

// Former keys of a store. A rotation stores the key that it will replace before the first page changes, so that at
// every instant the store has each key that opens a copy.

extension ManagedKey {
    /// Returns the former keys, latest first. Nil if the store can't keep any.
    func formerKeys() throws -> [FormerKey]? {
        do {
            return try store.formerKeys()?.sorted { $0.date > $1.date }
        } catch {
            throw failure(error, "list former keys beside")
        }
    }

    /// Returns a former key. Nil if it is absent.
    func load(_ former: FormerKey) throws -> DatabaseKey? {
        do {
            let key = try store.load(former)
            guard key.source.managed == nil else { throw KeyStoreError.failed("it refers to another store") }
            return key
        } catch KeyStoreError.absent {
            return nil
        } catch {
            throw failure(error, "load a former key for")
        }
    }

    /// Throws if the store can't keep a key that is to be replaced.
    func requireKeeping(_ policy: FormerKeys) throws {
        guard policy.isKeeping, try formerKeys() == nil else { return }
        throw DatabaseError(
            .SQLITE_CANTOPEN,
            refusing: "the key store can't keep the former key of \(path), and nothing else opens its backups",
            advice: """
                use a store that implements the calls for former keys, or say .managed(by:formerKeys: .discard); the \
                key was not changed
                """, reason: .unkeptFormerKey)
    }

    /// Stores a key as a former one, and verifies that the store lists and returns it. Removes the same key with an
    /// earlier date, which a rotation has left that was killed.
    ///
    /// - returns: the former key. Nil for a passphrase.
    func keepFormer(_ key: DatabaseKey) throws -> FormerKey? {
        guard let identifier = try key.identifier else { return nil }
        let former = FormerKey(identifier: identifier, date: Date())
        do {
            try store.store(key, as: former)
        } catch KeyStoreError.exists {
        } catch {
            throw failure(error, "store the former key of")
        }
        let listed = try formerKeys() ?? []
        guard listed.contains(former), let kept = try load(former), try kept.hasSameBytes(as: key) else {
            throw failure(
                KeyStoreError.failed("the store does not list the former key, or returns another one"), "store")
        }
        for earlier in listed where earlier.identifier == identifier && earlier != former { try forget(earlier) }
        return former
    }

    /// Removes the former keys whose time has passed.
    func forgetFormerKeys(_ policy: FormerKeys) throws {
        guard let period = policy.period, let listed = try formerKeys() else { return }
        let earliest = Date(timeIntervalSinceNow: -period)
        for former in listed where former.date < earliest { try forget(former) }
    }

    /// Removes the former keys that are the same key: a killed rotation has left them.
    func forgetFormerKeys(equalTo key: DatabaseKey) throws {
        let identifier = try key.identifier
        for former in try formerKeys() ?? [] where former.identifier == identifier { try forget(former) }
    }

    /// Removes a former key, if there is one.
    func forget(_ former: FormerKey) throws {
        do {
            try store.remove(former)
        } catch KeyStoreError.absent {
        } catch {
            throw failure(error, "remove a former key of")
        }
    }
}

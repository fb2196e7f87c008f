import Strongroom

/// The file with the key of the notes, and a word on each step of a change, after which the program may be gone.
struct WatchedKeyStore: KeyStore {
    /// The latest event.
    enum Step: String {
        /// The new key is stored, beside the one of the database.
        case stored
        /// The key of the database is stored as a former one, too.
        case kept
        /// Pages are being written under the new key.
        case rotating
        /// The database has the new key.
        case rotated
        /// The former key is gone from the store.
        case removed
        /// The new key has taken its place.
        case confirmed
    }

    let file: FileKeyStore
    let reached: @Sendable (Step) -> Void

    func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey { try file.load(entry) }

    func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
        try file.store(key, as: entry)
        reached(entry == .next ? .stored : .confirmed)
    }

    func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) {
        if entry == .current { reached(.rotated) }
        try file.remove(entry)
        if entry == .current { reached(.removed) }
    }

    func formerKeys() throws(KeyStoreError) -> [FormerKey]? { try file.formerKeys() }

    func load(_ key: FormerKey) throws(KeyStoreError) -> DatabaseKey { try file.load(key) }

    func store(_ key: DatabaseKey, as former: FormerKey) throws(KeyStoreError) {
        try file.store(key, as: former)
        reached(.kept)
    }

    func remove(_ key: FormerKey) throws(KeyStoreError) { try file.remove(key) }

    func databasePath() throws(KeyStoreError) -> String? { try file.databasePath() }

    func recordDatabasePath(_ path: String) throws(KeyStoreError) { try file.recordDatabasePath(path) }
}

/// A type that stores the key of a database for each start of a program: a file, a keychain, a key management service.
///
/// ``DatabaseKey/managed(by:formerKeys:)`` opens a database with the key of a store, and makes a key if there is none.
/// Each call distinguishes *absent*, *locked* and *failed*: the library makes a key only if the key is absent, and a
/// program can try a locked store again.
///
/// Three calls are required. A store that also implements the four calls for former keys keeps the keys of copies that
/// were made before a rotation.
///
/// A store of your own follows these rules:
///
/// - A key that ``store(_:as:)-(_,KeyStoreEntry)`` has stored is there after a power failure.
/// - ``store(_:as:)-(_,KeyStoreEntry)`` does not replace a key.
/// - A store that can't be reached or read has failed. It is not empty.
///
/// The thread that opens the database or changes its key makes the calls. They may block it.
public protocol KeyStore: Sendable {
    /// Returns a key.
    ///
    /// - throws: ``KeyStoreError/absent`` only if the store was reached, and has no such key.
    func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey

    /// Stores a raw key. ``DatabaseKey/withUnsafeBytes(_:)`` provides its bytes.
    ///
    /// - throws: ``KeyStoreError/exists`` if the store already has such a key, which it keeps.
    func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError)

    /// Removes a key.
    ///
    /// - throws: ``KeyStoreError/absent`` if there is none.
    func remove(_ entry: KeyStoreEntry) throws(KeyStoreError)

    // MARK: Former keys

    /// Returns the former keys. Nil, the default, if the store can't keep any: a rotation then needs
    /// ``FormerKeys/discard``.
    func formerKeys() throws(KeyStoreError) -> [FormerKey]?

    /// Returns a former key. Default: throws ``KeyStoreError/absent``.
    ///
    /// - throws: ``KeyStoreError/absent`` only if the store was reached, and has no such key.
    func load(_ key: FormerKey) throws(KeyStoreError) -> DatabaseKey

    /// Stores a former key under its ``FormerKey/name``. Default: throws ``KeyStoreError/failed(_:)``.
    ///
    /// - throws: ``KeyStoreError/exists`` if the store already has it.
    func store(_ key: DatabaseKey, as former: FormerKey) throws(KeyStoreError)

    /// Removes a former key: nothing opens the copies from before its rotation. Default: throws
    /// ``KeyStoreError/absent``.
    ///
    /// - throws: ``KeyStoreError/absent`` if there is none.
    func remove(_ key: FormerKey) throws(KeyStoreError)

    // MARK: The database

    /// Returns the path of the database that was created with the current key. Nil, the default, if the store has not
    /// recorded it. While that database exists, the key creates and encrypts no other one, and no rotation of a copy
    /// discards it. After an error, no key is made or changed.
    func databasePath() throws(KeyStoreError) -> String?

    /// Records the path of the database that is created with the current key. Default: does nothing. A failure does not
    /// prevent the creation.
    func recordDatabasePath(_ path: String) throws(KeyStoreError)
}

extension KeyStore {
    /// Returns nil: the store can't keep former keys.
    public func formerKeys() throws(KeyStoreError) -> [FormerKey]? { nil }

    /// Throws ``KeyStoreError/absent``.
    public func load(_ key: FormerKey) throws(KeyStoreError) -> DatabaseKey { throw .absent }

    /// Throws ``KeyStoreError/failed(_:)``.
    public func store(_ key: DatabaseKey, as former: FormerKey) throws(KeyStoreError) {
        throw .failed("the store can't keep former keys")
    }

    /// Throws ``KeyStoreError/absent``.
    public func remove(_ key: FormerKey) throws(KeyStoreError) { throw .absent }

    /// Returns nil: the store does not record the database.
    public func databasePath() throws(KeyStoreError) -> String? { nil }

    /// Does nothing.
    public func recordDatabasePath(_ path: String) throws(KeyStoreError) {}
}

/// The two keys that a store can have.
public enum KeyStoreEntry: String, Hashable, Sendable, CaseIterable {
    /// The key of the database.
    case current
    /// The new key of a rotation. It becomes the current key when the database has it.
    case next
}

/// The reason why a call of a store has failed.
///
/// The texts are part of error descriptions. They never contain a secret.
public enum KeyStoreError: Error, Hashable, Sendable {
    /// The store was reached, and has no such key.
    case absent
    /// The store has such a key already.
    case exists
    /// The store is locked. The same call may succeed when it is unlocked.
    case locked(String)
    /// The store can't be reached, refuses access, or returns something other than a key.
    case failed(String)
}

extension DatabaseKey {
    /// Returns the key of a store, which is loaded when a database is opened, once for a queue or a pool.
    ///
    /// If neither the database nor the key exists, opening makes a random key, stores it, and compares the key that the
    /// store returns, before it writes the first page. Processes that open the database at the same time make one key.
    /// If a database exists and its key doesn't, or the store is locked or fails, opening throws and makes no key.
    ///
    /// `rotateKey(to: .managed(by: store))` changes the key. The store has both keys until the database has the new
    /// one, and then keeps the former one for copies that were made before: backups, and what `vacuum(into:)` writes.
    /// If neither the current nor the next key fits a database, opening tries the former ones.
    /// ``Database/storedKey`` is the key that opened it.
    ///
    /// Opening throws `SQLITE_CANTOPEN` with the reason ``DatabaseError/Reason/missingKey``,
    /// ``DatabaseError/Reason/keyStoreLocked``, ``DatabaseError/Reason/keyStoreFailed`` or
    /// ``DatabaseError/Reason/foreignKeyStore``, and `SQLITE_BUSY` if another process takes longer than a minute to
    /// make a key. A rotation throws ``DatabaseError/Reason/unkeptFormerKey`` if the store can't keep the former key.
    ///
    /// - parameters:
    ///   - store: the store of the key.
    ///   - formerKeys: the former keys that a rotation to this key keeps. Default: all.
    public static func managed(by store: some KeyStore, formerKeys: FormerKeys = .keep) -> DatabaseKey {
        DatabaseKey(source: KeySource(store: store, formerKeys: formerKeys))
    }
}

extension KeyStoreError {
    var explanation: String {
        switch self {
        case .absent: "it has no such key"
        case .exists: "it has another key already"
        case .locked(let why), .failed(let why): why
        }
    }

    func databaseError(doing what: String, _ code: ResultCode = .SQLITE_CANTOPEN) -> DatabaseError {
        if case .locked = self {
            return DatabaseError(
                code, refusing: "can't \(what), the key store is locked: \(explanation)",
                advice: "unlock it and try again; no key was made", reason: .keyStoreLocked)
        }
        return DatabaseError(
            code, refusing: "can't \(what): \(explanation)", advice: "check the key store; no key was replaced",
            reason: .keyStoreFailed)
    }
}

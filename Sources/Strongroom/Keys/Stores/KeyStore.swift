/// A type that stores the key of a database for each start of a program: a file, a keychain, a key management service.
///
/// ``DatabaseKey/managed(by:)`` opens a database with the key of a store, and makes a key if there is none. Each of the
/// three calls distinguishes *absent*, *locked* and *failed*: a key is made only if it is absent, and a locked store
/// can be tried again.
///
/// A store of your own follows these rules:
///
/// - A key that ``store(_:as:)`` has stored is there after a power failure.
/// - ``store(_:as:)`` does not replace a key.
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
    /// one.
    ///
    /// Opening throws `SQLITE_CANTOPEN` with the reason ``DatabaseError/Reason/missingKey``,
    /// ``DatabaseError/Reason/keyStoreLocked`` or ``DatabaseError/Reason/keyStoreFailed``, and `SQLITE_BUSY` if another
    /// process takes longer than a minute to make a key.
    /// another process makes a key for longer than a minute.
    public static func managed(by store: some KeyStore) -> DatabaseKey {
        DatabaseKey(source: KeySource(store: store))
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

/// Keeps the key of a database where a program finds it at each start: a file, a keychain, a key management service.
///
/// ``DatabaseKey/managed(by:)`` opens a database with the key of a store, and makes one where there is none. Each of the
/// three calls tells *absent*, *locked* and *failed* apart, because they call for different things: a key is made only
/// where it is absent, and what is locked is tried again.
///
/// A store that a program writes itself keeps these rules:
///
/// - What ``store(_:as:)`` has stored is there after a power cut.
/// - ``store(_:as:)`` replaces nothing.
/// - A store that can't be reached, or can't be read, has failed: it is not empty.
///
/// Calls come from the thread that opens the database, or changes its key, and may block it.
public protocol KeyStore: Sendable {
    /// Returns a key.
    ///
    /// - throws: ``KeyStoreError/absent`` only where the store was asked, and has no such key.
    func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey

    /// Keeps a raw key, whose bytes ``DatabaseKey/withUnsafeBytes(_:)`` shows.
    ///
    /// - throws: ``KeyStoreError/exists`` where the store has such a key already, which stays.
    func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError)

    /// Removes a key.
    ///
    /// - throws: ``KeyStoreError/absent`` where there is none.
    func remove(_ entry: KeyStoreEntry) throws(KeyStoreError)
}

/// The two keys that a store can have.
public enum KeyStoreEntry: String, Hashable, Sendable, CaseIterable {
    /// The key of the database.
    case current
    /// The key that a rotation brings in. It becomes the current one when the database has it.
    case next
}

/// The reason why a store has not done what it was asked for.
///
/// The texts stand in the descriptions of errors. They never contain a secret.
public enum KeyStoreError: Error, Hashable, Sendable {
    /// The store is there, and has no such key.
    case absent
    /// The store has such a key already.
    case exists
    /// The store can't be read as long as somebody has not unlocked it. The same call may succeed later.
    case locked(String)
    /// The store can't be reached, refuses, or holds something else than a key.
    case failed(String)
}

extension DatabaseKey {
    /// The key that a store keeps. It is loaded when a database is opened, once for a queue or a pool.
    ///
    /// Where there is neither a database nor a key, opening makes a random key, stores it, and compares what the store
    /// gives back, before it writes the first page. Processes that open the database at once make one key. A database
    /// without a stored key is an error, and so is a store that is locked or fails; no key is made then.
    ///
    /// `rotateKey(to: .managed(by: store))` changes the key, and keeps both until the database has the new one.
    ///
    /// Opening throws `SQLITE_CANTOPEN` with the reason ``DatabaseError/Reason/missingKey``,
    /// ``DatabaseError/Reason/keyStoreLocked`` or ``DatabaseError/Reason/keyStoreFailed``, and `SQLITE_BUSY` when
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
            code, refusing: "can't \(what): \(explanation)", advice: "see to the key store; no key was replaced",
            reason: .keyStoreFailed)
    }
}

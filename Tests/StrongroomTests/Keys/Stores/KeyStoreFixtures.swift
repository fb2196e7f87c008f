import Foundation
import Strongroom
import Testing

/// A store in memory, which writes down what it is asked for.
final class MemoryKeyStore: KeyStore, @unchecked Sendable {
    enum State { case open, locked, failing }

    private let lock = NSLock()
    private var keys: [KeyStoreEntry: DatabaseKey] = [:]
    private var formers: [FormerKey: DatabaseKey] = [:]
    private var log: [String] = []
    private var present = State.open
    private var database: String?
    private let recordsDatabase: Bool
    /// Called with each call, before it has an effect.
    private let hook: @Sendable (String) -> Void
    /// The fate of a key on its way into the store.
    private let mangle: @Sendable (DatabaseKey) -> DatabaseKey

    init(
        recordsDatabase: Bool = false, _ hook: @escaping @Sendable (String) -> Void = { _ in },
        mangling mangle: @escaping @Sendable (DatabaseKey) -> DatabaseKey = { $0 }
    ) {
        (self.recordsDatabase, self.hook, self.mangle) = (recordsDatabase, hook, mangle)
    }

    /// The calls of the store, such as `load current`.
    var calls: [String] { lock.withLock { log } }
    var entries: Set<KeyStoreEntry> { lock.withLock { Set(keys.keys) } }

    func bytes(_ entry: KeyStoreEntry) throws -> [UInt8]? {
        try lock.withLock { keys[entry] }?.withUnsafeBytes { Array($0) }
    }

    func count(of call: String) -> Int { calls.filter { $0 == call }.count }

    func put(_ key: DatabaseKey?, as entry: KeyStoreEntry = .current) { lock.withLock { keys[entry] = key } }

    func become(_ state: State) { lock.withLock { present = state } }

    func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey {
        try begin("load \(entry)")
        guard let key = lock.withLock({ keys[entry] }) else { throw .absent }
        return key
    }

    func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
        try begin("store \(entry)")
        let isNew = lock.withLock {
            if keys[entry] != nil { return false }
            keys[entry] = mangle(key)
            return true
        }
        if !isNew { throw .exists }
    }

    func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) {
        try begin("remove \(entry)")
        guard lock.withLock({ keys.removeValue(forKey: entry) }) != nil else { throw .absent }
    }

    // MARK: Former keys

    /// The former keys, latest first.
    var former: [FormerKey] { lock.withLock { formers.keys.sorted { $0.date > $1.date } } }

    func put(_ key: DatabaseKey, as former: FormerKey) { lock.withLock { formers[former] = key } }

    func formerKeys() throws(KeyStoreError) -> [FormerKey]? {
        try begin("list")
        return former
    }

    func load(_ key: FormerKey) throws(KeyStoreError) -> DatabaseKey {
        try begin("load former")
        guard let key = lock.withLock({ formers[key] }) else { throw .absent }
        return key
    }

    func store(_ key: DatabaseKey, as former: FormerKey) throws(KeyStoreError) {
        try begin("store former")
        let isNew = lock.withLock {
            if formers[former] != nil { return false }
            formers[former] = mangle(key)
            return true
        }
        if !isNew { throw .exists }
    }

    func remove(_ key: FormerKey) throws(KeyStoreError) {
        try begin("remove former")
        guard lock.withLock({ formers.removeValue(forKey: key) }) != nil else { throw .absent }
    }

    // MARK: The database

    func databasePath() throws(KeyStoreError) -> String? {
        guard recordsDatabase else { return nil }
        try begin("database")
        return lock.withLock { database }
    }

    func recordDatabasePath(_ path: String) throws(KeyStoreError) {
        guard recordsDatabase else { return }
        try begin("record database")
        lock.withLock { database = path }
    }

    private func begin(_ call: String) throws(KeyStoreError) {
        hook(call)
        let state = lock.withLock {
            log.append(call)
            return present
        }
        switch state {
        case .open: break
        case .locked: throw .locked("the screen is locked")
        case .failing: throw .failed("the service does not answer")
        }
    }
}

extension Configuration {
    static func managed(by store: some KeyStore, readonly: Bool = false) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .managed(by: store))
        configuration.busyMode = .timeout(20)
        configuration.readonly = readonly
        return configuration
    }

    static func raw(_ key: [UInt8]) throws -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try .rawKey(key))
        return configuration
    }
}

/// Writes a row into a table, which is made if need be, and returns how many there are.
@discardableResult
func addRow(_ path: String, _ configuration: Configuration) throws -> Int? {
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let count = try queue.write { db in
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (1)")
        return try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
    }
    try queue.close()
    return count
}

func rowCount(_ path: String, _ configuration: Configuration) throws -> Int? {
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let count = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
    try queue.close()
    return count
}

/// Makes a database with a row, and a copy of it with the same key.
func makeDatabase(_ path: String, andCopy copy: String, _ store: some KeyStore) throws {
    try addRow(path, .managed(by: store))
    let queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
    try queue.vacuum(into: copy)
    try queue.close()
}

/// A store with the required calls only, as before there were former keys.
struct OnlyRequiredCalls: KeyStore {
    let store: MemoryKeyStore

    func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey { try store.load(entry) }
    func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) { try store.store(key, as: entry) }
    func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) { try store.remove(entry) }
}

/// A rotation on another thread, which waits when its store is to keep the next key.
struct WaitingRotation {
    let store: MemoryKeyStore
    private let isInStore = Gate(), mayGoOn = Gate(), hasEnded = Gate()

    init(recordsDatabase: Bool = false) {
        store = MemoryKeyStore(recordsDatabase: recordsDatabase) { [isInStore, mayGoOn] call in
            guard call == "store next" else { return }
            isInStore.open()
            mayGoOn.pass()
        }
    }

    /// Begins the rotation, and returns when it waits.
    func begin(_ path: String) {
        Thread.detachNewThread { [store, hasEnded] in
            let queue = try? DatabaseQueue(path: path, configuration: .managed(by: store))
            #expect(throws: Never.self) { try queue?.rotateKey(to: .managed(by: store)) }
            try? queue?.close()
            hasEnded.open()
        }
        isInStore.pass()
    }

    func end() {
        mayGoOn.open()
        hasEnded.pass()
    }
}

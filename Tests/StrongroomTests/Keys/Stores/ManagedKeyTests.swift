import Foundation
import Strongroom
import TestSupport
import Testing

/// Reports of keys that programs made at the wrong moment: Meridiona/meridian 636, marmot-protocol/mdk 274, 275, 1913,
/// divinevideo/divine-mobile 1748, 9343, RocketChat/Rocket.Chat.ReactNative 7418.
@Suite("A managed key", .timeLimit(.minutes(1)))
struct ManagedKeyTests {
    private let folder: TemporaryFolder
    private let store = MemoryKeyStore()
    private var path: String { folder.path("db.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    private func refusal(_ store: some KeyStore, readonly: Bool = false) -> DatabaseError? {
        #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: .managed(by: store, readonly: readonly))
        }
    }

    @Test("is made for a database that does not exist, and opens it from then on, also as a raw key")
    func creation() throws {
        #expect(try addRow(path, .managed(by: store)) == 1)
        #expect(store.count(of: "store current") == 1 && store.entries == [.current])
        #expect(try addRow(path, .managed(by: store)) == 2)
        #expect(store.count(of: "store current") == 1)
        let key = try #require(try store.bytes(.current))
        #expect(key.count == 32)
        #expect(try rowCount(path, .raw(key)) == 2)
    }

    @Test("is loaded once for a pool, its readers and its snapshots")
    func loadedOnce() throws {
        try addRow(path, .managed(by: store))
        let before = store.calls.count
        let pool = try DatabasePool(path: path, configuration: .managed(by: store))
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            #expect((try? pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }) == 2)
        }
        let snapshot = try pool.makeSnapshot()
        #expect(try snapshot.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 2)
        #expect(try pool.checkIntegrity().isIntact)
        #expect(store.calls.dropFirst(before) == ["load current"])
    }

    @Test("is not loaded for a database in memory")
    func memory() throws {
        let queue = try DatabaseQueue(configuration: .managed(by: store))
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        #expect(store.calls == [])
    }

    @Test("is not made for a database whose key is missing, and the restored key opens it")
    func orphan() throws {
        try addRow(path, .managed(by: store))
        let key = try #require(try store.bytes(.current))
        store.put(nil)
        let error = refusal(store)
        #expect(error?.reason == .missingKey && error?.isWrongKeyError == false)
        #expect(error?.resultCode == .SQLITE_CANTOPEN && error?.recoverySuggestion != nil)
        #expect(store.entries == [] && store.count(of: "store current") == 1)
        store.put(try .rawKey(key))
        #expect(try rowCount(path, .managed(by: store)) == 1)
    }

    @Test("that is locked is an error to be retried, and never taken for a missing one", arguments: [false, true])
    func locked(exists: Bool) throws {
        if exists { try addRow(path, .managed(by: store)) }
        store.become(.locked)
        let error = refusal(store)
        #expect(error?.reason == .keyStoreLocked && error?.resultCode == .SQLITE_CANTOPEN)
        #expect(error?.message?.contains("the screen is locked") == true)
        #expect(store.count(of: "store current") == (exists ? 1 : 0))
        store.become(.open)
        #expect(try addRow(path, .managed(by: store)) == (exists ? 2 : 1))
    }

    @Test("whose store fails is an error, and not a missing key", arguments: [false, true])
    func failing(exists: Bool) throws {
        if exists { try addRow(path, .managed(by: store)) }
        store.become(.failing)
        #expect(refusal(store)?.reason == .keyStoreFailed)
        #expect(store.count(of: "store current") == (exists ? 1 : 0))
        store.become(.open)
        #expect(try addRow(path, .managed(by: store)) == (exists ? 2 : 1))
    }

    @Test("whose database is missing is used for the next one, and not replaced")
    func databaseMissing() throws {
        try addRow(path, .managed(by: store))
        let key = try store.bytes(.current), kept = folder.path("backup.sqlite")
        try FileManager.default.moveItem(atPath: path, toPath: kept)
        #expect(try addRow(path, .managed(by: store)) == 1)
        #expect(try store.bytes(.current) == key && store.count(of: "store current") == 1)
        #expect(try rowCount(kept, .managed(by: store)) == 1)
    }

    @Test("that the store does not give back as it was is an error, before the first page is written")
    func mangled() throws {
        let store = MemoryKeyStore(mangling: { _ in try! .random() })
        #expect(refusal(store)?.reason == .keyStoreFailed)
        #expect(try DatabaseFile.inspect(path: path).kind == .empty)
    }

    @Test("that was killed after it was stored is the one that the next opening uses")
    func killedBeforeFirstPage() throws {
        let stored = try DatabaseKey.random()
        store.put(stored)
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(try addRow(path, .managed(by: store)) == 1)
        #expect(try rowCount(path, .raw(stored.withUnsafeBytes { Array($0) })) == 1)
    }

    @Test("is not made where a log or a journal stands beside an empty file", arguments: ["-wal", "-journal"])
    func leftOverPages(suffix: String) throws {
        try Data().write(to: URL(fileURLWithPath: path))
        try Data(repeating: 7, count: 512).write(to: URL(fileURLWithPath: path + suffix))
        #expect(refusal(store)?.reason == .missingKey)
        #expect(store.count(of: "store current") == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + suffix)).count == 512)
    }

    @Test("is not made by a connection that only reads")
    func readonly() throws {
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(refusal(store, readonly: true)?.reason == .missingKey)
        #expect(store.entries == [])
    }

    @Test("given for a database in clear text says so")
    func clearText() throws {
        try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        #expect(refusal(store)?.reason == .notEncrypted)
        #expect(store.entries == [])
    }

    @Test("that does not fit the database is a wrong key, and stays")
    func wrongKey() throws {
        try addRow(path, .encrypted())
        store.put(try .random())
        let error = refusal(store)
        #expect(error?.reason == .wrongKey && error?.isWrongKeyError == true)
        #expect(store.entries == [.current] && store.count(of: "remove current") == 0)
    }

    @Test("of two openers that meet is made once: the second waits, and finds the key of the first")
    func twoOpeners() throws {
        let inStore = Gate(), met = Gate()
        let store = MemoryKeyStore { call in
            guard call == "store current" else { return }
            guard !inStore.opens(within: 0) else { return met.open() }
            inStore.open()
            // The second opener has a second to get here, and does not.
            #expect(!met.opens(within: 1))
        }
        let first = Opener(path, store)
        inStore.pass()
        // The first one has not stored its key yet. The second one finds no key, and no database.
        let second = Opener(path, store)
        let counts = [try first.result(), try second.result()]
        #expect(Set(counts) == [1, 2])
        #expect(store.count(of: "store current") == 1)
        #expect(try rowCount(path, .managed(by: store)) == 2)
    }

    @Test("that is absent, and is made with its database before the database is looked for, is loaded again")
    func madeMeanwhile() throws {
        let late = LateKeyStore(store: store, path: path)
        #expect(try addRow(path, .managed(by: late)) == 2)
        #expect(store.count(of: "store current") == 1)
        #expect(try rowCount(path, .managed(by: store, readonly: true)) == 2)
    }

    @Test("is the key of a copy: the copy opens with the store, which makes a key for the first database only")
    func copies() throws {
        let copy = folder.path("copy.sqlite"), clear = folder.path("clear.sqlite")
        let encryption = Encryption(key: .managed(by: store))
        let queue = try DatabaseQueue(path: clear)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try queue.close()
        try DatabaseFile.encrypt(path: clear, to: path, encryption: encryption)
        try DatabaseFile.migrate(path: path, to: copy, from: encryption)
        #expect(try rowCount(path, .managed(by: store)) == 1)
        #expect(try rowCount(copy, .managed(by: store)) == 1)
        #expect(store.count(of: "store current") == 1)
    }

    @Test("opens an attached database")
    func attached() throws {
        let other = folder.path("other.sqlite")
        try addRow(other, .managed(by: store))
        try DatabaseQueue(path: path, configuration: .encrypted()).inDatabase { db in
            try db.attach(path: other, as: "other", encryption: Encryption(key: .managed(by: store)))
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM other.t") == 1)
        }
    }

    @Test("can be shown, as it is stored")
    func shown() throws {
        try addRow(path, .managed(by: store))
        #expect(try DatabaseKey.managed(by: store).withUnsafeBytes { Array($0) } == store.bytes(.current))
    }
}

/// A store in which another process makes a key, and the database, just after the last answer that there is none.
private final class LateKeyStore: KeyStore, @unchecked Sendable {
    private let store: MemoryKeyStore
    private let path: String
    private var loadCount = 0

    init(store: MemoryKeyStore, path: String) { (self.store, self.path) = (store, path) }

    func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey {
        loadCount += 1
        guard loadCount == 3 else { return try store.load(entry) }
        #expect(throws: Never.self) { try addRow(path, .managed(by: store)) }
        throw .absent
    }

    func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) { try store.store(key, as: entry) }
    func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) { try store.remove(entry) }
}

/// Opens a database on a thread of its own, and adds a row.
private final class Opener: @unchecked Sendable {
    private let done = Gate()
    private var outcome: Result<Int?, any Error>?

    init(_ path: String, _ store: MemoryKeyStore) {
        Thread.detachNewThread { [self] in
            outcome = Result { try addRow(path, .managed(by: store)) }
            done.open()
        }
    }

    func result() throws -> Int? {
        done.pass()
        return try outcome?.get()
    }
}

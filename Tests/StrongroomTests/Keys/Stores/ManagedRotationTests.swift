import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("Changing a managed key", .timeLimit(.minutes(2)))
struct ManagedRotationTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("db.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    private func rotate(_ configuration: Configuration, to store: some KeyStore) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        try queue.rotateKey(to: .managed(by: store))
    }

    @Test("leaves the new key as the only current one in the store, and the pool goes on with it")
    func change() throws {
        let store = MemoryKeyStore()
        try addRow(path, .managed(by: store))
        let former = try store.bytes(.current)
        let pool = try DatabasePool(path: path, configuration: .managed(by: store))
        try pool.rotateKey(to: .managed(by: store))
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 2)
        try pool.rotateKey(to: .managed(by: store))
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 2)
        try pool.close()
        #expect(try store.entries == [.current] && store.bytes(.current) != former)
        #expect(try rowCount(path, .managed(by: store)) == 2)
        #expect(throws: DatabaseError.self) { try rowCount(path, .raw(former!)) }
    }

    @Test("stores the new key before the first page changes, and both until the database has it")
    func order() throws {
        let store = MemoryKeyStore()
        try addRow(path, .managed(by: store))
        let queue = try DatabaseQueue(path: path, configuration: .managed(by: store)), before = store.calls.count
        var entries: Set<KeyStoreEntry>?
        try queue.rotateKey(to: .managed(by: store)) { _ in entries = entries ?? store.entries }
        try queue.close()
        #expect(entries == [.current, .next])
        // Each call may run a program, or ask a person.
        let first = store.calls.dropFirst(before).prefix { $0 != "store next" }
        #expect(first == ["load next", "load current", "list"])
        #expect(
            store.calls.dropFirst(before).filter { !$0.hasPrefix("load") && $0 != "list" } == [
                "store next", "store former", "remove current", "store current", "remove next",
            ])
    }

    @Test("that fails leaves the former key, and no other")
    func failure() throws {
        struct Stop: Error {}
        let store = MemoryKeyStore()
        try addRow(path, .managed(by: store))
        let key = try store.bytes(.current), queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
        // An error at the last page is ignored.
        try queue.write { db in
            for _ in 0..<200 { try db.execute(sql: "INSERT INTO t VALUES (randomblob(4000))") }
        }
        #expect(throws: Stop.self) { try queue.rotateKey(to: .managed(by: store)) { _ in throw Stop() } }
        try queue.close()
        #expect(try store.entries == [.current] && store.bytes(.current) == key)
        #expect(try rowCount(path, .managed(by: store)) == 201)
    }

    @Test("changes nothing where the store is locked, fails, or gives another key back")
    func storeRefuses() throws {
        let store = MemoryKeyStore()
        try addRow(path, .managed(by: store))
        let queue = try DatabaseQueue(path: path, configuration: .managed(by: store)), key = try store.bytes(.current)
        for (state, reason) in [(.locked, .keyStoreLocked), (.failing, .keyStoreFailed)]
            as [(MemoryKeyStore.State, DatabaseError.Reason)]
        {
            store.become(state)
            let error = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: .managed(by: store)) }
            #expect(error?.reason == reason)
            store.become(.open)
        }
        let mangling = MemoryKeyStore(mangling: { _ in try! .random() })
        let error = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: .managed(by: mangling)) }
        #expect(error?.reason == .keyStoreFailed)
        try queue.close()
        #expect(try store.entries == [.current] && store.bytes(.current) == key)
        #expect(try rowCount(path, .managed(by: store)) == 1)
    }

    @Test("whose store can't finish says that the key was changed; the next opening finishes")
    func unfinished() throws {
        let store = MemoryKeyStore()
        try addRow(path, .managed(by: store))
        let queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
        let error = #expect(throws: DatabaseError.self) {
            try queue.rotateKey(to: .managed(by: store)) { if $0.isCompleted { store.become(.locked) } }
        }
        #expect(error?.reason == .keyChanged)
        try queue.close()
        store.become(.open)
        #expect(store.entries == [.current, .next])
        #expect(try addRow(path, .managed(by: store)) == 2)
        #expect(store.entries == [.current])
    }

    /// The remains of a killed program: the database with the former or the new key, and these entries.
    enum Leftover: String, CaseIterable {
        case stored, changed, currentRemoved, currentStored
    }

    private func leave(_ leftover: Leftover, _ store: MemoryKeyStore) throws {
        let former = try DatabaseKey.random(), new = try DatabaseKey.random()
        let key = leftover == .stored ? former : new
        try addRow(path, .raw(key.withUnsafeBytes { Array($0) }))
        store.put(leftover == .currentRemoved ? nil : leftover == .currentStored ? new : former)
        store.put(new, as: .next)
    }

    @Test(
        "killed at any moment opens at the next start, for reading, too, and the change after that leaves one key",
        arguments: Leftover.allCases)
    func killed(leftover: Leftover) throws {
        let store = MemoryKeyStore()
        try leave(leftover, store)
        #expect(try rowCount(path, .managed(by: store, readonly: true)) == 1)
        #expect(store.calls.allSatisfy { $0.hasPrefix("load") })
        #expect(try addRow(path, .managed(by: store)) == 2)
        #expect(store.entries.contains(.current))
        #expect(try rowCount(path, .raw(store.bytes(.current)!)) == 2)
        try rotate(.managed(by: store), to: store)
        #expect(store.entries == [.current])
        #expect(try rowCount(path, .raw(store.bytes(.current)!)) == 2)
    }

    @Test("does not remove a next key that the database has got meanwhile")
    func changedMeanwhile() throws {
        let store = MemoryKeyStore(), new = try DatabaseKey.random()
        try addRow(path, .managed(by: store))
        let stale = try DatabaseQueue(path: path, configuration: .managed(by: store))
        // Another process changes the key, and is killed before its store says so.
        let other = try DatabaseQueue(path: path, configuration: .managed(by: store))
        try other.rotateKey(to: new)
        try other.close()
        store.put(new, as: .next)
        #expect(throws: DatabaseError.self) { try stale.rotateKey(to: .managed(by: store)) }
        try stale.close()
        #expect(store.entries.contains(.next))
        #expect(try rowCount(path, .managed(by: store)) == 1)
    }

    @Test("in another process, which ends while this one looks, is followed", arguments: [false, true])
    func endedMeanwhile(isRemoved: Bool) throws {
        let new = try DatabaseKey.random(), box = Shared<MemoryKeyStore?>(nil)
        let store = MemoryKeyStore { call in
            guard call == "load next" else { return }
            box.value?.put(new)
            box.value?.put(nil, as: .next)
        }
        box.update { $0 = store }
        defer { box.update { $0 = nil } }
        try addRow(path, .raw(new.withUnsafeBytes { Array($0) }))
        store.put(isRemoved ? nil : try .random())
        store.put(new, as: .next)
        #expect(try rowCount(path, .managed(by: store)) == 1)
        #expect(store.entries == [.current])
    }

    @Test("by another process at the same time is refused, and neither key is lost")
    func atOnce() throws {
        let rotation = WaitingRotation(), store = rotation.store
        try addRow(path, .managed(by: store))
        rotation.begin(path)
        let error = #expect(throws: DatabaseError.self) { try rotate(.managed(by: store), to: store) }
        #expect(error?.resultCode == .SQLITE_BUSY)
        rotation.end()
        #expect(store.entries == [.current] && store.count(of: "store next") == 1)
        #expect(try rowCount(path, .managed(by: store)) == 1)
    }

    @Test(
        "gives a database with a passphrase to a store, and takes a key that is there as it is",
        arguments: [false, true])
    func adoption(hasKey: Bool) throws {
        let store = MemoryKeyStore()
        try addRow(path, .encrypted())
        if hasKey { store.put(try .rawKey(1...32)) }
        try rotate(.encrypted(), to: store)
        #expect(store.entries == [.current])
        if hasKey { #expect(try store.bytes(.current) == Array(1...32)) }
        #expect(store.count(of: "remove current") == 0 || !hasKey)
        var configuration = Configuration.managed(by: store)
        configuration.encryption?.settings.kdfIterations = 1000
        #expect(try addRow(path, configuration) == 2)
    }
}

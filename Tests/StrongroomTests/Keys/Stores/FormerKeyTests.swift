import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A former key of a store", .timeLimit(.minutes(1)))
struct FormerKeyTests {
    private let folder: TemporaryFolder
    private let store = MemoryKeyStore()
    private var path: String { folder.path("db.sqlite") }
    private var copy: String { folder.path("copy.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    private func rotate(_ store: some KeyStore, _ policy: FormerKeys = .keep, at path: String? = nil) throws {
        let queue = try DatabaseQueue(path: path ?? self.path, configuration: .managed(by: store))
        defer { try? queue.close() }
        try queue.rotateKey(to: .managed(by: store, formerKeys: policy))
    }

    private func storedKey(_ path: String, _ store: some KeyStore) throws -> StoredKey? {
        let pool = try DatabasePool(path: path, configuration: .managed(by: store))
        defer { try? pool.close() }
        return try pool.read { $0.storedKey }
    }

    // MARK: - Copies

    @Test("opens the copy from before each rotation, for reading and writing, and says so")
    func copies() throws {
        try makeDatabase(path, andCopy: copy, store)
        let key = try #require(try store.bytes(.current)), before = Date()
        for _ in 0..<3 { try rotate(store) }
        #expect(store.former.count == 3 && store.entries == [.current])
        let former = try #require(store.former.last { $0.identifier == (try? DatabaseKey.rawKey(key).identifier) })
        #expect(abs(former.date.timeIntervalSince(before)) < 60)
        #expect(try rowCount(copy, .managed(by: store, readonly: true)) == 1)
        #expect(try addRow(copy, .managed(by: store)) == 2)
        #expect(try storedKey(copy, store) == .former(former))
        #expect(try storedKey(path, store) == .current)
        #expect(try rowCount(copy, .raw(key)) == 2)
    }

    @Test("gives way to the current key when the copy is rotated, and stays for other copies")
    func rotatedCopy() throws {
        try makeDatabase(path, andCopy: copy, store)
        try rotate(store)
        let current = try #require(try store.bytes(.current)), former = store.former
        let queue = try DatabaseQueue(path: copy, configuration: .managed(by: store))
        try queue.rotateKey(to: .managed(by: store))
        #expect(try queue.read { $0.storedKey } == .current)
        try queue.close()
        #expect(try store.bytes(.current) == current && store.former == former)
        #expect(try rowCount(copy, .raw(current)) == 1)
        #expect(try rowCount(path, .managed(by: store)) == 1)
    }

    @Test("opens a copy whose store has no current key, and never makes a database")
    func onlyFormer() throws {
        try makeDatabase(path, andCopy: copy, store)
        try rotate(store)
        store.put(nil)
        #expect(try rowCount(copy, .managed(by: store)) == 1)
        let error = #expect(throws: DatabaseError.self) { try rowCount(path, .managed(by: store)) }
        #expect(error?.reason == .missingKey)
        let new = folder.path("new.sqlite")
        try addRow(new, .managed(by: store))
        #expect(try storedKey(new, store) == .current)
        let identifier = try DatabaseKey.managed(by: store).identifier
        #expect(!store.former.contains { $0.identifier == identifier })
    }

    @Test("is not asked for while the current key fits; a store that can't list is not taken for one without keys")
    func asked() throws {
        try makeDatabase(path, andCopy: copy, store)
        try rotate(store)
        let count = store.count(of: "list")
        #expect(try rowCount(path, .managed(by: store)) == 1)
        #expect(store.count(of: "list") == count)
        let locking = Locking(store: store)
        let error = #expect(throws: DatabaseError.self) { try rowCount(copy, .managed(by: locking)) }
        #expect(error?.reason == .keyStoreLocked)
    }

    @Test("that does not fit either is a wrong key")
    func wrongKey() throws {
        try makeDatabase(path, andCopy: copy, store)
        try rotate(store)
        for former in store.former { try store.remove(former) }
        let error = #expect(throws: DatabaseError.self) { try rowCount(copy, .managed(by: store)) }
        #expect(error?.reason == .wrongKey)
        #expect(try rowCount(path, .managed(by: store)) == 1)
    }

    // MARK: - Keeping

    @Test("is read back and compared before the first page, and a store that mangles it changes nothing")
    func mangled() throws {
        let count = Shared(0)
        let store = MemoryKeyStore(
            mangling: { key in
                count.update { $0 += 1 }
                return count.value == 3 ? try! .random() : key
            })
        try addRow(path, .managed(by: store))
        let key = try store.bytes(.current)
        let error = #expect(throws: DatabaseError.self) { try rotate(store) }
        #expect(error?.reason == .keyStoreFailed)
        #expect(try store.bytes(.current) == key && store.entries == [.current])
        #expect(try rowCount(path, .managed(by: store)) == 1)
    }

    @Test("is not kept by a store with three calls: a rotation is refused before it stores one, unless it discards")
    func storeOfToday() throws {
        let store = OnlyRequiredCalls(store: store)
        try makeDatabase(path, andCopy: copy, store)
        let key = try self.store.bytes(.current)
        let error = #expect(throws: DatabaseError.self) { try rotate(store) }
        #expect(error?.reason == .unkeptFormerKey && error?.resultCode == .SQLITE_CANTOPEN)
        #expect(try self.store.bytes(.current) == key && self.store.count(of: "store next") == 0)
        try rotate(store, .discard)
        #expect(try rowCount(path, .managed(by: store)) == 1)
        let refusal = #expect(throws: DatabaseError.self) { try rowCount(copy, .managed(by: store)) }
        #expect(refusal?.reason == .wrongKey)
    }

    @Test("is kept for a time, and removed by the first rotation after it")
    func period() throws {
        try makeDatabase(path, andCopy: copy, store)
        let old = FormerKey(name: "former-1000-\(String(repeating: "0a", count: 16))")!
        store.put(try .random(), as: old)
        try rotate(store)
        #expect(store.former.contains(old))
        try rotate(store, .keep(for: 3600))
        #expect(store.former.count == 2 && !store.former.contains(old))
        try rotate(store, .discard)
        #expect(store.former.count == 2)
    }

    @Test("of a rotation that failed does not stay; that of a killed one does, and the next rotation has its own date")
    func leftOver() throws {
        struct Stop: Error {}
        try addRow(path, .managed(by: store))
        let queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
        try queue.write { db in
            for _ in 0..<200 { try db.execute(sql: "INSERT INTO t VALUES (randomblob(4000))") }
        }
        #expect(throws: Stop.self) { try queue.rotateKey(to: .managed(by: store)) { _ in throw Stop() } }
        try queue.close()
        #expect(store.former == [])
        // The remains of a rotation that was killed an hour ago.
        let identifier = try #require(try DatabaseKey.managed(by: store).identifier)
        let left = FormerKey(identifier: identifier, date: Date(timeIntervalSinceNow: -3600))
        store.put(try store.load(.current), as: left)
        try rotate(store)
        #expect(store.former.count == 1 && store.former[0].identifier == identifier)
        #expect(store.former[0].date > left.date)
        store.put(
            try store.load(.current),
            as: FormerKey(identifier: try DatabaseKey.managed(by: store).identifier!, date: left.date))
        try rotate(store, .discard)
        #expect(store.former.map(\.identifier) == [identifier])
    }

    // MARK: - Names

    @Test("has a name from which it can be made again, and a raw key an identifier that a passphrase does not have")
    func names() throws {
        let key = try DatabaseKey.rawKey(1...32), identifier = try #require(try key.identifier)
        #expect(identifier.wholeMatch(of: /[0-9a-f]{32}/) != nil)
        #expect(try DatabaseKey.rawKey(1...32, salt: Array(1...16)).identifier == identifier)
        #expect(try DatabaseKey.rawKey(2...33).identifier != identifier)
        #expect(try DatabaseKey.passphrase("correct horse").identifier == nil)
        let former = FormerKey(identifier: identifier, date: Date())
        #expect(FormerKey(name: former.name) == former)
        for name in ["", "current", "former-1", "former-x-\(identifier)", "former-1-../\(identifier.dropFirst(3))"] {
            #expect(FormerKey(name: name) == nil)
        }
    }
}

@Suite("A key store in a file, over rotations")
struct FileFormerKeyTests {
    private let folder: TemporaryFolder
    private var store: FileKeyStore { FileKeyStore(path: folder.path("keys/key")) }

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("keys"), withIntermediateDirectories: false)
    }

    @Test("keeps each former key in a file of its owner, which opens the copy, until it is removed")
    func keeps() throws {
        let path = folder.path("db.sqlite"), copy = folder.path("copy.sqlite")
        try addRow(path, .managed(by: store))
        let queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
        try queue.vacuum(into: copy)
        try queue.rotateKey(to: .managed(by: store))
        try queue.rotateKey(to: .managed(by: store))
        try queue.close()
        let former = try #require(try store.formerKeys())
        #expect(former.count == 2)
        for key in former { #expect(permissions(of: store.path + "-" + key.name) == 0o600) }
        #expect(try rowCount(copy, .managed(by: store)) == 1)
        #expect(throws: KeyStoreError.exists) { try store.store(store.load(former[0]), as: former[0]) }
        for key in former { try store.remove(key) }
        #expect(throws: KeyStoreError.absent) { try store.remove(former[0]) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("keys")).sorted()
        #expect(names == ["key", "key-database"])
        #expect(throws: DatabaseError.self) { try rowCount(copy, .managed(by: store)) }
    }

    @Test("has the key of one database: the second is refused while the first exists, and names the cure")
    func twoDatabases() throws {
        let first = folder.path("first.sqlite"), second = folder.path("second.sqlite")
        try addRow(first, .managed(by: store))
        let error = #expect(throws: DatabaseError.self) { try addRow(second, .managed(by: store)) }
        #expect(error?.reason == .foreignKeyStore && error?.message?.contains("first.sqlite") == true)
        #expect(error?.recoverySuggestion?.contains("a store of its own, with another path") == true)
        #expect(try DatabaseFile.inspect(path: second).kind == .empty)
        let other = FileKeyStore(path: folder.path("keys/other"))
        try addRow(second, .managed(by: other))
        let queue = try DatabaseQueue(path: first, configuration: .managed(by: store))
        try queue.rotateKey(to: .managed(by: store, formerKeys: .discard))
        try queue.close()
        #expect(try addRow(second, .managed(by: other)) == 2)
        #expect(try addRow(first, .managed(by: store)) == 2)
    }

    @Test("gives its key to a new database when the former one was moved or removed, and to copies of it")
    func moved() throws {
        let path = folder.path("db.sqlite"), moved = folder.path("moved.sqlite"), new = folder.path("new.sqlite")
        try addRow(path, .managed(by: store))
        let queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
        try queue.vacuum(into: folder.path("copy.sqlite"), encryption: Encryption(key: .managed(by: store)))
        try queue.close()
        #expect(try rowCount(folder.path("copy.sqlite"), .managed(by: store)) == 1)
        try FileManager.default.moveItem(atPath: path, toPath: moved)
        #expect(try addRow(new, .managed(by: store)) == 1)
        #expect(try addRow(moved, .managed(by: store)) == 2)
        #expect(throws: DatabaseError.self) { try addRow(path, .managed(by: store)) }
    }
}

/// A store that is locked when it is to list former keys.
private struct Locking: KeyStore {
    let store: MemoryKeyStore

    func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey { try store.load(entry) }
    func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) { try store.store(key, as: entry) }
    func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) { try store.remove(entry) }
    func formerKeys() throws(KeyStoreError) -> [FormerKey]? { throw .locked("the screen is locked") }
}

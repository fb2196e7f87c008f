import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A key store that a database and its copy share", .timeLimit(.minutes(1)))
struct SharedKeyStoreTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("db.sqlite") }
    private var copy: String { folder.path("copy.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    private func rotate(
        _ path: String, _ store: some KeyStore, from configuration: Configuration? = nil,
        to key: DatabaseKey? = nil, formerKeys: FormerKeys = .keep
    ) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration ?? .managed(by: store))
        defer { try? queue.close() }
        try queue.rotateKey(to: key ?? .managed(by: store, formerKeys: formerKeys))
    }

    /// Leaves what a killed rotation leaves: the database has the key that the store has as its next one.
    private func killRotation(of path: String, _ store: MemoryKeyStore) throws {
        let new = try DatabaseKey.random()
        try rotate(path, store, to: new)
        store.put(new, as: .next)
    }

    // MARK: - Rotations

    @Test("keeps the key of the database whose rotation was killed when the copy is rotated", arguments: [false, true])
    func killedRotation(recordsDatabase: Bool) throws {
        let store = MemoryKeyStore(recordsDatabase: recordsDatabase)
        try makeDatabase(path, andCopy: copy, store)
        try killRotation(of: path, store)
        try rotate(copy, store)
        #expect(store.entries == [.current])
        #expect(try rowCount(path, .managed(by: store)) == 1)
        #expect(try rowCount(copy, .managed(by: store)) == 1)
    }

    @Test("that can't keep former keys gives both the key of the rotation that was killed")
    func killedRotationWithoutFormerKeys() throws {
        let memory = MemoryKeyStore(), store = OnlyRequiredCalls(store: memory)
        try makeDatabase(path, andCopy: copy, store)
        try killRotation(of: path, memory)
        let next = try memory.bytes(.next)
        try rotate(copy, store, formerKeys: .discard)
        #expect(try memory.bytes(.current) == next && memory.entries == [.current])
        #expect(try rowCount(path, .managed(by: store)) == 1)
        #expect(try rowCount(copy, .managed(by: store)) == 1)
    }

    @Test(
        "keeps the key of the database when an opening ends the killed rotation of the copy", arguments: [false, true])
    func killedRotationOfCopy(recordsDatabase: Bool) throws {
        let store = MemoryKeyStore(recordsDatabase: recordsDatabase)
        try makeDatabase(path, andCopy: copy, store)
        try killRotation(of: copy, store)
        #expect(try rowCount(copy, .managed(by: store)) == 1)
        #expect(store.entries == [.current])
        #expect(try rowCount(path, .managed(by: store)) == 1)
    }

    @Test("refuses a key that it doesn't have while it has only the next key of the database")
    func unfinishedRotation() throws {
        let store = MemoryKeyStore(recordsDatabase: true)
        try makeDatabase(path, andCopy: copy, store)
        let key = try #require(try store.bytes(.current))
        try killRotation(of: path, store)
        store.put(nil)
        let error = #expect(throws: DatabaseError.self) { try rotate(copy, store, from: .raw(key)) }
        #expect(error?.reason == .foreignKeyStore)
        #expect(store.entries == [.next])
        #expect(try rowCount(path, .managed(by: store)) == 1)
        #expect(try rowCount(copy, .raw(key)) == 1)
    }

    @Test(
        "refuses to discard the key of the database by a rotation of the copy",
        arguments: [FormerKeys.discard, .keep(for: 0)])
    func discarding(policy: FormerKeys) throws {
        let store = MemoryKeyStore(recordsDatabase: true)
        try makeDatabase(path, andCopy: copy, store)
        let error = #expect(throws: DatabaseError.self) { try rotate(copy, store, formerKeys: policy) }
        #expect(error?.reason == .foreignKeyStore)
        #expect(store.entries == [.current] && store.former == [])
        try rotate(copy, store)
        #expect(try rowCount(path, .managed(by: store)) == 1)
        #expect(try rowCount(copy, .managed(by: store)) == 1)
    }

    @Test("admits one rotation at a time")
    func atOnce() throws {
        let rotation = WaitingRotation(recordsDatabase: true), store = rotation.store
        try makeDatabase(path, andCopy: copy, store)
        rotation.begin(path)
        let error = #expect(throws: DatabaseError.self) { try rotate(copy, store) }
        #expect(error?.resultCode == .SQLITE_BUSY)
        rotation.end()
        #expect(store.count(of: "store next") == 1)
        for path in [path, copy] { #expect(try rowCount(path, .managed(by: store)) == 1) }
    }

    // MARK: - Other databases

    @Test("refuses the key of a database to another one that exists already")
    func otherDatabase() throws {
        let store = MemoryKeyStore(recordsDatabase: true), other = folder.path("other.sqlite")
        try addRow(path, .managed(by: store))
        let key = try store.bytes(.current)
        try addRow(other, .encrypted())
        let error = #expect(throws: DatabaseError.self) { try rotate(other, store, from: .encrypted()) }
        #expect(error?.reason == .foreignKeyStore && error?.message?.contains("db.sqlite") == true)
        #expect(try store.bytes(.current) == key && store.entries == [.current])
        #expect(try rowCount(other, .encrypted()) == 1)
    }

    @Test("refuses the key of a database to a copy of another one, and records the first copy that gets its key")
    func otherCopies() throws {
        let store = MemoryKeyStore(recordsDatabase: true), other = folder.path("other.sqlite")
        let encryption = Encryption(key: .managed(by: store)), clear = folder.path("clear.sqlite")
        let own = Encryption(key: try .random())
        var configuration = Configuration()
        configuration.encryption = own
        try addRow(other, configuration)
        try addRow(clear, Configuration())
        try DatabaseFile.encrypt(path: clear, to: path, encryption: encryption)
        #expect(try store.databasePath() == path)
        let copies: [() throws -> Void] = [
            { try DatabaseFile.encrypt(path: clear, to: copy, encryption: encryption) },
            {
                try DatabaseFile.migrate(
                    path: other, to: copy, from: own, as: encryption)
            },
            {
                try DatabaseFile.migrateInPlace(
                    path: other, from: own, as: encryption)
            },
            {
                let queue = try DatabaseQueue(path: other, configuration: configuration)
                defer { try? queue.close() }
                try queue.vacuum(into: copy, encryption: encryption)
            },
        ]
        for make in copies {
            let error = #expect(throws: DatabaseError.self) { try make() }
            #expect(error?.reason == .foreignKeyStore)
            #expect(!FileManager.default.fileExists(atPath: copy))
        }
        #expect(try rowCount(other, configuration) == 1)
        try DatabaseFile.migrate(path: path, to: copy, from: encryption, as: encryption)
        #expect(try rowCount(copy, .managed(by: store)) == 1)
        #expect(try store.databasePath() == path)
    }

    @Test("that can't say which database has its key makes none", arguments: [MemoryKeyStore.State.locked, .failing])
    func unknownDatabase(state: MemoryKeyStore.State) throws {
        let box = Shared<MemoryKeyStore?>(nil)
        let store = MemoryKeyStore(recordsDatabase: true) { if $0 == "database" { box.value?.become(state) } }
        store.put(try .random())
        box.update { $0 = store }
        defer { box.update { $0 = nil } }
        let error = #expect(throws: DatabaseError.self) { try addRow(path, .managed(by: store)) }
        #expect(error?.reason == (state == .locked ? .keyStoreLocked : .keyStoreFailed))
        #expect(try DatabaseFile.inspect(path: path).kind == .empty)
    }
}

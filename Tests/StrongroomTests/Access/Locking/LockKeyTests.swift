import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("The key of a locked database", .timeLimit(.minutes(2)))
struct LockKeyTests {
    @Test("can be a passphrase, which is derived once for all connections")
    func passphrase() async throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000))
        let pool = try DatabasePool(path: folder.path("db.sqlite"), configuration: configuration)
        try await pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try await pool.lock()
        let count = pool.statistics.derivations
        #expect(count == 1)
        let error = await #expect(throws: DatabaseError.self) {
            try await pool.unlock(with: .passphrase("battery staple"))
        }
        #expect(error?.reason == .wrongKey)
        let empty = await #expect(throws: DatabaseError.self) { try await pool.unlock(with: .passphrase("")) }
        #expect(empty?.reason == .emptyKey)
        try await pool.unlock(with: .passphrase("correct horse"))
        for _ in 0..<3 { #expect(try await pool.read { try $0.tableExists("t") }) }
        pool.invalidateReadOnlyConnections()
        #expect(try await pool.makeSnapshot().read { try $0.tableExists("t") })
        // That of the wrong passphrase, and one more.
        #expect(pool.statistics.derivations == count + 2)
    }

    @Test("can be that of a store, with and without an argument", arguments: LockableKind.allCases)
    func store(kind: LockableKind) async throws {
        let folder = try TemporaryFolder()
        let store = FileKeyStore(path: folder.path("key"))
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .managed(by: store))
        let writer = try LockFixture(kind, configuration).writer
        for _ in 0..<2 {
            try await writer.lock()
            try await writer.unlock()
            try await writer.write { try $0.insertWine() }
        }
        try await writer.rotateKey(to: .managed(by: store))
        try await writer.lock()
        try FileManager.default.moveItem(atPath: folder.path("key"), toPath: folder.path("key.away"))
        let error = await #expect(throws: DatabaseError.self) { try await writer.unlock() }
        #expect(error?.reason == .missingKey)
        #expect(writer.isLocked)
        try FileManager.default.moveItem(atPath: folder.path("key.away"), toPath: folder.path("key"))
        try await writer.unlock(with: .managed(by: store))
        #expect(try await writer.read { try $0.countWines() } == 2)
        try await writer.lock()
        try await writer.unlock()
    }

    @Test("can be the secret of any slot, also of one that was added since", arguments: LockableKind.allCases)
    func slots(kind: LockableKind) async throws {
        let writer = try LockFixture(kind, .slots("first", creating: true)).writer
        _ = try await Task.detached {
            try writer.keySlots().add(.passphrase("second"), NewKeySlot(label: "second", derivation: .cheap))
        }.value
        for secret in ["second", "first"] {
            try await writer.lock()
            try await writer.unlock(with: .passphrase(secret))
            #expect(try await writer.read { try $0.countWines() } == 0)
        }
        try await writer.lock()
        let error = await #expect(throws: DatabaseError.self) { try await writer.unlock(with: .passphrase("third")) }
        #expect(error?.reason == .wrongKey)
        #expect(writer.isLocked)
    }

    @Test("is not taken away from the program's own configuration", arguments: LockableKind.allCases)
    func otherOwners(kind: LockableKind) async throws {
        let configuration = LockFixture.configuration()
        let fixture = try LockFixture(kind, configuration)
        try await fixture.writer.lock()
        let other = try DatabaseQueue(path: fixture.path, configuration: configuration)
        #expect(try await other.read { try $0.countWines() } == 0)
        // That of the locked database has none.
        let error = #expect(throws: DatabaseError.self) {
            _ = try DatabaseQueue(path: fixture.path, configuration: fixture.writer.configuration)
        }
        #expect(error?.reason == .locked)
    }
}

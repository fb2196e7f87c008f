import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A locked database and what happens to its file", .timeLimit(.minutes(2)))
struct LockNeighbourTests {
    @Test(
        "keeps no lock: another process can have the file for itself", arguments: LockableKind.allCases, [false, true])
    func exclusive(kind: LockableKind, observesOthers: Bool) async throws {
        var configuration = LockFixture.configuration()
        configuration.observesExternalChanges = observesOthers
        if observesOthers { configuration.journalMode = .wal }
        let fixture = try LockFixture(kind, configuration), writer = fixture.writer, shell = try fixture.shell()
        _ = try await writer.read { try $0.countWines() }
        let snapshot = try fixture.pool?.makeSnapshot()
        try await writer.lock()
        #expect(try openDescriptors(of: fixture.path) == 0)
        // Needs the file alone if it has a log.
        #expect(try shell.run("PRAGMA journal_mode = DELETE;") == ["delete"])
        #expect(try shell.run("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;") == ["exclusive"])
        #expect(try shell.run("INSERT INTO wine (name) VALUES ('Gamay'); COMMIT;").isEmpty)
        await #expect(throws: DatabaseError.self) { try await writer.unlock(with: LockFixture.key) }
        #expect(writer.isLocked)
        #expect(try shell.run("PRAGMA locking_mode = NORMAL; SELECT count(*) FROM wine;") == ["normal", "1"])
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.read { try $0.countWines() } == 1)
        withExtendedLifetime(snapshot) {}
    }

    @Test("needs the key that another process has given it meanwhile", arguments: LockableKind.allCases)
    func rekeyed(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer, new: RawKey = "other"
        try await writer.write { try $0.insertWine() }
        try await writer.lock()
        try fixture.shell().run("PRAGMA rekey = \"x'\(new.digits)'\";")
        let error = await #expect(throws: DatabaseError.self) { try await writer.unlock(with: LockFixture.key) }
        #expect(error?.reason == .wrongKey)
        #expect(writer.isLocked)
        try await writer.unlock(with: .passphrase("x'\(new.digits)'"))
        #expect(try await writer.read { try $0.countWines() } == 1)
        try await writer.write { try $0.insertWine() }
        if let pool = fixture.pool { #expect(try await pool.makeSnapshot().read { try $0.countWines() } == 2) }
    }

    @Test("is not unlocked with its key when another database has taken its place", arguments: LockableKind.allCases)
    func replaced(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        try await writer.lock()
        let other = fixture.folder.path("other.sqlite")
        let queue = try DatabaseQueue(path: other, configuration: .encrypted())
        try await queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.close()
        try FileManager.default.removeItem(atPath: fixture.path)
        try FileManager.default.moveItem(atPath: other, toPath: fixture.path)
        let error = await #expect(throws: DatabaseError.self) { try await writer.unlock(with: LockFixture.key) }
        #expect(error?.reason == .wrongKey)
        #expect(writer.isLocked)
        try Data("clear text".utf8).write(to: URL(fileURLWithPath: fixture.path))
        let noDatabase = await #expect(throws: DatabaseError.self) { try await writer.unlock(with: LockFixture.key) }
        #expect(noDatabase?.resultCode == .SQLITE_NOTADB)
        #expect(writer.isLocked)
        await expectLockedOut { _ = try await writer.read { try $0.countWines() } }
    }

    @Test("needs a secret that still has a slot", arguments: LockableKind.allCases)
    func slots(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind, .slots("first", creating: true)), writer = fixture.writer
        try await writer.write { try $0.insertWine() }
        try await writer.lock()
        let other = try DatabaseQueue(path: fixture.path, configuration: .slots("first"))
        try await onThread {
            let slots = try other.keySlots()
            _ = try slots.add(.passphrase("second"), NewKeySlot(label: "second", derivation: .cheap))
            let first = try #require(try slots.slots(notOpenedBy: [.passphrase("second")]).first)
            try slots.remove(first.label)
            try other.close()
        }
        let error = await #expect(throws: DatabaseError.self) { try await writer.unlock(with: .passphrase("first")) }
        #expect(error?.reason == .wrongKey)
        #expect(writer.isLocked)
        try await writer.unlock(with: .passphrase("second"))
        #expect(try await writer.read { try $0.countWines() } == 1)
    }

    @Test("can be open for reading only, and sees what was written meanwhile", arguments: LockableKind.allCases)
    func readOnly(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind)
        var configuration = LockFixture.configuration()
        configuration.readonly = true
        let reader = try kind.open(fixture.path, configuration)
        for count in 0..<3 {
            #expect(try await reader.read { try $0.countWines() } == count)
            try await reader.lock()
            try await fixture.writer.write { try $0.insertWine() }
            await #expect(throws: DatabaseError.self) { try await reader.unlock(with: .random()) }
            try await reader.unlock(with: LockFixture.key)
        }
        await #expect(throws: DatabaseError.self) { try await reader.write { try $0.insertWine() } }
    }

    @Test("is locked in a suspension, and unlocked after it", arguments: LockableKind.allCases)
    func suspended(kind: LockableKind) async throws {
        var configuration = LockFixture.configuration()
        configuration.allowsUnsafeTransactions = true
        let fixture = try LockFixture(kind, configuration), writer = fixture.writer
        try await writer.write { try $0.insertWine() }
        writer.suspend()
        try await writer.lock()
        #expect(writer.isLocked)
        #expect(try openDescriptors(of: fixture.path) == 0)
        // Unlocking takes locks.
        let error = await #expect(throws: DatabaseError.self) { try await writer.unlock(with: LockFixture.key) }
        #expect(error?.isInterruptionError == true)
        #expect(writer.isLocked)
        writer.resume()
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.read { try $0.countWines() } == 1)
        try await writer.lock()
        for _ in 0..<2 {
            writer.suspend()
            writer.resume()
            writer.interrupt()
        }
        try await writer.unlock(with: LockFixture.key)
        try await writer.write { try $0.insertWine() }
        #expect(try await writer.read { try $0.countWines() } == 2)
    }
}

import Dispatch
import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("A lock out of place", .timeLimit(.minutes(2)))
struct LockMistakeTests {
    @Test("inside of an access is an error, and the access goes on", arguments: LockableKind.allCases)
    func insideAccess(kind: LockableKind) throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        try writer.write { db in
            try db.insertWine()
            expectNotLockable("after the access") { try writer.lock() }
            expectNotLockable("after the access") { try writer.unlock(with: LockFixture.key) }
        }
        try writer.read { _ in expectNotLockable("after the access") { try writer.lock() } }
        if let pool = fixture.pool {
            try pool.makeSnapshot().read { _ in expectNotLockable("after the access") { try pool.lock() } }
        }
        #expect(!writer.isLocked)
        #expect(try writer.read { try $0.countWines() } == 1)
    }

    @Test("behind a wrapper is that of the queue or pool", arguments: LockableKind.allCases)
    func wrapper(kind: LockableKind) throws {
        let fixture = try LockFixture(kind), wrapper = AnyDatabaseWriter(fixture.writer)
        try wrapper.lock()
        #expect(wrapper.isLocked && fixture.writer.isLocked)
        try wrapper.unlock(with: LockFixture.key)
        #expect(!wrapper.isLocked && !fixture.writer.isLocked)
    }

    @Test("on the target queue of the database is an error", arguments: LockableKind.allCases)
    func onTargetQueue(kind: LockableKind) throws {
        let target = DispatchQueue(label: "target")
        var configuration = LockFixture.configuration()
        configuration.targetQueue = target
        let fixture = try LockFixture(kind, configuration), writer = fixture.writer
        target.sync { expectNotLockable("on another queue") { try writer.lock() } }
        try writer.lock()
        try writer.unlock(with: LockFixture.key)
        #expect(try writer.read { try $0.countWines() } == 0)
    }

    @Test("keeps no thread waiting that is its target queue's", arguments: LockableKind.allCases)
    func workOnTargetQueue(kind: LockableKind) throws {
        let target = DispatchQueue(label: "target")
        var configuration = LockFixture.configuration(.wait(600))
        configuration.targetQueue = target
        let fixture = try LockFixture(kind, configuration), writer = fixture.writer
        try writer.lock()
        target.sync {
            expectLocked { _ = try writer.checkIntegrity() }
            if let pool = fixture.pool { expectLocked { _ = try pool.makeSnapshot() } }
        }
        try writer.unlock(with: LockFixture.key)
        #expect(try writer.checkIntegrity().isIntact)
    }

    @Test("of a database in memory is refused, and loses nothing")
    func inMemory() throws {
        let queues = try [
            DatabaseQueue(configuration: LockFixture.configuration()),
            DatabaseQueue(named: "lock", configuration: LockFixture.configuration()),
        ]
        for queue in queues {
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            expectNotLockable("copy it into a file first") { try queue.lock() }
            #expect(try queue.read { try $0.tableExists("t") })
        }
    }

    @Test("of a database whose key could not be given again is refused")
    func otherKeys() throws {
        let folder = try TemporaryFolder()
        let inSetUp = try DatabaseQueue(path: folder.path("set-up"), configuration: .encrypted())
        expectNotLockable("Configuration.encryption") { try inSetUp.lock() }
        let clear = try DatabaseQueue(path: folder.path("clear"))
        expectNotLockable("close it instead") { try clear.lock() }
    }

    @Test("while the program keeps a statement is an error that says so", arguments: LockableKind.allCases)
    func keptStatement(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let kept = Shared<Statement?>(nil)
        try await writer.writeWithoutTransaction { db in
            let statement = try db.makeStatement(sql: "SELECT count(*) FROM wine")
            kept.update { $0 = statement }
        }
        let error = await #expect(throws: DatabaseError.self) { try await writer.lock() }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(!writer.isLocked)
        try await writer.write { try $0.insertWine() }
        #expect(try await writer.read { try $0.countWines() } == 1)
        kept.update { $0 = nil }
        try await writer.lock()
        #expect(writer.isLocked)
    }

    @Test("that is there already is none, and neither is an unlocking without one", arguments: LockableKind.allCases)
    func twice(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let error = await #expect(throws: DatabaseError.self) { try await writer.unlock(with: LockFixture.key) }
        #expect(error?.reason == .notLocked)
        try await writer.lock()
        try await writer.lock()
        let keyless = await #expect(throws: DatabaseError.self) { try await writer.unlock() }
        #expect(keyless?.recoverySuggestion == "give it: unlock(with:)")
        #expect(writer.isLocked)
        try await writer.unlock(with: LockFixture.key)
        let again = await #expect(throws: DatabaseError.self) { try await writer.unlock(with: LockFixture.key) }
        #expect(again?.reason == .notLocked)
    }

    @Test("of a closed database is an error, and closing a locked one works", arguments: LockableKind.allCases)
    func closed(kind: LockableKind) async throws {
        for accesses in [Configuration.LockedAccesses.refuse, .wait(60)] {
            let fixture = try LockFixture(kind, LockFixture.configuration(accesses)), writer = fixture.writer
            try await writer.lock()
            let waiting = Task { try await writer.read { try $0.countWines() } }
            try writer.close()
            #expect(!writer.isLocked)
            let read = await #expect(throws: DatabaseError.self) { _ = try await waiting.value }
            #expect(read?.reason == .closed || read?.reason == .locked && accesses == .refuse)
            for attempt in [{ try writer.lock() }, { try writer.unlock(with: LockFixture.key) }] {
                let error = #expect(throws: DatabaseError.self) { try attempt() }
                #expect(error?.reason == .closed)
            }
            try writer.close()
        }
        let closed = try LockFixture(kind)
        try closed.writer.close()
        let error = await #expect(throws: DatabaseError.self) { try await closed.writer.lock() }
        #expect(error?.reason == .closed)
        #expect(!closed.writer.isLocked)
    }

    @Test("meets other locks, unlockings and closings in any order", arguments: LockableKind.allCases)
    func concurrency(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind, LockFixture.configuration(.wait(60))), writer = fixture.writer
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<10 {
                        try await writer.lock()
                        do {
                            try await writer.unlock(with: LockFixture.key)
                        } catch let error as DatabaseError where error.reason == .notLocked {}
                    }
                }
            }
            try await group.waitForAll()
        }
        if writer.isLocked { try await writer.unlock(with: LockFixture.key) }
        try await writer.write { try $0.insertWine() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { do { try await writer.lock() } catch {} } }
            group.addTask { try writer.close() }
            try await group.waitForAll()
        }
        await #expect(throws: DatabaseError.self) { try await writer.unlock(with: LockFixture.key) }
        let error = await #expect(throws: DatabaseError.self) { _ = try await writer.read { try $0.countWines() } }
        #expect(error?.reason == .closed)
    }
}

private func expectNotLockable(
    _ advice: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.reason == .notLockable, sourceLocation: sourceLocation)
    #expect(error?.recoverySuggestion?.contains(advice) == true, sourceLocation: sourceLocation)
}

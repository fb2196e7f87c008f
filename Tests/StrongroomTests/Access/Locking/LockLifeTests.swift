import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("The end of a locked database", .timeLimit(.minutes(2)))
struct LockLifeTests {
    @Test(
        "does not wait for an unlocking if it came before the lock", arguments: LockableKind.allCases,
        [Configuration.LockedAccesses.refuse, .wait(.infinity)])
    func closingBefore(kind: LockableKind, accesses: Configuration.LockedAccesses) async throws {
        // The close goes on while the lock begins, in any order.
        for _ in 0..<10 {
            let fixture = try LockFixture(kind, LockFixture.configuration(accesses)), writer = fixture.writer
            let held = try await HeldAccess { hold in writer.writeWithoutTransaction { _ in hold() } }
            let close = start { #expect(throws: Never.self) { try writer.close() } }
            let line = try #require(writer.served?.writer)
            #expect(try await eventually { line.waiting == 1 })
            let lock = start { do { try writer.lock() } catch {} }
            #expect(try await eventually { line.isLocked })
            try await held.end()
            try await onThread {
                close.pass()
                lock.pass()
            }
            #expect(writer.health == .closed)
            #expect(!writer.isLocked)
            #expect(try openDescriptors(of: fixture.path) == 0)
        }
    }

    @Test("is its release, with those of its observers", arguments: LockableKind.allCases)
    func release(kind: LockableKind) async throws {
        weak var released: (any LockableWriter)?
        let isObserverReleased = Gate()
        do {
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
            var configuration = LockFixture.configuration(.wait(.infinity))
            let farewell = Farewell { isObserverReleased.open() }
            configuration.prepareDatabase { _ in withExtendedLifetime(farewell) {} }
            let writer = try kind.open(path, configuration)
            try await writer.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            released = writer
            _ = writer.autoLock(after: .idle(3600))
            try await writer.lock()
            let waiting = Task { _ = try await writer.read { try $0.tableExists("t") } }
            let databaseLock = try #require(writer.served?.databaseLock)
            #expect(
                try await eventually { databaseLock.writer.waiting + (databaseLock.readers?.waiting.count ?? 0) == 1 })
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        #expect(try await eventually { released == nil })
        try await onThread { isObserverReleased.pass() }
    }

    @Test("can be a shutdown", arguments: LockableKind.allCases)
    func shutDown(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind, LockFixture.configuration(.wait(.infinity))), writer = fixture.writer
        try await writer.lock()
        let waiting = start { #expect(throws: DatabaseError.self) { try writer.write { try $0.insertWine() } } }
        let line = try #require(writer.served?.writer)
        #expect(try await eventually { line.waiting == 1 })
        let shutdown = try await writer.shutDown(within: 60)
        #expect(!shutdown.hasInterruptedAccesses)
        try await onThread { waiting.pass() }
        #expect(writer.health == .closed)
        let error = await #expect(throws: DatabaseError.self) { try await writer.unlock(with: LockFixture.key) }
        #expect(error?.reason == .closed)
    }

    @Test("can come in an access to a snapshot that the lock has ended")
    func inEndedSnapshot() async throws {
        let fixture = try LockFixture(.pool), pool = try #require(fixture.pool), snapshot = try pool.makeSnapshot()
        try await pool.lock()
        try await onThread { try snapshot.read { _ in try pool.close() } }
        #expect(pool.health == .closed)
        #expect(try openDescriptors(of: fixture.path) == 0)
    }

    @Test("is refused in an access to a snapshot that a lock waits for, and comes afterwards")
    func inLockingSnapshot() async throws {
        let fixture = try LockFixture(.pool), pool = try #require(fixture.pool), snapshot = try pool.makeSnapshot()
        let isInside = Gate(), databaseLock = pool.databaseLock
        let access = start {
            snapshot.read { _ in
                isInside.open()
                while databaseLock.state.withLock({ $0.phase != .locking }) { usleep(1000) }
                let error = #expect(throws: DatabaseError.self) { try pool.close() }
                #expect(error?.resultCode == .SQLITE_BUSY)
                #expect(error?.recoverySuggestion?.contains("after the access") == true)
            }
        }
        try await onThread { isInside.pass() }
        try await pool.lock()
        try await onThread { access.pass() }
        #expect(pool.isLocked)
        try pool.close()
        #expect(pool.health == .closed)
    }

    @Test("can come in an access to an ended snapshot that an unlocking waits for")
    func inUnlockingSnapshot() async throws {
        let fixture = try LockFixture(.pool), pool = try #require(fixture.pool), snapshot = try pool.makeSnapshot()
        try await pool.lock()
        let isInside = Gate(), databaseLock = pool.databaseLock
        let access = start {
            snapshot.read { _ in
                isInside.open()
                while databaseLock.state.withLock({ $0.phase != .open }) { usleep(1000) }
                #expect(throws: Never.self) { try pool.close() }
            }
        }
        try await onThread { isInside.pass() }
        try await pool.unlock(with: LockFixture.key)
        try await onThread { access.pass() }
        #expect(pool.health == .closed)
    }

    @Test("is not near: health and figures know of the lock", arguments: LockableKind.allCases)
    func healthAndFigures(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        try await writer.write { try $0.insertWine() }
        _ = try await writer.read { try $0.countWines() }
        let before = writer.statistics
        #expect(writer.health == .ready)
        try await writer.lock()
        #expect(writer.health == .locked && !writer.health.canRead && !writer.health.canWrite)
        #expect(writer.statistics.readersOpen == 0)
        #expect(writer.statistics.commits == before.commits)
        #expect(writer.statistics.derivations == before.derivations)
        await #expect(throws: DatabaseError.self) { try await writer.unlock(with: .random()) }
        writer.suspend()
        #expect(writer.health == .locked)
        writer.resume()
        try await writer.unlock(with: LockFixture.key)
        #expect(writer.health == .ready)
        #expect(writer.statistics.commits == before.commits)
        try await writer.write { try $0.insertWine() }
        #expect(writer.statistics.commits == before.commits + 1)
    }

    @Test("does not come for what needs no connection: it does not wait", arguments: LockableKind.allCases)
    func noWait(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind, LockFixture.configuration(.wait(.infinity))), writer = fixture.writer
        try await writer.lock()
        let calls = start {
            writer.add(function: DatabaseFunction("late", argumentCount: 0) { _ in 4 })
            writer.releaseMemory()
            fixture.pool?.releaseMemoryEventually()
            fixture.pool?.invalidateReadOnlyConnections()
            writer.interrupt()
        }
        try await onThread { calls.pass() }
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.read { try Int.fetchOne($0, sql: "SELECT late()") } == 4)
        #expect(try await writer.write { try Int.fetchOne($0, sql: "SELECT late()") } == 4)
    }
}

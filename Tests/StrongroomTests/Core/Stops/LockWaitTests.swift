import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("A wait for a lock ends with the stop of its access", .timeLimit(.minutes(2)))
struct LockWaitTests {
    /// A wait in a database with a rollback journal, while another connection has it for itself.
    private func stopWait(
        _ kind: StopKind, _ wait: @escaping @Sendable (Database) throws -> Void
    ) async throws -> (any Error)? {
        var configuration = Configuration.encrypted()
        configuration.busyMode = .timeout(60)
        let fixture = try QueueFixture(configuration)
        let queue = fixture.queue
        let other = try DatabaseQueue(path: fixture.folder.path("db.sqlite"), configuration: .encrypted())
        let lock = try await HeldAccess { hold in
            try other.inTransaction(.exclusive) { _ in
                hold()
                return .commit
            }
        }
        let lockWait = LockWait()
        let access = StoppableAccess(queue, wait)
        try await onThread { lockWait.pass() }
        access.stop(kind, queue)
        let error = try await access.error()
        try await lock.end()
        queue.resume()
        try await queue.write { try $0.insertWine() }
        #expect(try await queue.read { try $0.countWines() } == 1)
        return error
    }

    @Test("of a statement", arguments: StopKind.allCases)
    func statement(kind: StopKind) async throws {
        let error = try await stopWait(kind) { _ = try $0.countWines() }
        #expect(kind.matches(error), "\(String(describing: error))")
    }

    @Test("of BEGIN IMMEDIATE", arguments: StopKind.allCases)
    func begin(kind: StopKind) async throws {
        let error = try await stopWait(kind) { try $0.inTransaction(.immediate) { .commit } }
        #expect(kind.matches(error), "\(String(describing: error))")
    }

    @Test("of SQL that is compiled", arguments: StopKind.allCases)
    func compiling(kind: StopKind) async throws {
        let error = try await stopWait(kind) { db in
            // The compiler has to read the schema anew.
            try db.execute(sql: "PRAGMA writable_schema = RESET")
            _ = try db.makeStatement(sql: "SELECT name FROM wine")
        }
        #expect(kind.matches(error), "\(String(describing: error))")
    }

    @Test("of COMMIT, which is rolled back", arguments: StopKind.allCases)
    func commit(kind: StopKind) async throws {
        var configuration = Configuration.encrypted()
        configuration.busyMode = .timeout(60)
        let fixture = try QueueFixture(configuration)
        let queue = fixture.queue
        let other = try DatabaseQueue(path: fixture.folder.path("db.sqlite"), configuration: .encrypted())
        let read = try await HeldAccess { hold in
            try other.read { db in
                _ = try db.countWines()
                hold()
            }
        }
        let lockWait = LockWait()
        let access = StoppableAccess(queue) { db in
            try db.beginTransaction(.immediate)
            try db.insertWine()
            try db.commit()
        }
        try await onThread { lockWait.pass() }
        access.stop(kind, queue)
        let error = try await access.error()
        #expect(kind.matches(error), "\(String(describing: error))")
        #expect(try Locks.exclusive(on: fixture.folder.path("db.sqlite")).isEmpty)
        try await read.end()
        queue.resume()
        #expect(try await queue.read { try $0.countWines() } == 0)
    }

    @Test("of a pool's opening lasts until the write of another one ends, although SQLite does not wait there")
    func journalMode() async throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), hasBegun = Gate(), mayEnd = Gate()
        let other = try DatabaseQueue(path: path, configuration: .encrypted())
        async let written: Void = onThread {
            try other.inTransaction(.immediate) { db in
                try db.execute(sql: "CREATE TABLE t(a)")
                hasBegun.open()
                mayEnd.pass()
                return .commit
            }
        }
        try await onThread { hasBegun.pass() }
        var configuration = Configuration.encrypted()
        configuration.busyMode = .callback { tries in
            mayEnd.open()
            return tries < 1000
        }
        let opening = configuration
        let pool = try await onThread { try DatabasePool(path: path, configuration: opening) }
        try await written
        #expect(try await pool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        #expect(try await pool.read { try $0.tableExists("t") })
    }
}

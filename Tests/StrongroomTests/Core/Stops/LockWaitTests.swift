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

    /// Work that changes the journal mode, which SQLite does not wait for.
    enum JournalChange: CaseIterable {
        case openingPool, rotation

        func run(_ path: String, _ configuration: Configuration) throws {
            switch self {
            case .openingPool: try DatabasePool(path: path, configuration: configuration).close()
            case .rotation:
                let queue = try DatabaseQueue(path: path, configuration: configuration)
                #expect(try queue.rotateKey(to: .passphrase("new")) == .complete)
                try queue.close()
            }
        }
    }

    @Test("for a change of the journal mode lasts until another one's write ends", arguments: JournalChange.allCases)
    func journalMode(change: JournalChange) async throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), hasBegun = Gate(), mayEnd = Gate()
        // Its commit waits for the reads of the one that waits.
        var patient = Configuration.encrypted()
        patient.busyMode = .timeout(20)
        let other = try DatabaseQueue(path: path, configuration: patient)
        try await other.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        async let written: Void = onThread {
            try other.inTransaction(.immediate) { db in
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                hasBegun.open()
                mayEnd.pass()
                return .commit
            }
            try other.close()
        }
        try await onThread { hasBegun.pass() }
        var configuration = Configuration.encrypted()
        configuration.busyMode = .callback { tries in
            mayEnd.open()
            return tries < 1000
        }
        let waiting = configuration
        try await onThread { try change.run(path, waiting) }
        try await written
        let passphrase = change == .rotation ? "new" : "correct horse"
        let queue = try DatabaseQueue(path: path, configuration: .encrypted(passphrase: passphrase))
        #expect(try await queue.read { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [1])
        try queue.close()
    }
}

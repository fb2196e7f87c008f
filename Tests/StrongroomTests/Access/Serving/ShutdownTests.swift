import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A shutdown")
struct ShutdownTests {
    @Test("lets running accesses end, refuses new ones immediately, and leaves no log", arguments: WriterKind.allCases)
    func orderly(_ kind: WriterKind) async throws {
        let (database, folder) = try kind.make()
        let writer = try await HeldAccess { hold in
            try database.write { db in
                try db.insertWine()
                hold()
            }
        }
        let shutdown = Task { try await database.shutDown(within: 60) }
        #expect(try await eventually { database.health == .shuttingDown })
        // Refused while the write goes on.
        for access in ["read", "write", "barrier"] {
            let error = await #expect(throws: DatabaseError.self) {
                switch access {
                case "read": try await database.read { _ in }
                case "write": try await database.write { _ in }
                default: try await database.barrierWriteWithoutTransaction { _ in }
                }
            }
            #expect(error?.reason == .closed && error?.resultCode == .SQLITE_MISUSE)
        }
        try await writer.end()
        let outcome = try await shutdown.value
        #expect(!outcome.hasInterruptedAccesses && outcome.checkpointError == nil)
        #expect(!folder.hasLog)
        let reopened = try DatabaseQueue(path: database.path, configuration: .encrypted())
        #expect(try await reopened.read { try $0.countWines() } == 1)
    }

    @Test("interrupts accesses at its limit, and rolls them back", arguments: WriterKind.allCases)
    func interrupted(_ kind: WriterKind) async throws {
        let (database, _) = try kind.make()
        try await database.write { try $0.insertWine() }
        let isInside = Gate()
        let writer = Task {
            try await database.write { db in
                try db.insertWine("Sancerre")
                isInside.open()
                try db.runForever()
            }
        }
        try await passes(isInside)
        let outcome = try await database.shutDown(within: 0.05)
        #expect(outcome.hasInterruptedAccesses)
        await #expect(throws: (any Error).self) { try await writer.value }
        let reopened = try DatabaseQueue(path: database.path, configuration: .encrypted())
        #expect(try await reopened.read { try $0.countWines() } == 1)
    }

    /// Starts a read that an error ends. Returns when it has begun; the gate opens at its end.
    private func startReader(
        of pool: DatabasePool, _ read: @escaping @Sendable (Database) throws -> Void
    ) async throws -> Gate {
        let isInside = Gate()
        let hasEnded = start {
            #expect(throws: (any Error).self) {
                try pool.read { db in
                    isInside.open()
                    try read(db)
                }
            }
        }
        try await passes(isInside)
        return hasEnded
    }

    @Test("interrupts readers, and accesses that run one statement after the other")
    func manyStatements() async throws {
        let pool = try PoolFixture().pool
        let reader = try await startReader(of: pool) { db in
            while true { _ = try db.countWines() }
        }
        #expect(try await pool.shutDown(within: 0).hasInterruptedAccesses)
        try await passes(reader)
    }

    @Test("of a cancelled task does not wait for its limit")
    func cancelled() async throws {
        let pool = try PoolFixture().pool
        let reader = try await startReader(of: pool) { try $0.runForever() }
        let shutdown = Task { try await pool.shutDown(within: 3600) }
        shutdown.cancel()
        #expect(try await shutdown.value.hasInterruptedAccesses)
        try await passes(reader)
    }

    @Test("says that an access computes without end, and closes when it ends")
    func computing() async throws {
        let pool = try PoolFixture().pool
        let reader = try await HeldAccess { hold in try pool.read { _ in hold() } }
        let error = await #expect(throws: DatabaseError.self) { try await pool.shutDown(within: 0) }
        #expect(error?.reason == .accessRunning && error?.recoverySuggestion != nil)
        try await reader.end()
        #expect(try await eventually { pool.health == .closed })
    }

    @Test("of a closed database does nothing, as a second one")
    func twice() async throws {
        let pool = try PoolFixture().pool
        try await pool.shutDown()
        try await pool.shutDown()
        try pool.close()
    }

    @Test("leaves the log to the next opening when another process reads it")
    func otherReader() async throws {
        let fixture = try PoolFixture()
        let other = try DatabasePool(path: fixture.path, configuration: .encrypted())
        let snapshot = try other.makeSnapshot()
        try await fixture.pool.write { try $0.insertWine() }
        let outcome = try await fixture.pool.shutDown()
        #expect(outcome.checkpointError?.resultCode == .SQLITE_BUSY)
        #expect(try await other.read { try $0.countWines() } == 1)
        try snapshot.close()
    }
}

extension TemporaryFolder {
    fileprivate var hasLog: Bool { (try? names().contains { $0.hasSuffix("-wal") }) ?? true }
}

/// Waits for a gate without a thread of the tests.
func passes(_ gate: Gate) async throws {
    try await onThread { gate.pass() }
}

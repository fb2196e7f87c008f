import CStrongroomFaults
import Foundation
import Testing

@testable import Strongroom

@Suite("A checkpoint that is stopped", .timeLimit(.minutes(2)), .serialized)
struct CheckpointStopTests {
    /// A database whose log has a hundred rows of another connection, and that moves nothing by itself.
    private func makeLog() throws -> QueueFixture {
        strongroom_faults_install()
        let fixture = try QueueFixture(walConfiguration())
        try fixture.queue.writeWithoutTransaction { db in
            try db.checkpoint(.truncate)
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
        }
        let other = try DatabaseQueue(path: fixture.queue.path, configuration: walConfiguration())
        try other.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            for _ in 0..<100 { try db.insertWine(String(repeating: "Chinon", count: 500)) }
        }
        try other.close()
        return fixture
    }

    /// Calls `act` once, at that moment of the work of SQLite.
    private func at(_ moment: strongroom_moment, of fixture: QueueFixture, _ act: @escaping @Sendable () -> Void) {
        let action = Unmanaged.passRetained(Farewell(act))
        strongroom_faults_at(
            moment, fixture.folder.path("db.sqlite"),
            { context in
                Unmanaged<Farewell>.fromOpaque(context!).release()
            }, action.toOpaque())
    }

    private func wineCount(inMainFileOf fixture: QueueFixture) throws -> Int {
        try FileManager.default.copyItem(
            atPath: fixture.folder.path("db.sqlite"), toPath: fixture.folder.path("copy.sqlite"))
        return try DatabaseQueue(path: fixture.folder.path("copy.sqlite"), configuration: .encrypted()).read {
            try $0.countWines()
        }
    }

    @Test("ends before the next page, and leaves the rest to the next one", arguments: StopKind.allCases)
    func askedFor(kind: StopKind) async throws {
        let fixture = try makeLog(), queue = fixture.queue
        let mayBegin = Gate()
        let access = StoppableAccess(queue) { db in
            mayBegin.pass()
            try db.checkpoint(.full)
        }
        at(STRONGROOM_MOMENT_LOG_END_READ, of: fixture) { access.stop(kind, queue) }
        mayBegin.open()
        let error = try await access.error()
        #expect(kind.matches(error), "\(String(describing: error))")
        #expect(try Locks.exclusive(on: queue.path).isEmpty)
        queue.resume()
        try await onThread {
            let log = try queue.writeWithoutTransaction { try $0.checkpoint(.full) }
            #expect(log.walFrameCount >= 100)
            #expect(log.checkpointedFrameCount == log.walFrameCount)
        }
        #expect(try wineCount(inMainFileOf: fixture) == 100)
    }

    @Test("after a commit is only stopped by a suspension, and the commit counts", arguments: StopKind.allCases)
    func automatic(kind: StopKind) async throws {
        let fixture = try makeLog(), queue = fixture.queue
        let hasRead = Gate(), mayCommit = Gate()
        let access = StoppableAccess(queue) { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 1; SELECT * FROM wine")
            hasRead.open()
            mayCommit.pass()
            try db.insertWine()
        }
        try await onThread { hasRead.pass() }
        // The next one that ends is committed, and its checkpoint has not begun.
        at(STRONGROOM_MOMENT_TRANSACTION_ENDED, of: fixture) { access.stop(kind, queue) }
        mayCommit.open()
        #expect(try await access.error() == nil)
        #expect(try Locks.exclusive(on: queue.path).isEmpty)
        queue.resume()
        #expect(try await queue.read { try $0.countWines() } == 101)
        #expect(try wineCount(inMainFileOf: fixture) == (kind == .suspension ? 0 : 101))
    }

    @Test(
        "by closing is only stopped by a suspension, which leaves the log",
        arguments: [StopKind.interruption, .suspension])
    func closing(kind: StopKind) async throws {
        let fixture = try makeLog(), queue = fixture.queue
        at(STRONGROOM_MOMENT_LOG_END_READ, of: fixture) { kind == .suspension ? queue.suspend() : queue.interrupt() }
        try queue.close()
        #expect(FileManager.default.fileExists(atPath: queue.path + "-wal") == (kind == .suspension))
        let other = try DatabaseQueue(path: queue.path, configuration: .encrypted())
        #expect(try await other.read { try $0.countWines() } == 100)
    }
}

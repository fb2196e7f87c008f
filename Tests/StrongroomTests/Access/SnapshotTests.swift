import Foundation
import Strongroom
import Testing

@Suite("A snapshot", .timeLimit(.minutes(2)))
struct SnapshotTests {
    @Test("sees the state of its creation after later writes")
    func unchangingContent() throws {
        let fixture = try PoolFixture()
        try fixture.pool.write { try $0.insertWine() }
        let snapshot = try fixture.pool.makeSnapshot()
        try fixture.pool.write { try $0.insertWine() }
        for _ in 0..<2 { #expect(try snapshot.read { try $0.countWines() } == 1) }
        #expect(try fixture.pool.makeSnapshot().read { try $0.countWines() } == 2)
    }

    @Test("made inside a write sees the state of the last transaction")
    func insideWrite() throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        let (before, after) = try pool.writeWithoutTransaction { db in
            let before = try pool.makeSnapshot()
            try db.inTransaction {
                try db.insertWine()
                return .commit
            }
            return (before, try pool.makeSnapshot())
        }
        try pool.write { try $0.insertWine() }
        #expect(try before.read { try $0.countWines() } == 0)
        #expect(try after.read { try $0.countWines() } == 1)
    }

    @Test("made inside a transaction stops the program with a remedy")
    func insideTransaction() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let fixture = try PoolFixture()
            try await fixture.pool.write { _ in _ = try fixture.pool.makeSnapshot() }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Make the snapshot before or after the transaction"))
    }

    @Test("comes in any number, regardless of the number of readers")
    func anyNumber() throws {
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 1
        let fixture = try PoolFixture(configuration)
        var snapshots: [DatabaseSnapshot] = []
        for _ in 0..<12 {
            snapshots.append(try fixture.pool.makeSnapshot())
            try fixture.pool.write { try $0.insertWine() }
        }
        #expect(try snapshots.map { try $0.read { try $0.countWines() } } == Array(0..<12))
    }

    @Test("is not stopped by a barrier, nor stops it")
    func barrier() throws {
        let fixture = try PoolFixture()
        let snapshot = try fixture.pool.makeSnapshot()
        try fixture.pool.barrierWriteWithoutTransaction { db in
            try db.insertWine()
            #expect(try snapshot.read { try $0.countWines() } == 0)
        }
    }

    @Test("can't write")
    func readOnly() throws {
        let snapshot = try PoolFixture().pool.makeSnapshot()
        let error = #expect(throws: DatabaseError.self) { try snapshot.read { try $0.insertWine() } }
        #expect(error?.resultCode == .SQLITE_READONLY)
    }

    @Test("reads in all ways that readers read")
    func allReads() async throws {
        let fixture = try PoolFixture()
        try await fixture.pool.write { try $0.insertWine() }
        let snapshot = try fixture.pool.makeSnapshot()
        try await fixture.pool.write { try $0.insertWine() }
        #expect(try await snapshot.read { try $0.countWines() } == 1)
        #expect(try await snapshot.unsafeRead { try $0.countWines() } == 1)
        let nested = try await snapshot.read { _ in try snapshot.reentrantRead { try $0.countWines() } }
        #expect(nested == 1)
        let unsafelyNested = try snapshot.unsafeReentrantRead { _ in
            try snapshot.unsafeReentrantRead { try $0.countWines() }
        }
        #expect(unsafelyNested == 1)
        let counts = await withCheckedContinuation { continuation in
            snapshot.asyncRead { first in
                let count = try! first.get().countWines()
                snapshot.asyncUnsafeRead { continuation.resume(returning: [count, try! $0.get().countWines()]) }
            }
        }
        #expect(counts == [1, 1])
        #expect(snapshot.path == fixture.path)
        #expect(snapshot.configuration.readonly)
    }

    @Test("outlives errors and cancellations of its reads")
    func interruption() async throws {
        let fixture = try PoolFixture()
        let snapshot = try fixture.pool.makeSnapshot()
        try await fixture.pool.write { try $0.insertWine() }
        await #expect(throws: DatabaseError.self) {
            try await snapshot.read { try $0.execute(sql: "SELECT * FROM absent") }
        }
        let isReading = Gate()
        let task = Task {
            try await snapshot.read { db in
                isReading.open()
                try db.runForever()
            }
        }
        try await onThread { isReading.pass() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await snapshot.read { try $0.countWines() } == 0)
    }

    @Test("does not continue with another state after the end of its transaction")
    func lostState() throws {
        let fixture = try PoolFixture()
        let snapshot = try fixture.pool.makeSnapshot()
        try fixture.pool.write { try $0.insertWine() }
        try snapshot.read { try $0.rollback() }
        let error = #expect(throws: DatabaseError.self) { try snapshot.read { try $0.countWines() } }
        #expect(error?.resultCode == .SQLITE_ABORT)
    }

    @Test("reads the current state when a program ends its transaction and begins another one")
    func beginningAnew() throws {
        let fixture = try PoolFixture()
        let snapshot = try fixture.pool.makeSnapshot()
        try fixture.pool.write { try $0.insertWine() }
        #expect(try snapshot.read { try $0.countWines() } == 0)
        try snapshot.read { try $0.execute(sql: "ROLLBACK; BEGIN TRANSACTION") }
        #expect(try snapshot.read { try $0.countWines() } == 1)
        #expect(throws: DatabaseError.self) { try snapshot.read { try $0.insertWine() } }
    }

    @Test("closes, and refuses to read then")
    func close() throws {
        let snapshot = try PoolFixture().pool.makeSnapshot()
        try snapshot.close()
        try snapshot.close()
        let error = #expect(throws: DatabaseError.self) { try snapshot.read { try $0.countWines() } }
        #expect(error?.resultCode == .SQLITE_MISUSE)
    }

    @Test("outlives its pool")
    func withoutPool() throws {
        var fixture: PoolFixture? = try PoolFixture()
        let folder = fixture!.folder
        let snapshot = try fixture!.pool.makeSnapshot()
        fixture = nil
        #expect(try snapshot.read { try $0.countWines() } == 0)
        withExtendedLifetime(folder) {}
    }
}

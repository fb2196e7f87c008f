import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("The statistics of a database")
struct StatisticsTests {
    @Test("of a pool count accesses by their kind, statements, commits and checkpoints")
    func pool() throws {
        let pool = try PoolFixture().pool
        let former = pool.statistics
        for _ in 0..<3 { _ = try pool.read { try $0.countWines() } }
        for _ in 0..<2 { try pool.write { try $0.insertWine() } }
        _ = try pool.barrierWriteWithoutTransaction { try $0.checkpoint(.truncate) }
        let now = pool.statistics
        #expect(now.reads.count - former.reads.count == 3)
        #expect(now.writes.count - former.writes.count == 3)
        #expect(now.barriers.count - former.barriers.count == 1)
        #expect(now.commits - former.commits == 2)
        #expect(now.checkpoints - former.checkpoints == 1)
        // One reader reads, so that each SQL is compiled once.
        #expect(now.statementsFromCache - former.statementsFromCache >= 3)
        #expect(now.statementsCompiled > former.statementsCompiled)
        #expect((now.readersInUse, now.readersOpen) == (0, 1))
        #expect(now.logSize == 0)
        try pool.write { try $0.insertWine() }
        #expect(pool.statistics.logSize > 0)
    }

    @Test("of a queue distinguish reads from writes")
    func queue() async throws {
        let queue = try QueueFixture().queue
        let former = queue.statistics
        try await queue.read { _ in }
        queue.asyncRead { _ in }
        try await queue.write { try $0.insertWine() }
        let now = queue.statistics
        #expect(now.reads.count - former.reads.count == 2)
        #expect(now.writes.count - former.writes.count == 1)
    }

    @Test("have the waiting time of accesses that waited, and of no others")
    func waits() async throws {
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 1
        let pool = try PoolFixture(configuration).pool
        try await pool.read { _ in }
        #expect(pool.statistics.reads.waits == 0)
        let first = try await HeldAccess { hold in try pool.read { _ in hold() } }
        #expect(pool.statistics.readersInUse == 1)
        let second = start { try! pool.read { _ in } }
        #expect(try await eventually { pool.statistics.accessesWaiting == 1 })
        try await first.end()
        try await passes(second)
        let reads = pool.statistics.reads
        #expect(reads.waits == 1)
        #expect(reads.waitingTime > 0 && reads.longestWait == reads.waitingTime)
        #expect(pool.statistics.accessesWaiting == 0)
    }

    @Test("keep what closed readers have counted")
    func closedReaders() throws {
        let pool = try PoolFixture().pool
        try pool.read { _ in }
        let former = pool.statistics.reads.count
        pool.releaseMemory()
        #expect(pool.statistics.readersOpen == 0)
        try pool.read { _ in }
        #expect(pool.statistics.reads.count == former + 1)
    }

    @Test("count waits for the locks of other connections")
    func busyWaits() throws {
        var configuration = Configuration.encrypted()
        configuration.busyMode = .timeout(0.05)
        let fixture = try QueueFixture(configuration)
        let queue = fixture.queue
        let other = try DatabaseQueue(path: queue.path, configuration: configuration)
        try other.inDatabase { db in
            try db.beginTransaction(.exclusive)
            #expect(throws: DatabaseError.self) { try queue.write { try $0.insertWine() } }
            try db.rollback()
        }
        #expect(queue.statistics.busyWaits == 1)
        #expect(other.statistics.busyWaits == 0)
    }

    @Test("count the derivation of a key, which all connections of a pool share")
    func derivations() throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000))
        let pool = try DatabasePool(path: folder.path("db.sqlite"), configuration: configuration)
        try pool.read { _ in }
        #expect(pool.statistics.derivations == 1)
    }

    @Test("count the fetches of observations")
    func observations() async throws {
        let pool = try PoolFixture().pool
        let notified = Notified<Int>()
        let cancellable = trackingWineCount().notify(notified, in: pool)
        try await notified.reaches(0)
        try await pool.write { try $0.insertWine() }
        try await notified.reaches(1)
        #expect(pool.statistics.observationFetches >= 2)
        cancellable.cancel()
    }

    @Test("report durations of waits and observations to a listener")
    func durations() async throws {
        let pool = try PoolFixture().pool
        let kinds = Shared<Set<String>>([])
        pool.configuration.tally?.listen { measurement in
            kinds.update { kinds in
                switch measurement {
                case .wait(let kind, _): _ = kinds.insert(kind.rawValue)
                case .observationFetch: _ = kinds.insert("fetch")
                case .observationLatency: _ = kinds.insert("latency")
                }
            }
        }
        let notified = Notified<Int>()
        let cancellable = trackingWineCount().notify(notified, in: pool)
        try await notified.reaches(0)
        try await pool.write { try $0.insertWine() }
        try await notified.reaches(1)
        try await pool.barrierWriteWithoutTransaction { _ in }
        #expect(kinds.value.isSuperset(of: ["barrier", "fetch", "latency"]))
        cancellable.cancel()
    }
}

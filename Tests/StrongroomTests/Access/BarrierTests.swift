import Dispatch
import Foundation
import Testing

@testable import Strongroom

@Suite("A barrier belongs to its thread", .timeLimit(.minutes(2)))
struct BarrierTests {
    private static func onePoolReader() -> Configuration {
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 1
        return configuration
    }

    @Test("in which reads see the committed state, as in any write")
    func readInside() throws {
        let pool = try PoolFixture().pool
        try pool.barrierWriteWithoutTransaction { db in
            try db.insertWine()
            #expect(try pool.read { try $0.countWines() } == 1)
            try db.inTransaction {
                try db.insertWine()
                let committed = try pool.unsafeRead { try $0.countWines() }
                let own = try pool.unsafeReentrantRead { try $0.countWines() }
                #expect(committed == 1)
                #expect(own == 2)
                return .commit
            }
            #expect(try pool.read { try $0.countWines() } == 2)
        }
    }

    @Test("while the reads of others wait for its end, asynchronous ones of its own among them")
    func othersWait() throws {
        let pool = try PoolFixture().pool
        let log = Shared<[String]>([])
        let isRead = Gate()
        let other = Shared<Gate?>(nil)
        try pool.barrierWriteWithoutTransaction { db in
            pool.asyncRead { _ in
                log.update { $0.append("read") }
                isRead.open()
            }
            let reading = start {
                _ = try! pool.read { try $0.countWines() }
                log.update { $0.append("read") }
            }
            other.update { $0 = reading }
            while pool.readers.waiting.count < 2 { usleep(1000) }
            _ = try pool.read { try $0.countWines() }
            log.update { $0.append("end") }
        }
        isRead.pass()
        other.value?.pass()
        #expect(log.value == ["end", "read", "read"])
    }

    @Test("an observer's concurrent read sees the state of its transaction, and the barrier can wait for it")
    func concurrentReadInside() throws {
        final class Observer: TransactionObserver {
            let pool: DatabasePool
            var counts: [DatabaseFuture<Int>] = []
            init(_ pool: DatabasePool) { self.pool = pool }
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidRollback(_ db: Database) {}
            func databaseDidCommit(_ db: Database) { counts.append(pool.concurrentRead { try $0.countWines() }) }
        }
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 2
        let pool = try PoolFixture(configuration).pool
        let observer = Observer(pool)
        pool.add(transactionObserver: observer)
        let count = 6
        try pool.barrierWriteWithoutTransaction { db in
            for _ in 1...count { try db.insertWine() }
            #expect(try observer.counts.map { try $0.wait() } == Array(1...count))
        }
        #expect(try pool.read { try $0.countWines() } == count)
    }

    @Test("a write inside of a read overtakes the barrier that waits for the read")
    func writeInRead() throws {
        let pool = try PoolFixture().pool
        let log = Shared<[String]>([])
        let barrier = Shared<Gate?>(nil)
        try pool.read { _ in
            let waiting = start {
                try! pool.barrierWriteWithoutTransaction { _ in log.update { $0.append("barrier") } }
            }
            barrier.update { $0 = waiting }
            while pool.readers.waiting.count == 0 { usleep(1000) }
            try pool.write { try $0.insertWine() }
            log.update { $0.append("write") }
        }
        barrier.value?.pass()
        #expect(log.value == ["write", "barrier"])
    }

    @Test("a read inside of a write does not wait for a read that wants to write")
    func readInWriteAndWriteInRead() throws {
        let pool = try PoolFixture(Self.onePoolReader()).pool
        let isReading = Gate()
        let count = Shared(-1)
        let writer = start {
            isReading.pass()
            try! pool.writeWithoutTransaction { db in
                try db.insertWine()
                let found = try pool.read { try $0.countWines() }
                count.update { $0 = found }
            }
        }
        try pool.read { _ in
            isReading.open()
            // The other thread has the writer, and waits for the one reader, which is this thread's.
            while pool.readers.waiting.count == 0 { usleep(1000) }
            try pool.write { try $0.insertWine() }
        }
        writer.pass()
        #expect(count.value == 1)
        #expect(try pool.read { try $0.countWines() } == 2)
        // The reader that was opened past the limit is closed again.
        #expect(pool.readers.connections.count == 1)
    }

    @Test("a concurrent read inside of a write inside of the only read gets a reader")
    func concurrentReadInWriteInRead() throws {
        let pool = try PoolFixture(Self.onePoolReader()).pool
        let count = try pool.read { _ in
            try pool.writeWithoutTransaction { db in
                try db.insertWine()
                return pool.concurrentRead { try $0.countWines() }
            }
        }
        #expect(try count.wait() == 1)
    }

    @Test(
        "a task that waits for a barrier is cancelled immediately, and no access waits for it any longer",
        arguments: ["barrier", "erase", "rotation"])
    func cancelledWhileWaiting(for work: String) async throws {
        let pool = try PoolFixture().pool
        let isReading = Gate(), mayStop = Gate()
        let first = start {
            try! pool.read { _ in
                isReading.open()
                mayStop.pass()
            }
        }
        try await onThread { isReading.pass() }
        let barrier = Task {
            switch work {
            case "erase": try await pool.erase()
            case "rotation": _ = try await pool.rotateKey(to: .passphrase("battery staple"))
            default: try await pool.barrierWriteWithoutTransaction { try $0.insertWine() }
            }
        }
        #expect(try await eventually { pool.readers.waiting.count == 1 })
        let second = start { _ = try! pool.read { try $0.countWines() } }
        #expect(try await eventually { pool.readers.waiting.count == 2 })
        barrier.cancel()
        await #expect(throws: CancellationError.self) { try await barrier.value }
        try await onThread { second.pass() }
        try await pool.write { try $0.insertWine() }
        mayStop.open()
        try await onThread { first.pass() }
        #expect(try await pool.read { try $0.countWines() } == 1)
    }
}

import Dispatch
import Foundation
import Strongroom
import Testing

@Suite("A barrier", .timeLimit(.minutes(2)))
struct BarrierWriteTests {
    @Test("A barrier write runs alone: after the reads before it, and before those after it")
    func barrier() throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        let log = Shared<[String]>([])
        let isReading = Gate(), mayStopReading = Gate(), isInBarrier = Gate(), mayLeaveBarrier = Gate()
        let before = start {
            try! pool.read { _ in
                isReading.open()
                mayStopReading.pass()
                log.update { $0.append("read before") }
            }
        }
        isReading.pass()
        let barrier = start {
            try! pool.barrierWriteWithoutTransaction { db in
                isInBarrier.open()
                mayLeaveBarrier.pass()
                try db.insertWine()
                log.update { $0.append("barrier") }
            }
        }
        #expect(!isInBarrier.opens(within: 0.1))
        mayStopReading.open()
        isInBarrier.pass()
        let after = start {
            let count = try! pool.read { try $0.countWines() }
            log.update { $0.append("read after: \(count)") }
        }
        #expect(!after.opens(within: 0.1))
        mayLeaveBarrier.open()
        for thread in [before, barrier, after] { thread.pass() }
        #expect(log.value == ["read before", "barrier", "read after: 1"])
    }

    @Test("Barrier writes also come as await and with completion")
    func asyncBarriers() async throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        try await pool.barrierWriteWithoutTransaction { try $0.insertWine() }
        await withCheckedContinuation { continuation in
            pool.asyncBarrierWriteWithoutTransaction { db in
                try! db.get().insertWine()
                continuation.resume()
            }
        }
        #expect(try await pool.read { try $0.countWines() } == 2)
        let queue = try QueueFixture().queue
        try await queue.barrierWriteWithoutTransaction { try $0.insertWine() }
        #expect(try await queue.read { try $0.countWines() } == 1)
    }

    @Test("A waiting barrier is not starved by readers")
    func barrierAmongReaders() throws {
        let fixture = try PoolFixture()
        let stops = Shared(false)
        let readers = (0..<8).map { _ in
            start { while !stops.value { _ = try! fixture.pool.read { try $0.countWines() } } }
        }
        let barriers = start {
            for _ in 0..<20 { try! fixture.pool.barrierWriteWithoutTransaction { try $0.insertWine() } }
        }
        barriers.pass()
        stops.update { $0 = true }
        for reader in readers { reader.pass() }
        #expect(try fixture.pool.read { try $0.countWines() } == 20)
    }
}

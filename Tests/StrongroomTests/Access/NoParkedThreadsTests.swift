import CStrongroom
import Foundation
import Strongroom
import Testing

/// Invariant 11: `await` never parks a thread of Swift's runtime. Accesses that run are the subject of
/// `AsyncTests.cooperativePool`.
@Suite("No parked threads", .timeLimit(.minutes(1)))
struct NoParkedThreadsTests {
    /// The calls that a task may await while another thread holds the database.
    enum Wait: String, CaseIterable {
        case write, writeWithoutTransaction, barrierWrite, rotateKey, vacuum, erase, queueRead, unsafeRead

        func run(_ pool: DatabasePool, _ queue: DatabaseQueue) async throws {
            switch self {
            case .write: try await pool.write { try $0.insertWine() }
            case .writeWithoutTransaction: try await pool.writeWithoutTransaction { try $0.insertWine() }
            case .barrierWrite: try await pool.barrierWriteWithoutTransaction { try $0.insertWine() }
            case .rotateKey: try await pool.rotateKey(to: .passphrase("another"))
            case .vacuum: try await pool.vacuum()
            case .erase: try await pool.erase()
            case .queueRead: _ = try await queue.read { try $0.countWines() }
            case .unsafeRead: _ = try await queue.unsafeRead { try $0.countWines() }
            }
        }
    }

    @Test("while tasks wait for their turn", arguments: Wait.allCases)
    func waiting(for wait: Wait) async throws {
        let pool = try PoolFixture(), queue = try QueueFixture()
        let isHeld = Gate(), mayEnd = Gate()
        let isPoolFree = start {
            pool.pool.writeWithoutTransaction { _ in
                isHeld.open()
                mayEnd.pass()
            }
        }
        isHeld.pass()
        let isQueueHeld = Gate()
        let isQueueFree = start {
            queue.queue.inDatabase { _ in
                isQueueHeld.open()
                mayEnd.pass()
            }
        }
        isQueueHeld.pass()

        let begun = Shared(0)
        let count = ProcessInfo.processInfo.activeProcessorCount * 4
        // One rotation is enough of a wait; its followers would find the key changed.
        let tasks = (0..<(wait == .rotateKey || wait == .erase ? 1 : count)).map { _ in
            Task {
                begun.update { $0 += 1 }
                try await wait.run(pool.pool, queue.queue)
            }
        }
        // All tasks have begun, though none can go on: their threads are free for others, and for this one.
        #expect(try await eventually { begun.value == tasks.count })
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<100 {
                group.addTask {
                    await Task.yield()
                    return number
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 4950)
        mayEnd.open()
        for task in tasks { try await task.value }
        isPoolFree.pass()
        isQueueFree.pass()
    }

    @Test("One read at a time may run on a thread of other tasks, and none soon after a long read of the same database")
    func lane() async {
        await #expect(processExitsWith: .success) {
            var (slow, other): (UInt64, UInt64) = (0, 0)
            guard strongroom_lane_enter(&slow), !strongroom_lane_enter(&slow), !strongroom_lane_enter(&other) else {
                exit(3)
            }
            strongroom_lane_leave(&slow, 1000)
            guard strongroom_lane_enter(&slow) else { exit(4) }
            let start = DispatchTime.now()
            strongroom_lane_leave(&slow, 10_000_000_000)
            guard !strongroom_lane_enter(&slow) else { exit(5) }
            // Other databases have nothing to do with it, and no pause is longer than a second.
            guard strongroom_lane_enter(&other) else { exit(6) }
            strongroom_lane_leave(&other, 0)
            while !strongroom_lane_enter(&slow) {
                guard DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds < 10_000_000_000 else { exit(7) }
                usleep(10_000)
            }
        }
    }
}

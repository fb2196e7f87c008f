import CStrongroom
import Dispatch
import Foundation

/// A short cut for the asynchronous reads of pools, which runs them where the Swift runtime runs tasks.
///
/// On Linux, tasks run on the threads of Dispatch's global queues. A read on another thread wakes two threads, one for
/// the read and one for its result, which costs ten times as much as a small read. On a global queue it costs no
/// wake-up, but it must not keep other tasks from running. So the lane admits one read of the process at a time, none
/// if there is only one core, and none of a pool for a while after one of its reads took long.
///
/// Sendable because the time is read and written atomically.
final class FastLane: @unchecked Sendable {
    /// The time at which the lane opens again for the pool.
    private let closedUntil = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)

    private static let isUseful = strongroom_lane_is_shared && ProcessInfo.processInfo.activeProcessorCount > 1

    init() {
        closedUntil.initialize(to: 0)
    }

    deinit {
        closedUntil.deallocate()
    }

    /// Enters the lane. Returns false if it is in use or closed.
    func enter() -> Bool {
        Self.isUseful && strongroom_lane_enter(closedUntil)
    }

    /// Leaves the lane without a read.
    func leave() {
        strongroom_lane_leave(closedUntil, 0)
    }

    /// Runs `read` with the priority, leaves the lane, and wakes the task of the read.
    func run<Value>(priority: TaskPriority, _ read: @escaping @Sendable () -> AccessJob<Value>?) {
        DispatchQueue.global(qos: DispatchQoS.QoSClass(priority)).async { [self] in
            let start = DispatchTime.now().uptimeNanoseconds
            let job = read()
            strongroom_lane_leave(closedUntil, DispatchTime.now().uptimeNanoseconds - start)
            job?.wake()
        }
    }
}

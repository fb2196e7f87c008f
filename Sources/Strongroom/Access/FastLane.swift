import CStrongroom
import Dispatch
import Foundation

/// A short cut for the asynchronous reads of a pool: they run where the Swift runtime runs tasks.
///
/// On Linux, tasks run on the threads of Dispatch's global queues. Sending a read to another thread and its result
/// back wakes two threads, which costs ten times what a small read does; a read on a global queue costs nothing more
/// than itself. Tasks must go on all the while. So the lane admits one read of the process at a time, none where there
/// is one core only, and none of a pool for a while after one of its reads that was not small.
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

    /// Takes the lane, unless it is taken or closed.
    func enter() -> Bool {
        Self.isUseful && strongroom_lane_enter(closedUntil)
    }

    /// Gives the lane back, unused.
    func leave() {
        strongroom_lane_leave(closedUntil, 0)
    }

    /// Runs `read` with that priority, gives the lane back, and wakes the task of the read.
    func run<Value>(priority: TaskPriority, _ read: @escaping @Sendable () -> AccessJob<Value>?) {
        DispatchQueue.global(qos: DispatchQoS.QoSClass(priority)).async { [self] in
            let start = DispatchTime.now().uptimeNanoseconds
            let job = read()
            strongroom_lane_leave(closedUntil, DispatchTime.now().uptimeNanoseconds - start)
            job?.wake()
        }
    }
}

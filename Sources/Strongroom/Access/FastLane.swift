import CStrongroom
import Dispatch
import Foundation

/// A short cut for asynchronous reads: they run where the Swift runtime runs tasks.
///
/// On Linux, tasks run on the threads of Dispatch's global queues. Sending a read to another thread and its result back
/// wakes two threads, which costs ten times what a small read does; a read on a global queue costs nothing more than itself.
/// Tasks must go on all the while, so one read at a time takes the lane, none where there is one core only, and none of a database for
/// a while after one of its reads that was not small.
struct FastLane: @unchecked Sendable {
    // Sendable because what it points to is the pool's, which the read holds on to, and atomic.
    private let closedUntil: UnsafeMutablePointer<UInt64>

    private static let isUseful = strongroom_lane_is_shared && ProcessInfo.processInfo.activeProcessorCount > 1

    /// Nil when the lane is taken or closed.
    ///
    /// - parameter closedUntil: when the lane opens again for the database.
    init?(closedUntil: UnsafeMutablePointer<UInt64>) {
        guard Self.isUseful, strongroom_lane_enter(closedUntil) else { return nil }
        self.closedUntil = closedUntil
    }

    /// Gives the lane back, unused.
    func leave() {
        strongroom_lane_leave(closedUntil, 0)
    }

    /// Runs `read` with that priority, and wakes its task when the lane is free again.
    func run<Value>(priority: TaskPriority, _ read: @escaping @Sendable () -> AccessJob<Value>?) {
        DispatchQueue.global(qos: DispatchQoS.QoSClass(priority)).async {
            let start = DispatchTime.now().uptimeNanoseconds
            let job = read()
            strongroom_lane_leave(closedUntil, DispatchTime.now().uptimeNanoseconds - start)
            job?.wake()
        }
    }
}

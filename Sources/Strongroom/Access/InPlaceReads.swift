import Dispatch
import Foundation

/// The awaited reads that run on the thread of their task, without a change of thread.
///
/// A change of thread costs ten times as much as a small read. But a read that runs where tasks run keeps that thread
/// from other tasks. So one read of the process at a time does so, none if there is only one processor, and none of a
/// pool for a while after one of its reads took long.
///
/// Sendable because the time is read and written atomically.
final class InPlaceReads: @unchecked Sendable {
    /// The time from which reads of the pool may run in place again.
    private let closedUntil = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)

    /// True if threads run at the same time.
    static let hasOtherThreads = ProcessInfo.processInfo.activeProcessorCount > 1

    init() {
        closedUntil.initialize(to: 0)
    }

    deinit {
        closedUntil.deallocate()
    }

    /// Returns true if a read may run on the calling thread, and must ``end(after:)``.
    ///
    /// - parameter isolation: the actor of the task. An actor has other work, and its thread may be the only one of its
    ///   kind.
    func begin(_ isolation: (any Actor)?) -> Bool {
        Self.hasOtherThreads && isolation == nil && !CurrentTask.hasExecutorPreference && Lane.enter(closedUntil)
    }

    /// - parameter nanoseconds: the duration of the read.
    func end(after nanoseconds: UInt64) {
        Lane.leave(closedUntil, after: nanoseconds)
    }
}

/// The task that runs on the calling thread.
private enum CurrentTask {
    /// True if the program chose the threads of the task.
    static var hasExecutorPreference: Bool {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, *) else { return false }
        return withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
    }
}

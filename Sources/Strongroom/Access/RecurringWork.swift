import Dispatch

/// Work that is repeated at times of its choice, on a thread of the library's own.
///
/// A timer of Dispatch would need a thread that blocked accesses can use up.
final class RecurringWork: Sendable {
    private let stop = DispatchSemaphore(value: 0)

    /// Runs the work for the first time immediately.
    ///
    /// - parameter work: returns the time of its next run. Nil for none.
    init(_ work: @escaping @Sendable () -> DispatchTime?) {
        Workers.shared.run { [stop] in
            while let time = work(), stop.wait(timeout: time) == .timedOut {}
        }
    }

    deinit {
        cancel()
    }

    /// Ends it. A run that has begun goes on.
    func cancel() {
        stop.signal()
    }
}

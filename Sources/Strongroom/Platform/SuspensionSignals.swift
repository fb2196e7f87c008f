import Dispatch
import Foundation

/// An observer of signals that suspends databases when the system stops or terminates the process.
///
/// It posts ``Database/suspendNotification`` and ``Database/resumeNotification``: databases follow it when
/// ``Configuration/observesSuspensionNotifications`` is set.
///
/// - `SIGTSTP` suspends the databases, waits until none that follows the notification holds a lock, and stops the
///   process. A `SIGCONT` that comes before the stop prevents it. The lock of `openShared` counts, too.
/// - `SIGCONT` resumes the databases.
/// - `SIGTERM` waits for a grace period, suspends the databases, waits at most one second for their locks, and
///   terminates the process.
///
/// Keep the object for as long as it should observe the signals. Releasing it restores the former handlers. A second
/// object at the same time is a fatal error.
public final class SuspensionSignals: @unchecked Sendable {
    // Set once and only cancelled.
    private let source: any DispatchSourceRead
    private let queue = DispatchQueue(label: "Strongroom.SuspensionSignals", qos: .userInitiated)
    private let gracePeriod: TimeInterval
    private let onTermination: @Sendable () -> Void

    /// The time, in seconds, that a process waits for its locks before `SIGTERM` ends it, which releases them, too.
    private static let patience: TimeInterval = 1

    /// Creates an observer of the signals.
    ///
    /// - parameter gracePeriod: the time between `SIGTERM` and the suspension in seconds. Default: 1.
    /// - parameter onTermination: called immediately at `SIGTERM`, to prevent new work. It may end the process.
    ///   Default: does nothing.
    public init(gracePeriod: TimeInterval = 1, onTermination: @escaping @Sendable () -> Void = {}) {
        self.gracePeriod = gracePeriod
        self.onTermination = onTermination
        let pipe = ProcessSignals.begin()
        guard pipe >= 0 else {
            fatalError("The signals are observed already: keep one SuspensionSignals at a time.")
        }
        source = DispatchSource.makeReadSource(fileDescriptor: pipe, queue: queue)
        source.setEventHandler { [weak self] in
            while let self, let signal = ProcessSignals.next() { react(to: signal) }
        }
        source.activate()
    }

    deinit {
        ProcessSignals.end()
        source.cancel()
    }

    private func react(to signal: CInt) {
        switch signal {
        case SIGTSTP:
            Self.suspend()
            stop()
        case SIGCONT:
            NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
        default:
            onTermination()
            queue.asyncAfter(deadline: .now() + gracePeriod) {
                Self.suspend()
                self.terminate(before: .now() + Self.patience)
            }
        }
    }

    private static func suspend() {
        NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
    }

    private func stop() {
        // The sender continues the process. The handler of SIGCONT comes next.
        if ProcessSignals.isContinued { return }
        guard !Suspensions.shared.isLockHeld, ProcessSignals.stop(unless: { Suspensions.shared.isLockHeld })
        else { return schedule { $0.stop() } }
    }

    private func terminate(before end: DispatchTime) {
        guard !Suspensions.shared.isLockHeld || .now() > end else { return schedule { $0.terminate(before: end) } }
        signal(SIGTERM, SIG_DFL)
        kill(getpid(), SIGTERM)
    }

    private func schedule(_ action: @escaping @Sendable (SuspensionSignals) -> Void) {
        queue.asyncAfter(deadline: .now() + .milliseconds(1)) { [weak self] in
            if let self { action(self) }
        }
    }
}

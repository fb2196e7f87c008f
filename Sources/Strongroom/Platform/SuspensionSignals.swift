import Dispatch
import Foundation

/// Suspends databases when the system stops the process, for services that have signals instead of an application life.
///
/// It posts ``Database/suspendNotification`` and ``Database/resumeNotification``: databases follow it when
/// ``Configuration/observesSuspensionNotifications`` is set.
///
/// - `SIGTSTP` suspends, waits until locks are gone, and stops the process.
/// - `SIGCONT` resumes.
/// - `SIGTERM` leaves a grace period to what runs, suspends, and terminates the process.
///
/// Keep the object as long as the signals are to be observed. One object per process.
public final class SuspensionSignals: @unchecked Sendable {
    // Used on `queue` only, once `init` is over.
    private var sources: [any DispatchSourceSignal] = []
    private let queue = DispatchQueue(label: "Strongroom.SuspensionSignals", qos: .userInitiated)
    private let gracePeriod: TimeInterval
    private let onTermination: @Sendable () -> Void

    /// How long it takes interrupted writes to be rolled back.
    private static let suspensionTime: TimeInterval = 0.1

    /// Observes the signals.
    ///
    /// - parameter gracePeriod: seconds between `SIGTERM` and the suspension. Default: 1.
    /// - parameter onTermination: called at once at `SIGTERM`, to keep new work from beginning. It may end the process earlier.
    public init(gracePeriod: TimeInterval = 1, onTermination: @escaping @Sendable () -> Void = {}) {
        self.gracePeriod = gracePeriod
        self.onTermination = onTermination
        observe(SIGTSTP) { $0.stop() }
        observe(SIGCONT) { _ in NotificationCenter.default.post(name: Database.resumeNotification, object: nil) }
        observe(SIGTERM) { $0.terminate() }
    }

    deinit {
        for source in sources {
            source.cancel()
            signal(CInt(source.handle), SIG_DFL)
        }
    }

    private func observe(_ number: CInt, _ react: @escaping @Sendable (SuspensionSignals) -> Void) {
        // The default action would come before ours.
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { [weak self] in
            if let self { react(self) }
        }
        // A signal that came before Dispatch looks for it would be lost: it is ignored already.
        let isObserved = DispatchSemaphore(value: 0)
        source.setRegistrationHandler { isObserved.signal() }
        source.activate()
        isObserved.wait()
        sources.append(source)
    }

    private func suspend() {
        NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
        Thread.sleep(forTimeInterval: Self.suspensionTime)
    }

    private func stop() {
        suspend()
        // Nobody can catch this one. SIGCONT resumes.
        kill(getpid(), SIGSTOP)
    }

    private func terminate() {
        onTermination()
        queue.asyncAfter(deadline: .now() + gracePeriod) { [self] in
            suspend()
            signal(SIGTERM, SIG_DFL)
            kill(getpid(), SIGTERM)
        }
    }
}

import Dispatch
import Foundation

extension DatabaseWriter {
    /// Locks the database at each signal of this number, such as `SIGUSR1`, until the returned object is cancelled or
    /// the database is closed. From the call on, the signal does not end the process. A process can't catch `SIGKILL`
    /// and `SIGSTOP`. If the database can't be locked, ``Database/logError`` gets the error.
    @discardableResult
    public func autoLock(onSignal number: Int32) -> AutoLock {
        locking { $0.lock(atSignal: number) }
    }
}

extension DatabaseLock {
    fileprivate func lock(atSignal number: Int32) -> AutoLock {
        // The source only sees signals that the process survives. On Linux, Dispatch replaces this.
        signal(number, SIG_IGN)
        let source = SignalSource(number) { [weak self] in self?.lockLater() }
        return keep(AutoLock { source.end() })
    }
}

/// Calls a function at each signal until its end.
///
/// Sendable because the source is only activated and cancelled, which any thread may do.
private final class SignalSource: @unchecked Sendable {
    private let source: any DispatchSourceSignal

    init(_ number: Int32, _ react: @escaping @Sendable () -> Void) {
        // A queue of its own: blocked accesses can use up the threads of the global ones.
        let queue = DispatchQueue(label: "Strongroom.AutoLock", qos: .userInitiated)
        source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler(handler: react)
        // A signal that came before would be lost.
        let isRegistered = DispatchSemaphore(value: 0)
        source.setRegistrationHandler { isRegistered.signal() }
        source.activate()
        _ = isRegistered.wait(timeout: .now() + 1)
    }

    func end() {
        source.cancel()
    }
}

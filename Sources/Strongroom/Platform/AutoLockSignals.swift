import Dispatch
import Foundation

extension DatabaseQueue {
    /// Locks the database at each signal of this number, such as `SIGUSR1`, until the returned object is cancelled. The
    /// signal no longer ends the process. A process can't catch `SIGKILL` and `SIGSTOP`.
    @discardableResult
    public func autoLock(onSignal number: Int32) -> AutoLock {
        databaseLock.lock(atSignal: number)
    }
}

extension DatabasePool {
    /// Locks the database at each signal of this number, such as `SIGUSR1`, until the returned object is cancelled. The
    /// signal no longer ends the process. A process can't catch `SIGKILL` and `SIGSTOP`.
    @discardableResult
    public func autoLock(onSignal number: Int32) -> AutoLock {
        databaseLock.lock(atSignal: number)
    }
}

extension DatabaseLock {
    fileprivate func lock(atSignal number: Int32) -> AutoLock {
        #if !os(Linux)
        // Elsewhere the source only sees signals that the process survives. On Linux, Dispatch catches them.
        signal(number, SIG_IGN)
        #endif
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
        source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
        source.setEventHandler(handler: react)
        // A signal that came before would end the process.
        let isRegistered = DispatchSemaphore(value: 0)
        source.setRegistrationHandler { isRegistered.signal() }
        source.activate()
        isRegistered.wait()
    }

    func end() {
        source.cancel()
    }
}

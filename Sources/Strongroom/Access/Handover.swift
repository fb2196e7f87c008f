import Dispatch

/// A value that one thread passes to another thread, which waits for it.
///
/// Sendable because the semaphore orders the one write before the one read.
final class Handover<Value: Sendable>: @unchecked Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private var value: Value?

    /// Passes the value. Called once.
    @Sendable func give(_ value: Value) {
        self.value = value
        semaphore.signal()
    }

    /// Waits for the value, and returns it.
    ///
    /// - parameter willWait: called when the value is not there yet.
    func take(willWait: () -> Void) -> Value {
        if semaphore.wait(timeout: .now()) == .timedOut {
            willWait()
            semaphore.wait()
        }
        guard let value else { preconditionFailure("The semaphore is signalled before the value is there.") }
        return value
    }
}

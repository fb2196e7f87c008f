import Dispatch

/// A value that one thread puts, and another one waits for and takes.
///
/// Sendable because the semaphore orders the one write before the one read.
final class Handover<Value: Sendable>: @unchecked Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private var value: Value?

    /// Puts the value. To be called once.
    @Sendable func put(_ value: Value) {
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

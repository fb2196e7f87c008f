import CStrongroom
import Dispatch
import Foundation

/// One asynchronous access: what to do with the connection, who waits for the result, and whether it was cancelled.
///
/// Sendable because its variables are read and written under `lock` only.
final class AccessJob<Value: Sendable>: @unchecked Sendable {
    typealias Body = (Database) throws -> Value

    private enum Phase {
        case created, cancelledEarly, waiting, running, done
    }

    private let lock = NSLock()
    private var phase = Phase.created
    private var body: Body?
    private var continuation: UnsafeContinuation<Value, any Error>?
    private var connection: UnsafeMutablePointer<strongroom_connection>?

    /// Whether a success counts although the task was cancelled meanwhile: what is written is written.
    private let keepsSuccess: Bool

    init(keepsSuccess: Bool) {
        self.keepsSuccess = keepsSuccess
    }

    /// Takes charge of the continuation. False when the task was cancelled before: then it is resumed already.
    func begin(_ body: @escaping Body, _ continuation: UnsafeContinuation<Value, any Error>) -> Bool {
        lock.lock()
        if phase == .cancelledEarly {
            lock.unlock()
            continuation.resume(throwing: CancellationError())
            return false
        }
        phase = .waiting
        self.body = body
        self.continuation = continuation
        lock.unlock()
        return true
    }

    /// What came out of the work, for the task that waits.
    struct Outcome {
        fileprivate let job: AccessJob
        fileprivate let result: Result<Value, any Error>
        fileprivate let continuation: UnsafeContinuation<Value, any Error>

        /// Wakes the task: once the access has ended, and what it used is free for the task's next one.
        func deliver() {
            job.lock.lock()
            continuation.resume(with: result)
            job.lock.unlock()
        }
    }

    /// Called by the task when it is awake: what woke it is over. The runtime orders the two as well, but does not always tell
    /// Thread Sanitizer, which then takes the reuse of the continuation's memory for a race.
    func settle() {
        lock.lock()
        lock.unlock()
    }

    /// Answers with an error instead of an access.
    func fail(_ error: any Error) {
        lock.lock()
        finishWaiting()?.resume(throwing: error)
        lock.unlock()
    }

    /// Stops the access wherever it is. Safe from any thread, at any time, any number of times.
    func cancel() {
        lock.lock()
        if phase == .created { phase = .cancelledEarly }
        // Under the lock: the connection stays with this job until `perform` has taken the lock to leave it.
        if phase == .running, let connection { strongroom_connection_cancel(connection) }
        finishWaiting()?.resume(throwing: CancellationError())
        lock.unlock()
    }

    /// The body is gone before the continuation is resumed: the caller never let it escape.
    private func finishWaiting() -> UnsafeContinuation<Value, any Error>? {
        guard phase == .waiting else { return nil }
        phase = .done
        body = nil
        defer { continuation = nil }
        return continuation
    }

    /// Does the work, with access to the connection. Nil when the job was cancelled while it waited.
    func perform(on database: Database) -> Outcome? {
        lock.lock()
        guard phase == .waiting, let body, let continuation else {
            lock.unlock()
            return nil
        }
        phase = .running
        connection = database.connection
        self.body = nil
        self.continuation = nil
        lock.unlock()

        let result = Result { try body(database) }

        lock.lock()
        phase = .done
        connection = nil
        lock.unlock()
        let wasCancelled = strongroom_connection_end_cancellation(database.connection)
        return Outcome(job: self, result: wasCancelled ? afterCancellation(result) : result, continuation: continuation)
    }

    private func afterCancellation(_ result: Result<Value, any Error>) -> Result<Value, any Error> {
        switch result {
        case .success:
            return keepsSuccess ? result : .failure(CancellationError())
        case .failure(let error):
            let isInterruption = (error as? DatabaseError)?.isInterruptionError ?? false
            return isInterruption ? .failure(CancellationError()) : result
        }
    }
}

/// Suspends the task until `body` has run where `schedule` sends it. Cancelling the task stops the access.
///
/// - parameter keepsSuccess: false for reads, whose result is of no use to a cancelled task.
func awaitAccess<Value: Sendable>(
    keepsSuccess: Bool,
    _ body: @Sendable (Database) throws -> Value,
    schedule: (AccessJob<Value>) -> Void) async throws -> Value
{
    try Task.checkCancellation()
    let job = AccessJob<Value>(keepsSuccess: keepsSuccess)
    defer { job.settle() }
    return try await withoutActuallyEscaping(body) { body in
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                if job.begin(body, continuation) { schedule(job) }
            }
        } onCancel: {
            job.cancel()
        }
    }
}

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

    /// Held for a few instructions, and never while a continuation is resumed: Swift cancels a task under a lock of the task
    /// that `resume` needs as well.
    private let lock = NSLock()
    private var phase = Phase.created
    private var body: Body?
    private var sleeper: Sleeper?
    private var result: Result<Value, any Error>?
    private var connection: UnsafeMutablePointer<strongroom_connection>?

    /// Whether a success counts although the task was cancelled meanwhile: what is written is written.
    private let keepsSuccess: Bool

    init(keepsSuccess: Bool) {
        self.keepsSuccess = keepsSuccess
    }

    /// The task that waits for the result of the job.
    struct Sleeper {
        fileprivate let continuation: UnsafeContinuation<Void, Never>

        /// Once the access has ended, and what it used is free for the task's next one.
        func wake() {
            continuation.resume()
        }
    }

    /// Takes charge of the continuation. False when the task was cancelled before: then it is resumed already.
    func begin(_ body: @escaping Body, _ continuation: UnsafeContinuation<Void, Never>) -> Bool {
        let sleeper = Sleeper(continuation: continuation)
        let goesOn = lock.withLock {
            if phase == .cancelledEarly {
                result = .failure(CancellationError())
                return false
            }
            phase = .waiting
            self.body = body
            self.sleeper = sleeper
            return true
        }
        if !goesOn { sleeper.wake() }
        return goesOn
    }

    /// What the task finds when it is awake.
    func value() throws -> Value {
        try lock.withLock { result! }.get()
    }

    /// Answers with an error instead of an access.
    func fail(_ error: any Error) {
        lock.withLock { finishWaiting(error) }?.wake()
    }

    /// Stops the access wherever it is. Safe from any thread, at any time, any number of times.
    func cancel() {
        lock.withLock {
            if phase == .created { phase = .cancelledEarly }
            // Under the lock: the connection stays with this job until `perform` has taken the lock to leave it.
            if phase == .running, let connection { strongroom_connection_cancel(connection) }
            return finishWaiting(CancellationError())
        }?.wake()
    }

    /// The body is gone before the task is awake: the caller never let it escape.
    private func finishWaiting(_ error: any Error) -> Sleeper? {
        guard phase == .waiting else { return nil }
        phase = .done
        body = nil
        result = .failure(error)
        defer { sleeper = nil }
        return sleeper
    }

    /// Does the work, with access to the connection, and answers whom to wake. Nil when the job was cancelled while it waited.
    func perform(on database: Database) -> Sleeper? {
        guard let (body, sleeper) = takeBody(for: database.connection) else { return nil }
        let result = Result { try body(database) }
        lock.withLock {
            phase = .done
            connection = nil
        }
        let wasCancelled = strongroom_connection_end_cancellation(database.connection)
        lock.withLock { self.result = wasCancelled ? afterCancellation(result) : result }
        return sleeper
    }

    private func takeBody(for connection: UnsafeMutablePointer<strongroom_connection>) -> (Body, Sleeper)? {
        lock.withLock {
            guard phase == .waiting, let body, let sleeper else { return nil }
            phase = .running
            self.connection = connection
            self.body = nil
            self.sleeper = nil
            return (body, sleeper)
        }
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
    await withoutActuallyEscaping(body) { body in
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                if job.begin(body, continuation) { schedule(job) }
            }
        } onCancel: {
            job.cancel()
        }
    }
    return try job.value()
}

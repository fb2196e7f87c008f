import CStrongroom
import Dispatch
import Foundation

/// One asynchronous access: a task that waits for a connection, and then runs on the thread that has it.
///
/// It is an actor and its own executor: to enter the actor is to wait for a turn. The access is a part of the task, which sees its
/// local values and whether it is cancelled, and yet never runs on a thread that other tasks need.
///
/// What is not isolated is read and written under `lock`, or before and after the task's turn by the thread that gives it.
actor AccessJob<Value: Sendable>: SerialExecutor {
    private enum Phase {
        case created, cancelledEarly, waiting, running, done
    }

    /// The priority of the task.
    nonisolated let priority: TaskPriority

    private nonisolated let schedule: @Sendable (AccessJob) -> Void

    /// Held for a few instructions, and never while a task is resumed: Swift cancels a task under a lock of the task that
    /// resuming it needs as well.
    private nonisolated let lock = NSLock()
    private nonisolated(unsafe) var phase = Phase.created

    /// What runs the task's turn.
    private nonisolated(unsafe) var turn: UnownedJob?

    /// What the turn finds: nothing when the task is to go on without an access.
    private nonisolated(unsafe) var database: Database?
    private nonisolated(unsafe) var connection: UnsafeMutablePointer<strongroom_connection>?
    private nonisolated(unsafe) var result: Result<Value, any Error>?

    /// What takes the job out of a queue once it is cancelled, as long as it waits there.
    private nonisolated(unsafe) var withdrawal: (@Sendable () -> Void)?

    /// The job, while it is being scheduled.
    private nonisolated(unsafe) var scheduled: AccessJob?

    private nonisolated(unsafe) var hasEnded = false
    private nonisolated(unsafe) var sleeper: UnsafeContinuation<Void, Never>?

    /// - parameter schedule: called once, when the task waits, to see to it that ``perform(on:)`` or ``fail(_:)`` is called.
    init(priority: TaskPriority, schedule: @escaping @Sendable (AccessJob) -> Void) {
        self.priority = priority
        self.schedule = schedule
    }

    // MARK: - The task

    /// The task's turn.
    func run(_ body: @Sendable (Database) throws -> Value) {
        guard let database else { return }
        result = Result { try body(database) }
    }

    /// What the task finds after its turn, once what the access used is free for the task's next one.
    nonisolated func value() async throws -> Value {
        if !lock.withLock({ hasEnded }) {
            await withUnsafeContinuation { continuation in
                let isOver = lock.withLock {
                    if !hasEnded { sleeper = continuation }
                    return hasEnded
                }
                if isOver { continuation.resume() }
            }
        }
        return try lock.withLock { result! }.get()
    }

    // MARK: - The executor

    nonisolated var unownedExecutor: UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    nonisolated func asUnownedSerialExecutor() -> UnownedSerialExecutor { unownedExecutor }

    /// The task is there, and waits for its turn.
    ///
    /// From the moment it waits, it may be cancelled, and go on, and leave the job. The runtime, which calls this method, holds no
    /// reference to its executor: the job holds itself.
    nonisolated func enqueue(_ job: UnownedJob) {
        let isCancelled = lock.withLock {
            let isCancelled = phase == .cancelledEarly
            phase = .waiting
            turn = job
            scheduled = self
            return isCancelled
        }
        isCancelled ? fail(CancellationError()) : schedule(self)
        let last = lock.withLock { scheduled.take() }
        withExtendedLifetime(last) {}
    }

    /// Gives the task its turn, with access to the connection. Answers whom to wake when the access has ended: nil when the task
    /// was cancelled while it waited.
    nonisolated func perform(on database: Database) -> AccessJob? {
        guard let turn = takeTurn(for: database) else { return nil }
        turn.runSynchronously(on: unownedExecutor)
        lock.withLock {
            phase = .done
            connection = nil
            self.database = nil
        }
        if strongroom_connection_end_cancellation(database.connection) {
            // What goes with a result that doesn't count may be anything: not under the lock.
            let former = result!
            lock.withLock { result = afterCancellation(former) }
        }
        return self
    }

    private nonisolated func takeTurn(for database: Database) -> UnownedJob? {
        lock.withLock {
            guard phase == .waiting else { return nil }
            phase = .running
            connection = database.connection
            self.database = database
            withdrawal = nil
            defer { turn = nil }
            return turn
        }
    }

    private nonisolated func afterCancellation(_ result: Result<Value, any Error>) -> Result<Value, any Error> {
        // What was written is written, and what was read is read.
        guard case .failure(let error) = result else { return result }
        let isInterruption = (error as? DatabaseError)?.isInterruptionError ?? false
        return isInterruption ? .failure(CancellationError()) : result
    }

    /// Has `withdraw` called, once, should the task be cancelled while it waits. It takes the job out of where it waits.
    nonisolated func whenGivenUp(_ withdraw: @escaping @Sendable () -> Void) {
        let mustWithdraw = lock.withLock {
            if phase == .waiting { withdrawal = withdraw }
            return phase == .done
        }
        if mustWithdraw { withdraw() }
    }

    /// The access has ended.
    nonisolated func wake() {
        let sleeper = lock.withLock {
            hasEnded = true
            defer { self.sleeper = nil }
            return self.sleeper
        }
        sleeper?.resume()
    }

    /// Answers with an error instead of an access.
    nonisolated func fail(_ error: any Error) {
        goOn(lock.withLock { giveUp(error) })
    }

    /// Stops the access wherever it is. Safe from any thread, at any time, any number of times.
    nonisolated func cancel() {
        goOn(lock.withLock {
            if phase == .created { phase = .cancelledEarly }
            // Under the lock: the connection stays with this job until `perform` has taken the lock to leave it.
            if phase == .running, let connection { strongroom_connection_cancel(connection) }
            return giveUp(CancellationError())
        })
    }

    /// What is to be done, outside of the lock, for a task that goes on without an access.
    private typealias Departure = (turn: UnownedJob, withdraw: (@Sendable () -> Void)?)

    private nonisolated func giveUp(_ error: any Error) -> Departure? {
        guard phase == .waiting, let turn = turn.take() else { return nil }
        phase = .done
        hasEnded = true
        result = .failure(error)
        return (turn, withdrawal.take())
    }

    /// Never on the calling thread, which may be about to suspend the task, or hold a lock of it.
    private nonisolated func goOn(_ departure: Departure?) {
        guard let departure else { return }
        departure.withdraw?()
        let turn = departure.turn
        DispatchQueue.global().async(priority: priority) { turn.runSynchronously(on: self.unownedExecutor) }
    }
}

/// Runs `body` as a part of the task, where `schedule` finds it a connection. Cancelling the task stops the access.
func awaitAccess<Value: Sendable>(
    _ body: @Sendable (Database) throws -> Value,
    schedule: @escaping @Sendable (AccessJob<Value>) -> Void) async throws -> Value
{
    try Task.checkCancellation()
    let job = AccessJob<Value>(priority: Task.currentPriority, schedule: schedule)
    return try await withTaskCancellationHandler {
        await job.run(body)
        return try await job.value()
    } onCancel: {
        job.cancel()
    }
}

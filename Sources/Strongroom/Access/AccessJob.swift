/// One asynchronous access: a task that waits for a connection, and then runs on the thread that has it.
///
/// It is an actor and its own executor, so that entering the actor waits for a turn. The access is a part of the task:
/// it has the task's local values and cancellation. It never runs on a thread of Swift's runtime that other tasks need.
actor AccessJob<Value: Sendable>: SerialExecutor {
    private enum Phase {
        case created, cancelledEarly

        /// The task waits for its turn, which the job runs. `withdraw` removes the access from the queue where it
        /// waits.
        case waiting(UnownedJob, withdraw: (@Sendable () -> Void)?)

        /// The task has its turn, with access to the connection.
        case running(Database)

        case done
    }

    private struct State {
        var phase = Phase.created
        var isCancelled = false
        var result: Result<Value, any Error>?

        /// True when the resources of the access are free for the next one.
        var hasEnded = false

        /// Lets the task go on that waits for the end of the access.
        var atEnd: (@Sendable () -> Void)?

        /// The job, while it is being scheduled.
        var scheduled: AccessJob?
    }

    /// The priority of the task.
    nonisolated let priority: TaskPriority

    private nonisolated let schedule: @Sendable (AccessJob) -> Void

    /// Held for a few instructions, and never while a task is resumed: Swift cancels a task while it holds a lock of
    /// the task, which resuming the task needs too.
    private nonisolated let state = Mutex(State())

    /// - parameter schedule: called once, when the task waits. It arranges that ``perform(on:)`` or ``fail(_:)`` is
    ///   called.
    init(priority: TaskPriority, schedule: @escaping @Sendable (AccessJob) -> Void) {
        self.priority = priority
        self.schedule = schedule
    }

    // MARK: - The task

    /// Runs `body` in the task's turn. Does nothing without a connection, when the task was cancelled or failed.
    func run(_ body: @Sendable (Database) throws -> Value) {
        guard case .running(let database) = state.withLock(\.phase) else { return }
        let result = Result { try body(database) }
        state.withLock { $0.result = result }
    }

    /// Returns the result of the turn, when the resources of the access are free for the task's next one.
    nonisolated func value() async throws -> Value {
        if !state.withLock(\.hasEnded) { await AccessEnd(schedule: atEnd).pass() }
        guard let result = state.withLock(\.result) else {
            preconditionFailure("An access has ended without a result.")
        }
        return try result.get()
    }

    // MARK: - The executor

    nonisolated var unownedExecutor: UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    nonisolated func asUnownedSerialExecutor() -> UnownedSerialExecutor { unownedExecutor }

    /// Schedules the access. The runtime calls it when the task waits for its turn.
    ///
    /// From then on the task can be cancelled, go on, and release the job. The runtime holds no reference to its
    /// executor, so the job holds one to itself.
    nonisolated func enqueue(_ job: UnownedJob) {
        let isCancelled = state.withLock { state in
            defer { state.phase = .waiting(job, withdraw: nil) }
            state.scheduled = self
            if case .cancelledEarly = state.phase { return true } else { return false }
        }
        isCancelled ? fail(CancellationError()) : schedule(self)
        let last = state.withLock { $0.scheduled.take() }
        withExtendedLifetime(last) {}
    }

    /// Runs the task's turn with access to the connection. Returns the job to wake when the access has ended. Nil if
    /// the task was cancelled while it waited.
    nonisolated func perform(on database: Database) -> AccessJob? {
        guard let turn = beginTurn(with: database) else { return nil }
        turn.runSynchronously(on: unownedExecutor)
        end(with: database)
        return self
    }

    /// Runs `body` with the connection on the calling thread, which is the task's, and returns its result.
    nonisolated func perform(_ body: (Database) throws -> Value, on database: Database) throws -> Value {
        let isCancelled = state.withLock { state in
            if case .cancelledEarly = state.phase { return true }
            state.phase = .running(database)
            return false
        }
        if isCancelled { throw CancellationError() }
        let result = Result { try body(database) }
        state.withLock { $0.result = result }
        end(with: database)
        return try state.withLock(\.result)?.get() ?? result.get()
    }

    /// Releases the connection from the job, and settles the result of an access that was stopped.
    private nonisolated func end(with database: Database) {
        let isUndone = database.stops.rollBackStoppedTransaction()
        let (result, isCancelled) = state.withLock { state in
            state.phase = .done
            return (state.result, state.isCancelled)
        }
        if isCancelled { database.connection.endCancellation() }
        // Releasing a discarded result may run any code: `result` keeps it until the lock is released.
        if isCancelled || isUndone, let result {
            state.withLock { $0.result = afterStop(result, isCancelled: isCancelled, isUndone: isUndone) }
        }
    }

    private nonisolated func beginTurn(with database: Database) -> UnownedJob? {
        state.withLock { state in
            guard case .waiting(let turn, _) = state.phase else { return nil }
            state.phase = .running(database)
            return turn
        }
    }

    /// Returns the result of an access that was stopped. A finished result counts, unless the library rolled its work
    /// back.
    private nonisolated func afterStop(
        _ result: Result<Value, any Error>, isCancelled: Bool, isUndone: Bool
    ) -> Result<Value, any Error> {
        switch result {
        case .success:
            return isUndone ? .failure(isCancelled ? CancellationError() : DatabaseError.aborted) : result
        case .failure(let error):
            let isInterruption = (error as? DatabaseError)?.isInterruptionError ?? false
            return isCancelled && isInterruption ? .failure(CancellationError()) : result
        }
    }

    /// Sets the function that removes the access from the queue where it waits. It is called once, if the task is
    /// cancelled meanwhile.
    nonisolated func onWithdrawal(_ withdraw: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            switch state.phase {
            case .waiting(let turn, _):
                state.phase = .waiting(turn, withdraw: withdraw)
                return false
            case .done: return true
            case .created, .cancelledEarly, .running: return false
            }
        }
        if isCancelled { withdraw() }
    }

    /// Lets the task go on, as the access has ended. Its next access may follow.
    nonisolated func wake() {
        WaitingPlace.expectWork()
        let action = state.withLock { state in
            state.hasEnded = true
            return state.atEnd.take()
        }
        action?()
    }

    /// Calls `action` when the access has ended.
    @Sendable private nonisolated func atEnd(_ action: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.atEnd = action }
            return state.hasEnded
        }
        if hasEnded { resumptions.async(priority: priority, action) }
    }

    /// Ends the wait of the task with an error.
    nonisolated func fail(_ error: any Error) {
        resume(state.withLock { endWait(&$0, error) })
    }

    /// Stops the access wherever it is. Safe from any thread, at any time, any number of times.
    nonisolated func cancel() {
        resume(
            state.withLock { state in
                state.isCancelled = true
                if case .created = state.phase { state.phase = .cancelledEarly }
                // Under the lock: the connection stays with the job until `perform` has taken the lock to release it.
                if case .running(let database) = state.phase { database.connection.cancel() }
                return endWait(&state, CancellationError())
            })
    }

    /// The work that remains, outside of the lock, for a task that goes on without an access.
    private typealias EndOfWait = (turn: UnownedJob, withdraw: (@Sendable () -> Void)?)

    private nonisolated func endWait(_ state: inout State, _ error: any Error) -> EndOfWait? {
        guard case .waiting(let turn, let withdraw) = state.phase else { return nil }
        state.phase = .done
        state.hasEnded = true
        state.result = .failure(error)
        return (turn, withdraw)
    }

    /// Resumes the task on another thread. The calling thread may be about to suspend the task, or hold one of its
    /// locks.
    private nonisolated func resume(_ end: EndOfWait?) {
        guard let (turn, withdraw) = end else { return }
        withdraw?()
        resumptions.async(priority: priority) { turn.runSynchronously(on: self.unownedExecutor) }
    }
}

/// The end of an access, which a task enters to wait for it.
///
/// A continuation would do the same, but Swift resumes its task on a thread of Dispatch, which the task leaves for its
/// actor's.
private actor AccessEnd: SerialExecutor {
    private nonisolated let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// - parameter schedule: calls its argument when the access has ended.
    init(schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.schedule = schedule
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    nonisolated func asUnownedSerialExecutor() -> UnownedSerialExecutor { unownedExecutor }

    nonisolated func enqueue(_ job: UnownedJob) {
        schedule { job.runSynchronously(on: self.unownedExecutor) }
    }

    /// Returns when the access has ended.
    func pass() {}
}

/// Resumes the tasks whose accesses have ended before they began. One thread is enough: no resumption blocks.
private let resumptions = AccessLine(qos: .unspecified)

/// Runs `body` as a part of the task, on the connection that `schedule` finds. Cancelling the task stops the access.
///
/// The task goes from the caller's actor to the connection and back, and to no other thread in between.
func awaitAccess<Value: Sendable>(
    _ body: @Sendable (Database) throws -> Value,
    isolation: isolated (any Actor)? = #isolation,
    schedule: @escaping @Sendable (AccessJob<Value>) -> Void
) async throws -> Value {
    try Task.checkCancellation()
    let job = AccessJob<Value>(priority: Task.currentPriority, schedule: schedule)
    return try await withTaskCancellationHandler {
        // The closure runs on the actor that it captures.
        _ = isolation
        await job.run(body)
        return try await job.value()
    } onCancel: {
        job.cancel()
    }
}

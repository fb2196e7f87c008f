extension DatabasePool {
    /// Runs `updates` with the writer, outside of any transaction.
    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try tracing.run(.write) {
            guard readers.isAccessed else { return try writer.sync(updates) }
            // The next access in the writer's line may be a barrier that waits for this thread's read.
            return try readers.duringWriteInRead { try writer.sync(by: .direct, updates) }
        }
    }

    /// Suspends the task instead of blocking the thread.
    public func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        guard let tracer = tracing.tracer else { return try await awaitAccess(updates, schedule: writer.async) }
        return try await tracing.run(.write, with: tracer) { try await awaitAccess(updates, schedule: writer.async) }
    }

    /// Runs `updates` later with the writer, outside of any transaction.
    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        writer.async(tracing.later(.write, updates))
    }

    /// Runs `updates` with the writer, outside of any transaction, even inside of another write.
    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T {
        if writer.isAccessed { return try updates(writer.accessed) }
        return try writeWithoutTransaction(updates)
    }

    /// Runs `updates` in a transaction. Commits or rolls back, as the block returns, and rolls back when it throws.
    ///
    /// Blocks until `updates` has run. Not reentrant.
    ///
    /// - parameters:
    ///   - kind: the kind of the transaction. Default: ``Configuration/defaultTransactionKind``.
    ///   - updates: the block, which returns `.commit` or `.rollback`.
    public func writeInTransaction(
        _ kind: Database.TransactionKind? = nil,
        _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws {
        try writeWithoutTransaction { db in
            try db.inTransaction(kind) { try updates(db) }
        }
    }

    // MARK: - Barriers

    // In its turn with the writer, a barrier waits for the readers before it takes the writer. Meanwhile the only
    // writes that overtake it are those inside of the reads that it waits for.

    /// Runs `updates` with the writer while no other access of the pool runs.
    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        if readers.isAccessed { reentrancyError("a reader of \(path)") }
        return try tracing.run(.barrier) {
            try writer.sync(between: readers.raiseBarrierOrThrow, and: readers.lowerBarrier, updates)
        }
    }

    /// Suspends the task instead of blocking the thread.
    public func barrierWriteWithoutTransaction<T: Sendable>(
        _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        guard let tracer = tracing.tracer else { return try await awaitBarrier(updates) }
        return try await tracing.run(.barrier, with: tracer) { try await awaitBarrier(updates) }
    }

    private func awaitBarrier<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        let (readers, writer) = (readers, writer)
        return try await awaitAccess(updates) { job in
            if writer.isLeaving { return job.fail(DatabaseError.shutDown) }
            writer.later(priority: job.priority) { Self.runBarrier(job, readers, writer) }
        }
    }

    private static func runBarrier<T>(_ job: AccessJob<T>, _ readers: ReaderPool, _ writer: SerializedConnection) {
        let outcome = readers.raiseBarrier(withdrawal: job.onWithdrawal)
        switch outcome {
        case .withdrawn:
            break
        case .closed, .locked:
            outcome.refusal.map(job.fail)
        case .raised:
            let performed = writer.sync(by: .inTurn, job.perform)
            readers.lowerBarrier()
            performed?.wake()
        }
    }

    /// Runs `updates` later with the writer, while no other access of the pool runs.
    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        let (readers, writer, updates) = (readers, writer, tracing.later(.barrier, updates))
        writer.later {
            if let refusal = readers.raiseBarrier().refusal {
                return readers.refusals.async { updates(.failure(refusal)) }
            }
            writer.sync(by: .inTurn) { updates(.success($0)) }
            readers.lowerBarrier()
        }
    }
}

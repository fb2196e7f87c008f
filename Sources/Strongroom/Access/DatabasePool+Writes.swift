import Dispatch

extension DatabasePool {
    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T {
        guard readers.isAccessed else { return try writer.sync(updates) }
        // The next in the writer's queue may be a barrier that waits for this thread's read.
        return try readers.duringWriteInRead { try writer.sync(by: .direct, updates) }
    }

    public func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await awaitAccess(updates, schedule: writer.async)
    }

    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        writer.async(updates)
    }

    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T {
        if writer.isAccessed { return try updates(writer.accessed) }
        return try writeWithoutTransaction(updates)
    }

    /// Runs `updates` in a transaction: committed or rolled back as they answer, rolled back when they throw.
    ///
    /// Blocks until `updates` has run. Not reentrant.
    ///
    /// - parameter kind: by default ``Configuration/defaultTransactionKind``.
    public func writeInTransaction(
        _ kind: Database.TransactionKind? = nil,
        _ updates: (Database) throws -> Database.TransactionCompletion) throws
    {
        try writeWithoutTransaction { db in
            try db.inTransaction(kind) { try updates(db) }
        }
    }

    // MARK: - Barriers

    // A barrier at the head of the writer's queue waits for the readers, and then has the writer: meanwhile no write
    // gets ahead of it but those inside of the reads that it waits for.

    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        if readers.isAccessed { reentrancyError("a reader of \(path)") }
        return try writer.sync(between: readers.raiseBarrierOrThrow, and: readers.lowerBarrier, updates)
    }

    public func barrierWriteWithoutTransaction<T: Sendable>(
        _ updates: @Sendable (Database) throws -> T) async throws -> T
    {
        let (readers, writer) = (readers, writer)
        return try await awaitAccess(updates) { job in
            writer.asyncOnQueue(priority: job.priority) { Self.runBarrier(job, readers, writer) }
        }
    }

    private static func runBarrier<T>(_ job: AccessJob<T>, _ readers: ReaderPool, _ writer: SerializedConnection) {
        switch readers.raiseBarrier(withdrawal: job.onWithdrawal) {
        case .withdrawn:
            break
        case .closed:
            job.fail(DatabaseError.closed)
        case .raised:
            let performed = writer.sync(by: .onQueue, job.perform)
            readers.lowerBarrier()
            performed?.wake()
        }
    }

    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void)
    {
        let (readers, writer) = (readers, writer)
        writer.asyncOnQueue {
            guard readers.raiseBarrier() == .raised else {
                return DispatchQueue.global().async { updates(.failure(DatabaseError.closed)) }
            }
            writer.sync(by: .onQueue) { updates(.success($0)) }
            readers.lowerBarrier()
        }
    }
}

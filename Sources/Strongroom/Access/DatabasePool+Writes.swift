import Dispatch

extension DatabasePool {
    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try writer.sync(updates)
    }

    public func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await awaitAccess(updates, schedule: writer.async)
    }

    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        writer.async(updates)
    }

    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try writer.reentrantSync(updates)
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
        try writer.sync { db in
            try db.inTransaction(kind) { try updates(db) }
        }
    }

    // MARK: - Barriers

    // The writer comes first: who has it and waits for readers lets none in, and who reads never waits for the writer.

    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        if readers.isAccessed { reentrancyError("a reader of \(path)") }
        return try writer.sync { db in
            try readers.barrier { try updates(db) }
        }
    }

    public func barrierWriteWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        let (writer, readers) = (writer, readers)
        // The task waits until nobody reads, so that it can be cancelled meanwhile.
        return try await awaitAccess(updates) { job in
            writer.async(job) { db in
                do {
                    return try readers.barrier(awaitedBy: job) { job.perform(on: db) }
                } catch {
                    job.fail(error)
                    return nil
                }
            }
        }
    }

    public func asyncBarrierWriteWithoutTransaction(_ updates: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        let readers = readers
        writer.async { db in
            do {
                try readers.barrier { updates(.success(db)) }
            } catch {
                updates(.failure(error))
            }
        }
    }
}

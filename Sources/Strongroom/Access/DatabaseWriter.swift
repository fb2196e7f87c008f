/// A type that reads and writes a database.
///
/// ``DatabaseQueue`` and ``DatabasePool`` are writers. The writes of one writer run one after the other.
public protocol DatabaseWriter: DatabaseReader {
    /// Runs `updates` outside of any transaction, while no other write runs.
    ///
    /// Blocks until `updates` has run. Not reentrant.
    func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T

    /// Suspends the task instead of blocking the thread.
    ///
    /// - throws: also `CancellationError`, if the task is cancelled before `updates` has run.
    func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `updates` later, outside of any transaction, while no other write runs. Returns immediately.
    func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void)

    /// Runs `updates` outside of any transaction, while no other access runs: after all reads and writes that came
    /// before, and before those that come later. Reads of snapshots go on.
    ///
    /// Blocks until `updates` has run. Not reentrant.
    ///
    /// - throws: the error that `updates` throws, or `SQLITE_MISUSE` if the database is closed.
    func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T

    /// Suspends the task instead of blocking the thread.
    func barrierWriteWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `updates` later, outside of any transaction, while no other access runs. Returns immediately.
    func asyncBarrierWriteWithoutTransaction(_ updates: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Runs `updates` outside of any transaction, even inside of another write.
    ///
    /// Blocks until `updates` has run. Inside of a write with a transaction, `updates` belongs to that transaction.
    /// Prefer to pass `db` along.
    func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T

    /// Reads the state that the last transaction has left, while later writes go on.
    ///
    /// Returns as soon as a reader holds that state. A ``DatabaseQueue`` runs `value` immediately.
    ///
    /// - precondition: called inside of a write and outside of any transaction. Otherwise it is a fatal error.
    func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Releases all locks that keep others out, and takes none until ``resume()``.
    ///
    /// Running writes are interrupted and rolled back. Later ones throw `SQLITE_ABORT` with the reason `suspended`, for
    /// which ``DatabaseError/isInterruptionError`` is true. Reads go on in WAL mode only: in other journal modes, a
    /// read lock keeps writers out. Safe to call from any thread. Returns immediately. See
    /// ``Configuration/observesSuspensionNotifications``.
    func suspend()

    /// Ends a suspension. Does nothing if the database is not suspended.
    func resume()

    /// Makes later reads open new connections. Running reads go on with theirs.
    ///
    /// Default: does nothing, for writers whose reads use the connection that writes.
    func invalidateReadOnlyConnections()
}

extension DatabaseWriter {
    /// Does nothing.
    public func invalidateReadOnlyConnections() {}

    // MARK: - Transactions

    /// Runs `updates` in a transaction. Commits when the block returns, and rolls back when it throws.
    ///
    /// Blocks until `updates` has run. Not reentrant.
    ///
    /// - throws: the error that `updates` throws, or the `DatabaseError` of the transaction.
    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try writeWithoutTransaction { try $0.committing(updates) }
    }

    /// Suspends the task instead of blocking the thread.
    ///
    /// - throws: also `CancellationError`, if the task is cancelled before the commit. Nothing is written in this case.
    public func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await writeWithoutTransaction { try $0.committing(updates) }
    }

    /// Runs `updates` later, in a transaction, and then `completion` with the result, before any other write. Returns
    /// immediately.
    public func asyncWrite<T>(
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void
    ) {
        asyncWriteWithoutTransaction { db in
            completion(db, Result { try db.committing(updates) })
        }
    }

    /// Runs `updates` later, in a transaction, and then `completion` with the result. Returns immediately.
    public func asyncWrite<T>(
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        asyncWrite(updates) { _, result in completion(result) }
    }

    // MARK: - The whole database

    /// Removes all content: tables, indexes, views, triggers, `user_version` and `application_id`. The key stays the
    /// same.
    ///
    /// - throws: `SQLITE_BUSY` when another process uses the database.
    public func erase() throws {
        try barrierWriteWithoutTransaction { try $0.erase() }
    }

    /// Suspends the task instead of blocking the thread.
    public func erase() async throws {
        try await barrierWriteWithoutTransaction { try $0.erase() }
    }

    /// Rebuilds the file without unused pages. <https://www.sqlite.org/lang_vacuum.html>
    public func vacuum() throws {
        try writeWithoutTransaction { try $0.vacuum() }
    }

    /// Suspends the task instead of blocking the thread.
    public func vacuum() async throws {
        try await writeWithoutTransaction { try $0.vacuum() }
    }

    /// Writes a copy without unused pages into a new file. The same configuration opens it.
    ///
    /// Do not use the SQL statement `VACUUM INTO` instead: with other than SQLCipher's default settings, it writes a
    /// database that no key opens, and it omits plaintext headers.
    ///
    /// - throws: `SQLITE_CANTOPEN` with the reason `fileExists` if the file or one of its sidecars exists.
    ///
    /// Source: <https://www.sqlite.org/lang_vacuum.html#vacuuminto>.
    public func vacuum(into filePath: String) throws {
        try writeWithoutTransaction { try $0.vacuum(into: filePath) }
    }

    /// Suspends the task instead of blocking the thread.
    public func vacuum(into filePath: String) async throws {
        try await writeWithoutTransaction { try $0.vacuum(into: filePath) }
    }

    // MARK: - Concurrent reads

    /// Reads the state that the last transaction has left, while later writes go on. The future returns the result.
    ///
    /// - precondition: called inside of a write and outside of any transaction. Otherwise it is a fatal error.
    public func concurrentRead<T>(_ value: @escaping @Sendable (Database) throws -> T) -> DatabaseFuture<T> {
        let future = DatabaseFuture<T>()
        spawnConcurrentRead { db in future.fulfill(Result { try value(db.get()) }) }
        return future
    }
}

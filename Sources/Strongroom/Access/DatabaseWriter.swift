/// Reads and writes a database.
///
/// ``DatabaseQueue`` and ``DatabasePool`` are writers. All writes of one writer come one after the other.
public protocol DatabaseWriter: DatabaseReader {
    /// Runs `updates` outside of any transaction, alone among the writes.
    ///
    /// Blocks until `updates` has run. Not reentrant.
    func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T

    /// Suspends the task instead of blocking the thread.
    ///
    /// - throws: `CancellationError` as well, when the task was cancelled before `updates` were done.
    func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `updates` later, outside of any transaction, alone among the writes.
    func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void)

    /// Runs `updates` outside of any transaction, alone: when all reads and writes that came before are done, and
    /// before those that come later. Snapshots read on.
    ///
    /// Blocks until `updates` has run. Not reentrant.
    ///
    /// - throws: what `updates` throw, or `SQLITE_MISUSE` when the database is closed.
    func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T

    /// Suspends the task instead of blocking the thread.
    func barrierWriteWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `updates` later, outside of any transaction, alone.
    func asyncBarrierWriteWithoutTransaction(_ updates: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Runs `updates` outside of any transaction, even from inside another write.
    ///
    /// Blocks until `updates` has run. It blurs where transactions begin and end: prefer to pass `db` along.
    func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T

    /// Reads the state that the last transaction has left, while other writes go on.
    ///
    /// Call it inside of a write and outside of any transaction; anything else is a fatal error. Returns as soon as
    /// the state is held; a ``DatabaseQueue`` runs `value` at once.
    func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Lets go of all locks that others could wait for, and takes none, until ``resume()``.
    ///
    /// Writes that run are interrupted and rolled back, others are refused: the error answers true to
    /// ``DatabaseError/isInterruptionError``. Reads of a database in WAL mode go on. Safe from any thread, returns at
    /// once. See ``Configuration/observesSuspensionNotifications``.
    func suspend()

    /// Ends a suspension. Without one, does nothing.
    func resume()

    /// Reads that follow open new connections; those that run go on with theirs.
    ///
    /// Default: nothing, where reads have no connections of their own.
    func invalidateReadOnlyConnections()
}

extension DatabaseWriter {
    public func invalidateReadOnlyConnections() {}

    // MARK: - Transactions

    /// Runs `updates` in a transaction: committed at the end, rolled back when they throw.
    ///
    /// Blocks until `updates` has run. Not reentrant.
    ///
    /// - throws: what `updates` throw, or the `DatabaseError` of the transaction.
    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try writeWithoutTransaction { try $0.committing(updates) }
    }

    /// Suspends the task instead of blocking the thread.
    ///
    /// - throws: `CancellationError` as well, when the task was cancelled before the commit; nothing is written then.
    public func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await writeWithoutTransaction { try $0.committing(updates) }
    }

    /// Runs `updates` later, in a transaction, then `completion` with the result, before any other write.
    public func asyncWrite<T>(
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void)
    {
        asyncWriteWithoutTransaction { db in
            completion(db, Result { try db.committing(updates) })
        }
    }

    /// Runs `updates` later, in a transaction, then `completion` with the result alone.
    public func asyncWrite<T>(
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Result<T, any Error>) -> Void)
    {
        asyncWrite(updates) { _, result in completion(result) }
    }

    // MARK: - The whole database

    /// Removes all content: tables, indexes, views, triggers, `user_version` and `application_id`. The key stays.
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
        try writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
    }

    /// Suspends the task instead of blocking the thread.
    public func vacuum() async throws {
        try await writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
    }

    /// Writes a copy without unused pages into a new file, which the same configuration opens.
    ///
    /// The statement `VACUUM INTO` alone would write a database of other than SQLCipher's default settings as one that
    /// nothing opens, and no plaintext header. <https://www.sqlite.org/lang_vacuum.html#vacuuminto>
    ///
    /// - throws: `SQLITE_ERROR` or `SQLITE_CANTOPEN` when the file exists and is not empty.
    public func vacuum(into filePath: String) throws {
        try writeWithoutTransaction { try $0.vacuum(into: filePath) }
    }

    /// Suspends the task instead of blocking the thread.
    public func vacuum(into filePath: String) async throws {
        try await writeWithoutTransaction { try $0.vacuum(into: filePath) }
    }

    // MARK: - Concurrent reads

    /// Reads the state that the last transaction has left, while other writes go on; the result is for the future to
    /// give.
    ///
    /// Call it inside of a write and outside of any transaction; anything else is a fatal error.
    public func concurrentRead<T>(_ value: @escaping @Sendable (Database) throws -> T) -> DatabaseFuture<T> {
        let future = DatabaseFuture<T>()
        spawnConcurrentRead { db in future.fulfill(Result { try value(db.get()) }) }
        return future
    }
}

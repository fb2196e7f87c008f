/// A type that reads a database.
///
/// ``DatabaseQueue``, ``DatabasePool`` and ``DatabaseSnapshot`` are readers.
public protocol DatabaseReader: AnyObject, Sendable {
    /// The configuration of the connections.
    var configuration: Configuration { get }

    /// The path of the database file.
    var path: String { get }

    /// Closes the database, after the accesses that came before. Later accesses throw `SQLITE_MISUSE`.
    ///
    /// Closing again does nothing.
    ///
    /// - throws: `SQLITE_BUSY` when the program keeps a statement; ``Database/logError`` lists such statements. The
    ///   database stays open, a pool with all its connections. Close it again when the statements are released.
    ///   `SQLITE_BUSY` also inside of an access to a snapshot whose end a lock of the pool waits for.
    func close() throws

    /// Interrupts the running statements of the connections, which throw `SQLITE_INTERRUPT`.
    ///
    /// Does not interrupt accesses that have not begun. Safe to call from any thread.
    /// <https://www.sqlite.org/c3ref/interrupt.html>
    func interrupt()

    // MARK: - Safe reads

    /// Runs `value` in a transaction that sees one state of the database and can't write: writes throw
    /// `SQLITE_READONLY`.
    ///
    /// Blocks until `value` has run. Not reentrant.
    ///
    /// - throws: the error that `value` throws, or the `DatabaseError` that kept the read from beginning.
    func read<T>(_ value: (Database) throws -> T) throws -> T

    /// Suspends the task instead of blocking the thread.
    ///
    /// - throws: also `CancellationError`, if the task is cancelled before the read has ended.
    func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `value` later, in a transaction that sees one state of the database and can't write. Returns immediately.
    ///
    /// `value` gets the error if the read could not begin.
    func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    // MARK: - Unsafe reads

    /// Runs `value` outside of any transaction. It may see other connections' changes from one statement to the next.
    ///
    /// Blocks until `value` has run. Not reentrant. In a ``DatabaseQueue``, `value` can write.
    func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T

    /// Suspends the task instead of blocking the thread.
    func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `value` later, outside of any transaction. Returns immediately.
    func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Runs `value` outside of any transaction, even inside of another access.
    ///
    /// Blocks until `value` has run. The call can deadlock, and can read an older state than the access around it.
    /// Prefer to pass `db` along.
    func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T
}

/// A type that reads one state of a database: that which the database had when the reader was created.
public protocol DatabaseSnapshotReader: DatabaseReader {
    /// Runs `value`, even inside of another access to the snapshot.
    func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T
}

extension DatabaseSnapshotReader {
    // All reads of a snapshot are isolated, so that reads without a transaction are safe.

    /// Runs `value` in the state of the snapshot. Equivalent to `read(_:)`.
    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try read(value)
    }

    /// Runs `value` later in the state of the snapshot. Equivalent to `asyncRead(_:)`.
    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncRead(value)
    }
}

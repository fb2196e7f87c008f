/// Reads a database.
///
/// ``DatabaseQueue``, ``DatabasePool`` and ``DatabaseSnapshot`` are readers.
public protocol DatabaseReader: AnyObject, Sendable {
    /// The settings of the connections.
    var configuration: Configuration { get }

    /// The path of the database file.
    var path: String { get }

    /// Closes the database, after all accesses that came before; further ones throw `SQLITE_MISUSE`.
    ///
    /// Closing twice does nothing more.
    ///
    /// - throws: `SQLITE_BUSY` when statements are alive, which ``Database/logError`` gets. The database stays open
    ///   then, a pool with all that it had: close it again when they are gone.
    func close() throws

    /// Interrupts what the connections do at this moment: it throws `SQLITE_INTERRUPT`.
    ///
    /// Accesses that have not begun are not interrupted. Safe from any thread.
    /// <https://www.sqlite.org/c3ref/interrupt.html>
    func interrupt()

    // MARK: - Safe reads

    /// Runs `value` in a transaction where it sees one state of the database, and can't write: `SQLITE_READONLY`.
    ///
    /// Blocks until `value` has run. Not reentrant.
    ///
    /// - throws: what `value` throws, or the `DatabaseError` that kept the read from beginning.
    func read<T>(_ value: (Database) throws -> T) throws -> T

    /// Suspends the task instead of blocking the thread.
    ///
    /// - throws: `CancellationError` as well, when the task is cancelled before the end of the read.
    func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `value` later, in a transaction where it sees one state of the database, and can't write.
    ///
    /// `value` gets the error when the read could not begin.
    func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    // MARK: - Unsafe reads

    /// Runs `value` outside of any transaction: it may see the changes of others from one statement to the next.
    ///
    /// Blocks until `value` has run. Not reentrant. In a ``DatabaseQueue``, `value` can write.
    func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T

    /// Suspends the task instead of blocking the thread.
    func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T

    /// Runs `value` later, outside of any transaction.
    func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Runs `value` outside of any transaction, even from inside another access.
    ///
    /// Blocks until `value` has run. It invites deadlocks and stale reads: prefer to pass `db` along.
    func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T
}

/// Reads one state of a database, that of its creation, for as long as it lives.
public protocol DatabaseSnapshotReader: DatabaseReader {
    /// Runs `value`, even from inside another access to the snapshot.
    func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T
}

extension DatabaseSnapshotReader {
    // All reads of a snapshot are isolated: there is nothing unsafe in doing without a transaction.

    /// The same as a read.
    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try read(value)
    }

    /// The same as a read.
    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncRead(value)
    }
}

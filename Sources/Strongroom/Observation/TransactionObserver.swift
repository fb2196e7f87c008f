import CStrongroom

/// An object that is notified of the changes of a connection, and of its transactions.
///
/// Add it with ``DatabaseWriter/add(transactionObserver:extent:)``. It is called with the connection, before any other
/// use of it. Only what goes through this database object is seen: no other process, and no other connection.
///
/// Not notified, because SQLite doesn't report them: rows that `ON CONFLICT REPLACE` removes, tables without rowid,
/// virtual tables, and SQLite's own tables. <https://www.sqlite.org/c3ref/update_hook.html>
public protocol TransactionObserver: AnyObject {
    /// Returns true if ``databaseDidChange(with:)`` is to be called for such changes.
    ///
    /// Called before each statement that may change something. For false, the statement costs nothing more.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool

    /// Something changed, by ``Database/notifyChanges(in:)``. Default: does nothing.
    func databaseDidChange()

    /// A row changed. The transaction may still be rolled back.
    ///
    /// Must not use the database. Changes in a savepoint are notified when the outermost savepoint is released, and
    /// never when they were rolled back.
    ///
    /// - parameter event: only valid now: make a ``DatabaseEvent/copy()`` of an event that is to be kept.
    func databaseDidChange(with event: DatabaseEvent)

    /// A transaction is about to be committed. An error that is thrown rolls it back, and is thrown by the commit.
    ///
    /// Must not use the database. Default: does nothing.
    func databaseWillCommit() throws

    /// A transaction was committed. The connection can be used, outside of any transaction.
    ///
    /// Not called for transactions that could have changed nothing.
    func databaseDidCommit(_ db: Database)

    /// A transaction was rolled back. The connection can be used, outside of any transaction.
    func databaseDidRollback(_ db: Database)
}

extension TransactionObserver {
    public func databaseDidChange() {}

    public func databaseWillCommit() throws {}

    /// Stops the notifications of changes until the next transaction. The end of this one is notified all the same.
    ///
    /// - precondition: called from ``databaseDidChange(with:)`` or ``databaseDidChange()``; anything else is a fatal
    ///   error.
    public func stopObservingDatabaseChangesUntilNextTransaction() {
        guard let notified = strongroom_told(),
            case let registration = Unmanaged<ObserverRegistration>.fromOpaque(notified).takeUnretainedValue(),
            registration.observer === self
        else {
            fatalError("""
                stopObservingDatabaseChangesUntilNextTransaction() was called outside of databaseDidChange. \
                Call it from there, and nowhere else.
                """)
        }
        registration.isPaused = true
    }
}

extension Database {
    /// The duration of a transaction observation.
    public enum TransactionObservationExtent: Sendable {
        /// As long as the observer lives: the connection doesn't keep it alive.
        case observerLifetime

        /// To the end of the current transaction, or of the next one. The connection keeps the observer alive until
        /// then.
        case nextTransaction

        /// Until the connection is closed, which keeps the observer alive.
        case databaseLifetime
    }

    /// Adds an observer, which is notified of changes from now on.
    public func add(
        transactionObserver: some TransactionObserver, extent: TransactionObservationExtent = .observerLifetime)
    {
        requireAccess()
        observers.add(transactionObserver, extent)
    }

    /// Removes an observer.
    public func remove(transactionObserver: some TransactionObserver) {
        requireAccess()
        observers.remove(transactionObserver)
    }
}

extension DatabaseWriter {
    /// Adds an observer, which is notified of the writes from now on.
    ///
    /// Blocks until the writes that came before are done. Can be called from inside a write.
    public func add(
        transactionObserver: some TransactionObserver,
        extent: Database.TransactionObservationExtent = .observerLifetime)
    {
        unsafeReentrantWrite { $0.add(transactionObserver: transactionObserver, extent: extent) }
    }

    /// Removes an observer. Blocks until the writes that came before are done.
    public func remove(transactionObserver: some TransactionObserver) {
        unsafeReentrantWrite { $0.remove(transactionObserver: transactionObserver) }
    }
}

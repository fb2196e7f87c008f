import CStrongroom

/// Is told of the changes that a connection makes, and of the transactions they are part of.
///
/// Add it with ``DatabaseWriter/add(transactionObserver:extent:)``. It is called with the connection, before any other use
/// of it. Only what goes through this database object is seen: no other process, and no other connection.
///
/// Not told, because SQLite doesn't know: rows that `ON CONFLICT REPLACE` removes, tables without rowid, virtual tables, and
/// SQLite's own tables. <https://www.sqlite.org/c3ref/update_hook.html>
public protocol TransactionObserver: AnyObject {
    /// Whether ``databaseDidChange(with:)`` is to be called for such changes.
    ///
    /// Called before each statement that may change something. A no costs the statement nothing more.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool

    /// Something changed, by ``Database/notifyChanges(in:)``. Default: does nothing.
    func databaseDidChange()

    /// A row changed. The transaction may still be rolled back.
    ///
    /// Must not use the database. Changes in a savepoint are told when the outermost savepoint is released, and never when
    /// they were rolled back.
    ///
    /// - parameter event: only valid now: make a ``DatabaseEvent/copy()`` of an event that is to be kept.
    func databaseDidChange(with event: DatabaseEvent)

    /// A transaction is about to be committed. An error that is thrown rolls it back, and goes to whoever commits.
    ///
    /// Must not use the database. Default: does nothing.
    func databaseWillCommit() throws

    /// A transaction was committed. The connection can be used, outside of any transaction.
    ///
    /// Transactions that could have changed nothing are not told.
    func databaseDidCommit(_ db: Database)

    /// A transaction was rolled back. The connection can be used, outside of any transaction.
    func databaseDidRollback(_ db: Database)
}

extension TransactionObserver {
    public func databaseDidChange() {}

    public func databaseWillCommit() throws {}

    /// Asks for no more changes of this transaction: its end is told all the same.
    ///
    /// - precondition: called from ``databaseDidChange(with:)`` or ``databaseDidChange()``; anything else is a fatal error.
    public func stopObservingDatabaseChangesUntilNextTransaction() {
        guard let told = strongroom_told(),
            case let registration = Unmanaged<ObserverRegistration>.fromOpaque(told).takeUnretainedValue(),
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
    /// How long a transaction observer is told of changes.
    public enum TransactionObservationExtent: Sendable {
        /// As long as the observer lives: the connection doesn't keep it alive.
        case observerLifetime

        /// To the end of the current transaction, or of the next one. The connection keeps the observer alive until then.
        case nextTransaction

        /// Until the connection is closed, which keeps the observer alive.
        case databaseLifetime
    }

    /// Tells `transactionObserver` of changes from now on.
    public func add(
        transactionObserver: some TransactionObserver, extent: TransactionObservationExtent = .observerLifetime)
    {
        requireAccess()
        observers.add(transactionObserver, extent)
    }

    /// Tells `transactionObserver` nothing more.
    public func remove(transactionObserver: some TransactionObserver) {
        requireAccess()
        observers.remove(transactionObserver)
    }
}

extension DatabaseWriter {
    /// Tells `transactionObserver` of the writes from now on.
    ///
    /// Blocks until the writes that came before are done. Can be called from inside a write.
    public func add(
        transactionObserver: some TransactionObserver, extent: Database.TransactionObservationExtent = .observerLifetime)
    {
        unsafeReentrantWrite { $0.add(transactionObserver: transactionObserver, extent: extent) }
    }

    /// Tells `transactionObserver` nothing more. Blocks until the writes that came before are done.
    public func remove(transactionObserver: some TransactionObserver) {
        unsafeReentrantWrite { $0.remove(transactionObserver: transactionObserver) }
    }
}

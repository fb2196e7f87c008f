/// A type that is notified of the changes and transactions of a connection.
///
/// Add an observer with ``DatabaseWriter/add(transactionObserver:extent:)``. It is called on the thread that has the
/// connection, before the next use of the connection. It is notified of changes by this connection only, not of those
/// by other processes or connections.
///
/// SQLite does not report rows that `ON CONFLICT REPLACE` removes, tables without rowid, virtual tables, and SQLite's
/// own tables. The observer is not notified of their changes. <https://www.sqlite.org/c3ref/update_hook.html>
public protocol TransactionObserver: AnyObject {
    /// Returns true if ``databaseDidChange(with:)`` is to be called for this kind of change.
    ///
    /// Called before each statement that may change something. If it returns false, the statement has no further cost.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool

    /// Called for ``Database/notifyChanges(in:)``. Default: does nothing.
    func databaseDidChange()

    /// Called when a row has changed. The transaction can still be rolled back.
    ///
    /// Must not use the database. For changes in a savepoint, it is called when the outermost savepoint is released. It
    /// is not called for changes that were rolled back to a savepoint.
    ///
    /// - parameter event: the change, which is only valid during the call. To keep it, use ``DatabaseEvent/copy()``.
    func databaseDidChange(with event: DatabaseEvent)

    /// Called when a transaction is about to be committed. An error that it throws rolls the transaction back, and the
    /// commit throws the error.
    ///
    /// Must not use the database. Default: does nothing.
    func databaseWillCommit() throws

    /// Called when a transaction was committed. The connection can be used, outside of any transaction.
    ///
    /// Not called for transactions that can't have changed anything.
    func databaseDidCommit(_ db: Database)

    /// Called when a transaction was rolled back. The connection can be used, outside of any transaction.
    func databaseDidRollback(_ db: Database)
}

extension TransactionObserver {
    /// Does nothing.
    public func databaseDidChange() {}

    /// Does nothing.
    public func databaseWillCommit() throws {}

    /// Stops the notifications of changes until the next transaction. The observer is still notified of the end of the
    /// current transaction.
    ///
    /// - precondition: called from ``databaseDidChange(with:)`` or ``databaseDidChange()``. Otherwise it is a fatal
    ///   error.
    public func stopObservingDatabaseChangesUntilNextTransaction() {
        guard let notified = CallingThread.notifier,
            case let registration = Unmanaged<ObserverRegistration>.fromOpaque(notified).takeUnretainedValue(),
            registration.observer === self
        else {
            fatalError(
                """
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
        /// As long as the observer lives. The connection holds a weak reference to it.
        case observerLifetime

        /// Until the end of the current transaction, or of the next one. The connection holds a reference to the
        /// observer until then.
        case nextTransaction

        /// Until the connection is closed. The connection holds a reference to the observer.
        case databaseLifetime
    }

    /// Adds an observer, which is notified of later changes. Default: for as long as the observer lives.
    public func add(
        transactionObserver: some TransactionObserver, extent: TransactionObservationExtent = .observerLifetime
    ) {
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
    /// Adds an observer, which is notified of later writes. Default: for as long as the observer lives.
    ///
    /// Blocks until the writes that came before have ended. Can be called inside of a write.
    public func add(
        transactionObserver: some TransactionObserver,
        extent: Database.TransactionObservationExtent = .observerLifetime
    ) {
        unsafeReentrantWrite { $0.add(transactionObserver: transactionObserver, extent: extent) }
    }

    /// Removes an observer. Blocks until the writes that came before have ended.
    public func remove(transactionObserver: some TransactionObserver) {
        unsafeReentrantWrite { $0.remove(transactionObserver: transactionObserver) }
    }
}

import CSQLCipher
import CStrongroom
import Foundation

/// Knows what the transaction of one connection is doing, from SQLite's hooks and from the state after each statement.
///
/// The hooks alone don't tell: SQLite doesn't call them for transactions that changed nothing, and calls them before the
/// outcome is sure.
final class TransactionFollower {
    typealias Completion = (onCommit: @Sendable (Database) -> Void, onRollback: @Sendable (Database) -> Void)

    enum Event {
        case begin, commit, rollback

        /// A statement outside of transactions failed, and its changes were undone.
        case failure
    }

    // Unchecked exclusivity: see `Database`.

    /// What is to be called when the transaction ends.
    @exclusivity(unchecked) var completions: [Completion] = []

    /// The date when the transaction began, or why it could not be told; nil outside of transactions.
    var date: Result<Date, any Error>?

    /// Whether no statement of a transaction block has run since the transaction began.
    @exclusivity(unchecked) var isUntouched = false

    /// How the transaction of the block began.
    @exclusivity(unchecked) var kind = Database.TransactionKind.deferred

    /// Whether the commit that was concluded last changed something, or could have.
    private(set) var didWrite = false

    /// Whether a statement that may change something has run in the transaction.
    @exclusivity(unchecked) var mayHaveChanges = false

    /// Whether the transaction has let go of its write lock, and only reads from now on.
    @exclusivity(unchecked) var isReader = false

    /// How many times a transaction that writes has come to its end, or tried to.
    private(set) var endings = 0

    /// Who wants to know what the transaction changes.
    let observers: ObserverList

    /// Whether SQLite tells of commits and rollbacks.
    private(set) var isInstalled = false

    private var isInTransaction = false
    private var didCallCommitHook = false
    private var didCallRollbackHook = false

    init(observers: ObserverList) {
        self.observers = observers
    }

    func install(on connection: SQLiteConnection) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        isInstalled = true
        sqlite3_commit_hook(connection, transactionWillCommit, context)
        sqlite3_rollback_hook(connection, transactionDidRollBack, context)
    }

    /// For transactions that aren't the application's: hears of none until it is installed again.
    func uninstall(from connection: SQLiteConnection) {
        isInstalled = false
        sqlite3_commit_hook(connection, nil, nil)
        sqlite3_rollback_hook(connection, nil, nil)
    }

    /// Has the observers told of each row that changes, or not anymore. <https://www.sqlite.org/c3ref/update_hook.html>
    func watchRows(_ isWatching: Bool, on connection: SQLiteConnection?) {
        sqlite3_update_hook(
            connection, isWatching ? rowDidChange : nil, isWatching ? Unmanaged.passUnretained(observers).toOpaque() : nil)
    }

    /// Draws the conclusion of a statement.
    ///
    /// A statement outside of transactions that changes something is a transaction of its own, which counts when it commits.
    func statementDidEnd(inTransaction: Bool) -> Event? {
        let wasInTransaction = isInTransaction
        let wasCommitted = didCallCommitHook && !didCallRollbackHook
        let wasRolledBack = didCallRollbackHook
        isInTransaction = inTransaction
        didWrite = wasCommitted
        didCallCommitHook = false
        didCallRollbackHook = false
        if wasInTransaction != inTransaction { (mayHaveChanges, isReader) = (false, false) }
        if inTransaction { return wasInTransaction ? nil : .begin }
        if wasInTransaction { return wasRolledBack ? .rollback : .commit }
        if wasRolledBack { return .failure }
        return wasCommitted ? .commit : nil
    }

    /// Called before each commit that changes something; not to commit is not to return zero.
    fileprivate func willCommit() -> CInt {
        didCallCommitHook = true
        endings &+= 1
        if observers.isActive, !observers.transactionWillCommit() { return 1 }
        strongroom_commit_begins(observers.connection)
        return 0
    }

    fileprivate func didRollBack() {
        didCallRollbackHook = true
        endings &+= 1
    }

    /// The transaction has ended, and nobody is to be told: it begins again.
    func didPause() {
        endings &+= 1
        isInTransaction = false
    }
}

private func transactionWillCommit(_ context: UnsafeMutableRawPointer?) -> CInt {
    Unmanaged<TransactionFollower>.fromOpaque(context!).takeUnretainedValue().willCommit()
}

private func transactionDidRollBack(_ context: UnsafeMutableRawPointer?) {
    Unmanaged<TransactionFollower>.fromOpaque(context!).takeUnretainedValue().didRollBack()
}

private func rowDidChange(
    _ context: UnsafeMutableRawPointer?,
    _ kind: CInt,
    _ database: UnsafePointer<CChar>?,
    _ table: UnsafePointer<CChar>?,
    _ rowID: sqlite3_int64)
{
    guard let kind = DatabaseEvent.Kind(rawValue: kind), let database, let table else { return }
    let event = DatabaseEvent(kind: kind, rowID: rowID, lentDatabaseName: database, lentTableName: table)
    Unmanaged<ObserverList>.fromOpaque(context!).takeUnretainedValue().rowDidChange(event)
}

import CSQLCipher
import Foundation

/// Knows what the transaction of one connection is doing, from SQLite's hooks and from the state after each statement.
///
/// The hooks alone don't tell: SQLite doesn't call them for transactions that changed nothing, and calls them before the
/// outcome is sure.
final class TransactionFollower {
    typealias Completion = (onCommit: @Sendable (Database) -> Void, onRollback: @Sendable (Database) -> Void)

    enum Event {
        case begin, commit, rollback
    }

    /// What is to be called when the transaction ends.
    var completions: [Completion] = []

    /// The date when the transaction began, or why it could not be told; nil outside of transactions.
    var date: Result<Date, any Error>?

    private var isInTransaction = false
    private var didCallCommitHook = false
    private var didCallRollbackHook = false

    func install(on connection: SQLiteConnection) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_commit_hook(connection, transactionWillCommit, context)
        sqlite3_rollback_hook(connection, transactionDidRollBack, context)
    }

    /// Draws the conclusion of a statement.
    ///
    /// A statement outside of transactions that changes something is a transaction of its own, which counts when it commits.
    func statementDidEnd(inTransaction: Bool) -> Event? {
        let wasInTransaction = isInTransaction
        let wasCommitted = didCallCommitHook && !didCallRollbackHook
        let wasRolledBack = didCallRollbackHook
        isInTransaction = inTransaction
        didCallCommitHook = false
        didCallRollbackHook = false
        if inTransaction { return wasInTransaction ? nil : .begin }
        if wasInTransaction { return wasRolledBack ? .rollback : .commit }
        return wasCommitted ? .commit : nil
    }

    /// Called before each commit that changes something; not to commit is not to return zero.
    fileprivate func willCommit() -> CInt {
        didCallCommitHook = true
        return 0
    }

    fileprivate func didRollBack() {
        didCallRollbackHook = true
    }
}

private func transactionWillCommit(_ context: UnsafeMutableRawPointer?) -> CInt {
    Unmanaged<TransactionFollower>.fromOpaque(context!).takeUnretainedValue().willCommit()
}

private func transactionDidRollBack(_ context: UnsafeMutableRawPointer?) {
    Unmanaged<TransactionFollower>.fromOpaque(context!).takeUnretainedValue().didRollBack()
}

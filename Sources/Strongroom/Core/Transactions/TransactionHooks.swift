import CSQLCipher
import CStrongroom
import Foundation

/// Knows what the transaction of one connection is doing, from SQLite's hooks and from the state after each statement.
///
/// The hooks alone don't tell: SQLite doesn't call them for transactions that changed nothing, and calls them before
/// the outcome is sure.
final class TransactionHooks {
    typealias Completion = (onCommit: @Sendable (Database) -> Void, onRollback: @Sendable (Database) -> Void)

    enum Event {
        case begin, commit, rollback

        /// A statement outside of transactions failed, and its changes were undone.
        case failure
    }

    // Unchecked exclusivity: see the article *Layers*.

    /// The number of enclosing blocks that allow only reads.
    @exclusivity(unchecked) var readOnlyDepth = 0

    /// The number of enclosing blocks that rely on the transaction that they began.
    @exclusivity(unchecked) var blockDepth = 0

    let statements = TransactionStatements()

    /// The callbacks for the end of the transaction.
    @exclusivity(unchecked) var completions: [Completion] = []

    /// The date when the transaction began, or why it could not be told; nil outside of transactions.
    var date: Result<Date, any Error>?

    /// True if no statement of a transaction block has run since the transaction began.
    @exclusivity(unchecked) var isUntouched = false

    /// The kind of the block's transaction.
    @exclusivity(unchecked) var kind = Database.TransactionKind.deferred

    /// True if the commit that was concluded last changed something, or could have.
    private(set) var didWrite = false

    /// True if a statement that may change something has run in the transaction.
    @exclusivity(unchecked) var mayHaveChanges = false

    /// True if the transaction has let go of its write lock, and only reads from now on.
    @exclusivity(unchecked) var isReader = false

    /// The number of times that a writing transaction has ended, or tried to.
    private(set) var endings = 0

    /// The folded names of the savepoints that are open, the innermost last.
    @exclusivity(unchecked) private(set) var savepoints: [String] = []

    /// That of the database, which sets it when it opens.
    var connection: UnsafeMutablePointer<strongroom_connection>!

    /// The parts, which may refuse a commit.
    private let parts: ConnectionParts

    /// The error by which a part has refused the latest commit.
    private var refusal: (any Error)?

    /// True if SQLite tells of commits and rollbacks.
    private(set) var isInstalled = false

    private var isInTransaction = false
    private var didCallCommitHook = false
    private var didCallRollbackHook = false

    init(_ parts: ConnectionParts) {
        self.parts = parts
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

    // MARK: - Blocks

    /// Runs the block of a transaction: its statements fail once the transaction is gone.
    func insideBlock<T>(_ operations: () throws -> T) rethrows -> T {
        blockDepth += 1
        defer { blockDepth -= 1 }
        return try operations()
    }

    /// Runs callbacks at the end of a transaction, which may use the connection, even when the block around it is not
    /// over.
    func outsideBlocks(_ callbacks: () -> Void) {
        let depth = blockDepth
        blockDepth = 0
        defer { blockDepth = depth }
        callbacks()
    }

    // MARK: - Beginning and end

    /// Updates the state after a statement, and returns what happened to the transaction.
    ///
    /// A statement outside of transactions that changes something is a transaction of its own, which counts when it
    /// commits.
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
        if !savepoints.isEmpty { savepoints = [] }
        if wasInTransaction { return wasRolledBack ? .rollback : .commit }
        if wasRolledBack { return .failure }
        return wasCommitted ? .commit : nil
    }

    /// Called before each commit that changes something; not to commit is not to return zero.
    fileprivate func willCommit() -> CInt {
        didCallCommitHook = true
        endings &+= 1
        if parts.concerns.contains(.transactions), !allowsCommit() { return 1 }
        strongroom_commit_begins(connection)
        return 0
    }

    /// Returns true if all parts agree to a commit.
    func allowsCommit() -> Bool {
        do {
            for part in parts.all { try part.willCommit() }
            return true
        } catch {
            refusal = error
            return false
        }
    }

    /// Returns the error by which a commit was refused, and forgets it.
    func takeRefusal() -> (any Error)? {
        guard let refusal else { return nil }
        self.refusal = nil
        return refusal
    }

    func updateSavepoints(_ transaction: StatementCompilation.Transaction) {
        switch transaction {
        case .beginSavepoint(let name):
            savepoints.append(name.foldedSQLName)
        case .releaseSavepoint(let name):
            if let index = savepoints.lastIndex(of: name.foldedSQLName) { savepoints.removeSubrange(index...) }
        case .rollbackSavepoint(let name):
            if let index = savepoints.lastIndex(of: name.foldedSQLName) { savepoints.removeSubrange((index + 1)...) }
        case .begin, .commit, .rollback:
            break
        }
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
    Unmanaged<TransactionHooks>.fromOpaque(context!).takeUnretainedValue().willCommit()
}

private func transactionDidRollBack(_ context: UnsafeMutableRawPointer?) {
    Unmanaged<TransactionHooks>.fromOpaque(context!).takeUnretainedValue().didRollBack()
}

import Foundation

/// The state of one connection's transaction, from SQLite's hooks and from the state after each statement.
///
/// The hooks alone don't suffice: SQLite doesn't call them for transactions without changes, and calls them before the
/// outcome is certain.
final class Transactions {
    typealias Completion = (onCommit: @Sendable (Database) -> Void, onRollback: @Sendable (Database) -> Void)

    enum Event {
        case begin, commit, rollback

        /// A statement outside of transactions failed, and its changes were undone.
        case failure
    }

    // Unchecked exclusivity: see <doc:Layers>.

    /// The number of surrounding blocks that only allow reads.
    @exclusivity(unchecked) var readOnlyDepth = 0

    /// The number of surrounding blocks that rely on the transaction that they began.
    @exclusivity(unchecked) var blockDepth = 0

    let statements = TransactionStatements()

    /// The callbacks for the end of the transaction.
    @exclusivity(unchecked) var completions: [Completion] = []

    /// The date when the transaction began, or the error of the clock. Nil outside of transactions.
    var date: Result<Date, any Error>?

    /// True if no statement of a transaction block has run since the transaction began.
    @exclusivity(unchecked) var isUntouched = false

    /// The kind of the block's transaction.
    @exclusivity(unchecked) var kind = Database.TransactionKind.deferred

    /// True if the most recent commit changed something, or could have.
    private(set) var didWrite = false

    /// True if a statement that may change something has run in the transaction.
    @exclusivity(unchecked) var mayHaveChanges = false

    /// True if the transaction has released its write lock, and only reads from now on.
    @exclusivity(unchecked) var isReader = false

    /// True if the transaction was to be rolled back, and SQLite could not.
    @exclusivity(unchecked) var rollbackFailed = false

    /// The number of times that a writing transaction has ended, or has tried to.
    private(set) var endings = 0

    /// The folded names of the open savepoints, innermost last.
    @exclusivity(unchecked) private(set) var savepoints: [String] = []

    /// True if a savepoint began the transaction, whose release commits it.
    @exclusivity(unchecked) private(set) var beganWithSavepoint = false

    /// The connection, which the database sets when it is opened.
    var connection: ConnectionHandle!

    /// The parts, which can refuse a commit.
    private let parts: ConnectionParts

    /// The error with which a part has refused the most recent commit.
    private var refusal: (any Error)?

    /// True if SQLite reports commits and rollbacks.
    var hasHooks = false

    private var isInTransaction = false

    /// The hook that SQLite called last, since the end of the previous statement. Nil for none.
    ///
    /// The last one is true: SQLite rolls back when it compiles a statement again, and then commits, and it rolls back
    /// after the call for a commit that fails.
    private var latestHook: Hook?

    private enum Hook { case commit, rollback }

    init(_ parts: ConnectionParts) {
        self.parts = parts
    }

    // MARK: - Blocks

    /// Runs the block of a transaction: its statements fail once the transaction is gone.
    @inline(__always)
    func insideBlock<T>(_ operations: () throws -> T) rethrows -> T {
        blockDepth += 1
        defer { blockDepth -= 1 }
        return try operations()
    }

    /// Runs callbacks at the end of a transaction. They can use the connection, even inside of a block that relied on
    /// the transaction.
    func outsideBlocks(_ callbacks: () -> Void) {
        let depth = blockDepth
        blockDepth = 0
        defer { blockDepth = depth }
        callbacks()
    }

    // MARK: - Beginning and end

    /// Updates the state after a statement, and returns the event of the transaction.
    ///
    /// A statement outside of transactions that changes something is a transaction of its own, whose event is its
    /// commit.
    func statementDidEnd(inTransaction: Bool) -> Event? {
        let wasInTransaction = isInTransaction
        let latestHook = latestHook
        self.latestHook = nil
        isInTransaction = inTransaction
        didWrite = latestHook == .commit
        if wasInTransaction != inTransaction { (mayHaveChanges, isReader, rollbackFailed) = (false, false, false) }
        if inTransaction { return wasInTransaction ? nil : .begin }
        if !savepoints.isEmpty { savepoints = [] }
        switch latestHook {
        case .rollback: return wasInTransaction ? .rollback : .failure
        case .commit: return .commit
        case nil: return wasInTransaction ? .commit : nil
        }
    }

    /// Called before each commit with changes. A result other than zero refuses the commit.
    func willCommit() -> CInt {
        latestHook = .commit
        endings &+= 1
        if parts.concerns.contains(.transactions), !allowsCommit() { return 1 }
        connection.commitBegins()
        return 0
    }

    /// Called after a rollback.
    func didRollBack() {
        latestHook = .rollback
        endings &+= 1
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

    /// Returns the error with which a commit was refused, and clears it.
    func takeRefusal() -> (any Error)? {
        guard let refusal else { return nil }
        self.refusal = nil
        return refusal
    }

    func updateSavepoints(_ transaction: StatementCompilation.Transaction) {
        switch transaction {
        case .beginSavepoint(let name):
            // The state after this statement is not known yet.
            if !isInTransaction { beganWithSavepoint = true }
            savepoints.append(name.foldedSQLName)
        case .releaseSavepoint(let name):
            if let index = savepoints.lastIndex(of: name.foldedSQLName) { savepoints.removeSubrange(index...) }
        case .rollbackSavepoint(let name):
            if let index = savepoints.lastIndex(of: name.foldedSQLName) { savepoints.removeSubrange((index + 1)...) }
        case .begin:
            beganWithSavepoint = false
        case .commit, .rollback:
            break
        }
    }

    /// The SQL that begins a transaction with the same savepoints.
    var beginning: String {
        let savepoints = savepoints.map { "SAVEPOINT \($0.quotedDatabaseIdentifier)" }
        let isFirst = beganWithSavepoint && !savepoints.isEmpty
        return ((isFirst ? [] : ["BEGIN"]) + savepoints).joined(separator: "; ")
    }

    /// True if the running statement has committed, outside of transactions. A statement that fails may have: changes
    /// before the conflict stay with `OR FAIL`.
    var isCommitted: Bool { latestHook == .commit }

    /// Resets the state after a transaction whose observers are not notified.
    func didPause() {
        endings &+= 1
        isInTransaction = false
    }
}

import Foundation
import Logging

extension Database {
    /// The way in which a transaction begins. <https://www.sqlite.org/lang_transaction.html>
    public enum TransactionKind: String, Sendable {
        case deferred = "DEFERRED"
        case immediate = "IMMEDIATE"
        case exclusive = "EXCLUSIVE"
    }

    /// The way in which a transaction ends.
    @frozen
    public enum TransactionCompletion: Sendable {
        case commit
        case rollback
    }

    // MARK: - Blocks

    /// Runs `operations` in a transaction, and commits or rolls back as they return. Rolls back when they throw.
    ///
    /// - parameters:
    ///   - kind: the kind of the transaction. Default: ``Configuration/defaultTransactionKind``.
    ///   - operations: the block, which returns `.commit` or `.rollback`.
    public func inTransaction(_ kind: TransactionKind? = nil, _ operations: () throws -> TransactionCompletion) throws {
        try beginTransaction(kind)
        try run(operations, commit: commit, rollBack: rollback, undo: rollbackAfterError)
    }

    /// Runs `operations` in a savepoint, or in a transaction if none is open.
    ///
    /// <https://www.sqlite.org/lang_savepoint.html>
    public func inSavepoint(_ operations: () throws -> TransactionCompletion) throws {
        guard isInsideTransaction else {
            return try inTransaction(nil, operations)
        }
        try transactions.statements.prepare(.rollback, of: self)
        try run(.savepoint)
        try run(
            operations, commit: { try run(.release) }, rollBack: rollBackSavepoint, undo: rollbackSavepointAfterError)
    }

    /// Runs `operations`, and commits or rolls back as they return. If they fail, or the commit does, their changes are
    /// undone.
    private func run(
        _ operations: () throws -> TransactionCompletion,
        commit: () throws -> Void, rollBack: () throws -> Void, undo: () -> Void
    ) throws {
        let completion: TransactionCompletion
        do {
            completion = try transactions.insideBlock(operations)
            if completion == .commit {
                try requireTransaction()
                try commit()
            }
        } catch {
            undo()
            throw error
        }
        if completion == .rollback { try rollBack() }
    }

    /// Runs `value` while writes throw `SQLITE_READONLY`.
    public func readOnly<T>(_ value: () throws -> T) throws -> T {
        requireAccess()
        setReadOnly(true)
        defer { setReadOnly(false) }
        return try value()
    }

    /// Begins or ends a block in which writes are refused.
    func setReadOnly(_ isReadOnly: Bool) {
        transactions.readOnlyDepth += isReadOnly ? 1 : -1
        authorizer.isReadOnly = transactions.readOnlyDepth > 0
    }

    /// Throws if SQLite has rolled the transaction back: it can't be committed.
    private func requireTransaction() throws {
        if isAutocommit { throw DatabaseError.aborted }
    }

    /// Rolls back, and ignores errors: the caller throws the first one.
    func rollbackAfterError() {
        try? rollback()
    }

    private func rollbackSavepointAfterError() {
        guard isInsideTransaction else { return }
        do {
            try rollBackSavepoint()
        } catch {
            finishRuns()
            // If the savepoint can't be rolled back, the whole transaction is.
            do { try rollBackSavepoint() } catch { rollbackAfterError() }
        }
    }

    private func rollBackSavepoint() throws {
        try run(.rollbackToSavepoint)
        // A part of the undoing: there are no changes to release.
        try stops.undoing { try run(.release) }
    }

    // MARK: - Statements

    /// Begins a transaction. Throws if one is open.
    ///
    /// - parameter kind: the kind. Default: that of ``Configuration``, or deferred if nothing can be written.
    public func beginTransaction(_ kind: TransactionKind? = nil) throws {
        if let kind { return try begin(kind) }
        do {
            try begin(defaultTransactionKind)
        } catch let refusal as DatabaseError where refusal.resultCode == .SQLITE_READONLY {
            // `PRAGMA query_only` refuses the write lock, but not reads.
            guard try answer(to: "PRAGMA query_only") == "1" else { throw refusal }
            try begin(.deferred)
        }
    }

    private func begin(_ kind: TransactionKind) throws {
        // Without memory, no statement could be prepared that ends the transaction.
        try transactions.statements.prepare(.rollback, of: self)
        switch kind {
        case .deferred: try run(.beginDeferred)
        case .immediate: try run(.beginImmediate)
        case .exclusive: try run(.beginExclusive)
        }
        transactions.kind = kind
    }

    private var defaultTransactionKind: TransactionKind {
        isReadOnlyNow ? .deferred : configuration.defaultTransactionKind
    }

    /// Commits the transaction. Throws if none is open.
    public func commit() throws {
        try run(.commit)
    }

    /// Rolls the transaction back. Does nothing if none is open, because SQLite may have rolled it back.
    public func rollback() throws {
        guard isInsideTransaction else { return stops.acknowledgeUndoing() }
        do {
            try run(.rollback)
        } catch {
            rollBackByInterruption()
            guard isInsideTransaction else { return }
            transactions.rollbackFailed = true
            throw error
        }
    }

    /// FTS5 keeps a statement alive until the transaction ends. Meanwhile SQLite doesn't clear an interruption, not
    /// even for a `ROLLBACK`. But it rolls back when it interrupts a write.
    private func rollBackByInterruption() {
        guard stops.wasAccessStopped, sqliteConnection != nil else { return }
        stops.undoing { interruptWrite() }
        updateTransactionState()
    }

    private func run(_ command: TransactionStatements.Command) throws {
        requireAccess()
        try transactions.statements.run(command, on: self)
    }

    /// Runs transactions of the library's own, which no observer can refuse.
    func withoutObservers<T>(_ body: () throws -> T) throws -> T {
        let connection = try openConnection
        guard transactions.hasHooks else { return try body() }
        transactions.uninstall(from: connection)
        defer { transactions.install(on: connection) }
        return try body()
    }

    /// The prepared `ROLLBACK`, for functions of C.
    var rollbackStatement: SQLiteStatement {
        get throws { try transactions.statements.statement(for: .rollback, of: self).sqliteStatement }
    }

    // MARK: - Callbacks and dates

    /// Calls `onCommit` or `onRollback` after the current transaction has ended, or the next one if none is open.
    ///
    /// They run with access to the database, outside of any transaction. Savepoints have no influence: callbacks that
    /// are added in a savepoint that is rolled back wait for the end of the transaction, too.
    public func afterNextTransaction(
        onCommit: @escaping @Sendable (Database) -> Void,
        onRollback: @escaping @Sendable (Database) -> Void = { _ in }
    ) {
        requireAccess()
        transactions.completions.append((onCommit, onRollback))
    }

    /// The date of the current transaction, which is that of its beginning. Outside of transactions, the current date.
    ///
    /// - throws: the error of ``Configuration/transactionClock``.
    public var transactionDate: Date {
        get throws {
            requireAccess()
            return try transactions.date?.get() ?? configuration.transactionClock.now(self)
        }
    }

    /// Called after each statement that may have begun or ended a transaction.
    func updateTransactionState() {
        switch transactions.statementDidEnd(inTransaction: !isAutocommit) {
        case nil:
            break
        case .begin:
            transactions.isUntouched = true
            transactions.date = Result { try configuration.transactionClock.now(self) }
        case .commit:
            // Before observers are called: a reader that then reads the count sees the changes that it counts.
            let hasChanges = transactions.didWrite || parts.haveUnseenChanges
            if hasChanges { connection.countCommit() }
            var isRefused = false
            if !transactions.didWrite, parts.concerns.contains(.transactions), !isReadOnlyNow {
                // SQLite calls no hook for a transaction without changes. Observers are notified of it, and can refuse
                // it; there is nothing to roll back.
                transactions.outsideBlocks { isRefused = !transactions.allowsCommit() }
            }
            transactionDidEnd(notifiesObservers: hasChanges || !isReadOnlyNow, isCommitted: !isRefused)
        case .rollback:
            transactionDidEnd(notifiesObservers: !isReadOnlyNow, isCommitted: false)
        case .failure:
            for part in parts.all { part.changesWereUndone(in: self) }
        }
    }

    /// True if the connection, or the surrounding block, only allows reads. Observers are not notified of their
    /// transactions.
    private var isReadOnlyNow: Bool { configuration.readonly || transactions.readOnlyDepth > 0 }

    /// - parameter notifiesObservers: true if observers are notified.
    func transactionDidEnd(notifiesObservers: Bool, isCommitted: Bool) {
        transactions.date = nil
        // Callbacks that they add wait for the next transaction.
        let completions = transactions.completions
        if !completions.isEmpty { transactions.completions = [] }
        if parts.concerns.contains(.ends) {
            for part in parts.all {
                part.transactionDidEnd(isCommitted: isCommitted, notifiesObservers: notifiesObservers, in: self)
            }
        }
        guard !completions.isEmpty else { return }
        stops.notifying {
            for completion in completions { isCommitted ? completion.onCommit(self) : completion.onRollback(self) }
        }
    }
}

extension Database {
    /// Ends what an access has left open: its cursors, and its transaction unless the configuration allows it.
    func endAccess() {
        if stops.rollBackStoppedTransaction() { logRollback() }
        if !runs.isEmpty { finishRuns() }
        connection.endStops()
        if !configuration.allowsUnsafeTransactions, !isAutocommit { endOpenTransaction() }
    }

    /// Stops a program that has left a transaction open. If SQLite could not roll it back, rolls it back now, or closes
    /// the connection, which needs no memory.
    private func endOpenTransaction() {
        guard transactions.rollbackFailed else {
            fatalError(
                """
                A transaction has been left open at the end of a database access. \
                Commit it or roll it back, or set Configuration.allowsUnsafeTransactions.
                """)
        }
        do {
            try rollback()
        } catch {
            Logger(label: "Strongroom").error("\(description) is closed: a transaction can't be rolled back: \(error)")
            abandon()
        }
    }

    private func logRollback() {
        Logger(label: "Strongroom").warning(
            "\(description): an access that was stopped has left a transaction open, which is rolled back")
    }

    /// Runs `value` in a transaction that sees one state of the database and can't write.
    func isolated<T>(_ value: (Database) throws -> T) throws -> T {
        try readOnly {
            try beginTransaction(.deferred)
            let result: T
            do {
                result = try transactions.insideBlock { try value(self) }
            } catch {
                rollbackAfterError()
                throw error
            }
            // A read outside of the transaction may have seen another state.
            try requireTransaction()
            // A read has nothing to lose if its commit fails.
            do { try commit() } catch { rollbackAfterError() }
            return result
        }
    }

    /// Runs `updates` in a transaction, which is committed unless they throw.
    func committing<T>(_ updates: (Database) throws -> T) throws -> T {
        var result: T?
        try inTransaction {
            result = try updates(self)
            return .commit
        }
        return result!
    }
}

import CStrongroom
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

    /// Runs `operations` in a transaction: committed or rolled back as they answer, rolled back when they throw.
    ///
    /// - parameter kind: by default ``Configuration/defaultTransactionKind``.
    public func inTransaction(_ kind: TransactionKind? = nil, _ operations: () throws -> TransactionCompletion) throws {
        try beginTransaction(kind)
        try run(operations, commit: commit, rollBack: rollback, undo: rollbackAfterError)
    }

    /// Runs `operations` in a savepoint, or in a transaction when none is open.
    ///
    /// <https://www.sqlite.org/lang_savepoint.html>
    public func inSavepoint(_ operations: () throws -> TransactionCompletion) throws {
        guard isInsideTransaction else {
            return try inTransaction(nil, operations)
        }
        _ = try transactionStatements.statement(for: .rollback, of: self)
        try run(.savepoint)
        try run(
            operations, commit: { try run(.release) }, rollBack: rollBackSavepoint, undo: rollbackSavepointAfterError)
    }

    /// Runs `operations` in what was begun, and ends that as they answer. When they fail, or the commit does, it is
    /// undone.
    private func run(
        _ operations: () throws -> TransactionCompletion,
        commit: () throws -> Void, rollBack: () throws -> Void, undo: () -> Void) throws
    {
        let completion: TransactionCompletion
        do {
            completion = try insideTransactionBlock(operations)
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

    /// Begins or ends a block where writes are refused.
    func setReadOnly(_ isReadOnly: Bool) {
        readOnlyDepth += isReadOnly ? 1 : -1
        authorizer.isReadOnly = readOnlyDepth > 0
    }

    func insideTransactionBlock<T>(_ operations: () throws -> T) rethrows -> T {
        transactionBlockDepth += 1
        defer { transactionBlockDepth -= 1 }
        return try operations()
    }

    /// A transaction that SQLite rolled back by itself can't be committed.
    private func requireTransaction() throws {
        if isAutocommit { throw DatabaseError.aborted }
    }

    /// The error that led here is the one to throw.
    func rollbackAfterError() {
        try? rollback()
    }

    private func rollbackSavepointAfterError() {
        guard isInsideTransaction else { return }
        do {
            try rollBackSavepoint()
        } catch {
            finishRuns()
            // What can't be undone alone is undone with all the rest.
            do { try rollBackSavepoint() } catch { rollbackAfterError() }
        }
    }

    private func rollBackSavepoint() throws {
        try run(.rollbackToSavepoint)
        // It belongs to the undoing: there is nothing left to release.
        try stops.undoing { try run(.release) }
    }

    // MARK: - Statements

    /// Begins a transaction; throws when one is open.
    ///
    /// - parameter kind: by default that of ``Configuration``, or deferred where nothing can be written anyway.
    public func beginTransaction(_ kind: TransactionKind? = nil) throws {
        if let kind { return try begin(kind) }
        do {
            try begin(defaultTransactionKind)
        } catch let refusal as DatabaseError where refusal.resultCode == .SQLITE_READONLY {
            // `PRAGMA query_only` refuses the lock of writers, and no reads.
            guard try Bool.fetchOne(self, sql: "PRAGMA query_only") == true else { throw refusal }
            try begin(.deferred)
        }
    }

    private func begin(_ kind: TransactionKind) throws {
        // Without memory, no statement could be prepared that ends the transaction.
        _ = try transactionStatements.statement(for: .rollback, of: self)
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

    /// Commits the transaction; throws when none is open.
    public func commit() throws {
        try run(.commit)
    }

    /// Rolls the transaction back; does nothing when none is open, because SQLite may have rolled back by itself.
    public func rollback() throws {
        guard isInsideTransaction else { return stops.acknowledgeUndoing() }
        do {
            try run(.rollback)
        } catch {
            rollBackByInterruption()
            if isInsideTransaction { throw error }
        }
    }

    /// FTS5 keeps a statement alive until the transaction ends. SQLite forgets no interruption meanwhile, not even for
    /// a `ROLLBACK`; but it rolls back when it interrupts a write.
    private func rollBackByInterruption() {
        guard stops.wereMet, sqliteConnection != nil else { return }
        stops.undoing { interruptWrite() }
        followTransaction()
    }

    private func run(_ command: TransactionStatements.Command) throws {
        requireAccess()
        try transactionStatements.statement(for: command, of: self).run()
    }

    /// Runs transactions that aren't the application's, and that nobody may veto.
    func withoutObservers<T>(_ body: () throws -> T) throws -> T {
        let connection = try openConnection
        guard transactions.isInstalled else { return try body() }
        transactions.uninstall(from: connection)
        defer { transactions.install(on: connection) }
        return try body()
    }

    /// The prepared `ROLLBACK`, for functions of C.
    var rollbackStatement: SQLiteStatement {
        get throws { try transactionStatements.statement(for: .rollback, of: self).sqliteStatement }
    }

    // MARK: - What a transaction does

    /// Calls `onCommit` or `onRollback` once the current transaction has ended, or the next one when none is open.
    ///
    /// They run with access to the database, outside of any transaction. Savepoints don't count: what is registered in
    /// one that is rolled back waits for the end of the transaction all the same.
    public func afterNextTransaction(
        onCommit: @escaping @Sendable (Database) -> Void,
        onRollback: @escaping @Sendable (Database) -> Void = { _ in })
    {
        requireAccess()
        transactions.completions.append((onCommit, onRollback))
    }

    /// The date of the current transaction: that of its beginning. Outside of transactions, now.
    ///
    /// - throws: what ``Configuration/transactionClock`` throws.
    public var transactionDate: Date {
        get throws {
            requireAccess()
            return try transactions.date?.get() ?? configuration.transactionClock.now(self)
        }
    }

    /// Called after each statement that may have begun or ended a transaction.
    func followTransaction() {
        switch transactions.statementDidEnd(inTransaction: !isAutocommit) {
        case nil:
            break
        case .begin:
            transactions.isUntouched = true
            transactions.date = Result { try configuration.transactionClock.now(self) }
        case .commit:
            // Before anyone is told: who reads after asking for the count sees what it counts.
            let hasChanges = transactions.didWrite || parts.all.contains(where: \.hasUnseenChanges)
            if hasChanges { strongroom_count_commit(connection) }
            var isRefused = false
            if !transactions.didWrite, parts.concerns.contains(.transactions), !isReadOnlyNow {
                // SQLite calls no hook for a transaction that changed nothing: observers hear of it all the same, and
                // may refuse it, with nothing to roll back.
                outsideOfBlocks { isRefused = !transactions.askForCommit() }
            }
            transactionDidEnd(isTold: hasChanges || !isReadOnlyNow, isCommitted: !isRefused)
        case .rollback:
            transactionDidEnd(isTold: !isReadOnlyNow, isCommitted: false)
        case .failure:
            for part in parts.all { part.changesWereUndone(in: self) }
        }
    }

    /// True if the connection, or the block around, allows nothing but reads. Of their transactions nobody is told.
    private var isReadOnlyNow: Bool { configuration.readonly || readOnlyDepth > 0 }

    /// - parameter isTold: whether somebody is to be told.
    func transactionDidEnd(isTold: Bool, isCommitted: Bool) {
        transactions.date = nil
        // Those that the callbacks register wait for the transaction after.
        let completions = transactions.completions
        if !completions.isEmpty { transactions.completions = [] }
        for part in parts.all { part.transactionDidEnd(isCommitted: isCommitted, isTold: isTold, in: self) }
        guard !completions.isEmpty else { return }
        stops.notifying {
            for completion in completions { isCommitted ? completion.onCommit(self) : completion.onRollback(self) }
        }
    }

    /// Runs callbacks at the end of a transaction, which may use the connection, even when the block around it is not
    /// over.
    func outsideOfBlocks(_ tell: () -> Void) {
        let depth = transactionBlockDepth
        transactionBlockDepth = 0
        defer { transactionBlockDepth = depth }
        tell()
    }
}

/// The statements that begin and end transactions, prepared once per connection.
final class TransactionStatements {
    enum Command: Int, CaseIterable {
        case beginDeferred, beginImmediate, beginExclusive, commit, rollback
        case savepoint, release, rollbackToSavepoint
        case holdState

        // Programs that look at the SQL of their transactions find what GRDB writes, the name of savepoints included.
        var sql: String {
            switch self {
            case .beginDeferred: "BEGIN DEFERRED TRANSACTION"
            case .beginImmediate: "BEGIN IMMEDIATE TRANSACTION"
            case .beginExclusive: "BEGIN EXCLUSIVE TRANSACTION"
            case .commit: "COMMIT TRANSACTION"
            case .rollback: "ROLLBACK TRANSACTION"
            case .savepoint: "SAVEPOINT grdb"
            case .release: "RELEASE SAVEPOINT grdb"
            case .rollbackToSavepoint: "ROLLBACK TRANSACTION TO SAVEPOINT grdb"
            case .holdState: "PRAGMA main.data_version"
            }
        }
    }

    // Unchecked exclusivity: see the article *Layers*.
    @exclusivity(unchecked) private var statements = [Statement?](repeating: nil, count: Command.allCases.count)

    func statement(for command: Command, of database: Database) throws -> Statement {
        if let statement = statements[command.rawValue] { return statement }
        let statement = try database.makeStatement(sql: command.sql)
        statements[command.rawValue] = statement
        return statement
    }

    func removeAll() {
        statements = statements.map { _ in nil }
    }
}

extension Database {
    /// Leaves nothing open when an access ends: no cursor, and no transaction unless the configuration allows it.
    func endAccess() {
        if stops.undoWhatWasStopped() { reportUndoing() }
        if !runs.isEmpty { finishRuns() }
        strongroom_connection_end_stops(connection)
        if !configuration.allowsUnsafeTransactions, !isAutocommit {
            fatalError("""
                A transaction has been left open at the end of a database access. \
                Commit it or roll it back, or set Configuration.allowsUnsafeTransactions.
                """)
        }
    }

    private func reportUndoing() {
        Logger(label: "Strongroom").warning(
            "\(description): an access that was stopped has left a transaction open, which is rolled back")
    }

    /// Runs `value` in a transaction where it sees one state of the database, and can't write.
    func isolated<T>(_ value: (Database) throws -> T) throws -> T {
        try readOnly {
            try beginTransaction(.deferred)
            let result: T
            do {
                result = try insideTransactionBlock { try value(self) }
            } catch {
                rollbackAfterError()
                throw error
            }
            // What was read outside of the transaction may not go with the rest.
            try requireTransaction()
            // There is nothing to lose, whatever becomes of the commit.
            do { try commit() } catch { rollbackAfterError() }
            return result
        }
    }

    /// Runs `updates` in a transaction that is committed unless they throw.
    func committing<T>(_ updates: (Database) throws -> T) throws -> T {
        var result: T?
        try inTransaction {
            result = try updates(self)
            return .commit
        }
        return result!
    }
}

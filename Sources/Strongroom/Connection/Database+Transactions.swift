import CSQLCipher
import Foundation

extension Database {
    /// How a transaction begins. <https://www.sqlite.org/lang_transaction.html>
    public enum TransactionKind: String, Sendable {
        case deferred = "DEFERRED"
        case immediate = "IMMEDIATE"
        case exclusive = "EXCLUSIVE"
    }

    /// How a transaction ends.
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
        let completion: TransactionCompletion
        do {
            completion = try insideTransactionBlock(operations)
        } catch {
            try rollbackAfterError()
            throw error
        }
        switch completion {
        case .commit:
            do {
                try requireTransaction()
                try commit()
            } catch {
                try rollbackAfterError()
                throw error
            }
        case .rollback:
            try rollback()
        }
    }

    /// Runs `operations` in a savepoint, or in a transaction when none is open.
    ///
    /// <https://www.sqlite.org/lang_savepoint.html>
    public func inSavepoint(_ operations: () throws -> TransactionCompletion) throws {
        guard isInsideTransaction else {
            return try inTransaction(nil, operations)
        }
        try run(.savepoint)
        let completion: TransactionCompletion
        do {
            completion = try insideTransactionBlock(operations)
        } catch {
            try rollbackSavepointAfterError()
            throw error
        }
        switch completion {
        case .commit:
            do {
                try requireTransaction()
                try run(.release)
            } catch {
                try rollbackSavepointAfterError()
                throw error
            }
        case .rollback:
            try run(.rollbackToSavepoint)
            try run(.release)
        }
    }

    /// Runs `value` while writes throw `SQLITE_READONLY`.
    public func readOnly<T>(_ value: () throws -> T) throws -> T {
        requireAccess()
        readOnlyDepth += 1
        defer { readOnlyDepth -= 1 }
        return try value()
    }

    private func insideTransactionBlock<T>(_ operations: () throws -> T) rethrows -> T {
        transactionBlockDepth += 1
        defer { transactionBlockDepth -= 1 }
        return try operations()
    }

    /// A transaction that SQLite rolled back by itself can't be committed.
    private func requireTransaction() throws {
        if sqlite3_get_autocommit(sqliteConnection) != 0 {
            throw DatabaseError(resultCode: .SQLITE_ABORT, message: "Transaction was aborted")
        }
    }

    /// The error that led here counts; a rollback that fails because there is nothing to roll back doesn't.
    private func rollbackAfterError() throws {
        if isInsideTransaction { try? rollback() }
    }

    private func rollbackSavepointAfterError() throws {
        guard isInsideTransaction else { return }
        try? run(.rollbackToSavepoint)
        try? run(.release)
    }

    // MARK: - Statements

    /// Begins a transaction; throws when one is open.
    public func beginTransaction(_ kind: TransactionKind? = nil) throws {
        switch kind ?? defaultTransactionKind {
        case .deferred: try run(.beginDeferred)
        case .immediate: try run(.beginImmediate)
        case .exclusive: try run(.beginExclusive)
        }
    }

    private var defaultTransactionKind: TransactionKind {
        configuration.readonly || readOnlyDepth > 0 ? .deferred : configuration.defaultTransactionKind
    }

    /// Commits the transaction; throws when none is open.
    public func commit() throws {
        try run(.commit)
    }

    /// Rolls the transaction back; does nothing when none is open.
    public func rollback() throws {
        if isInsideTransaction { try run(.rollback) }
    }

    private func run(_ command: TransactionStatements.Command) throws {
        requireAccess()
        try transactionStatements.statement(for: command, of: self).run()
    }

    // MARK: - Date

    /// The date of the current transaction: the same for all who ask, until it ends. Outside of transactions, now.
    public var transactionDate: Date {
        get throws {
            requireAccess()
            guard isInsideTransaction else { return try configuration.transactionClock.now(self) }
            if let transactionDateIfKnown { return transactionDateIfKnown }
            let date = try configuration.transactionClock.now(self)
            transactionDateIfKnown = date
            return date
        }
    }
}

/// The statements that begin and end transactions, prepared once per connection.
final class TransactionStatements {
    enum Command: Int, CaseIterable {
        case beginDeferred, beginImmediate, beginExclusive, commit, rollback
        case savepoint, release, rollbackToSavepoint

        var sql: String {
            switch self {
            case .beginDeferred: "BEGIN DEFERRED TRANSACTION"
            case .beginImmediate: "BEGIN IMMEDIATE TRANSACTION"
            case .beginExclusive: "BEGIN EXCLUSIVE TRANSACTION"
            case .commit: "COMMIT TRANSACTION"
            case .rollback: "ROLLBACK TRANSACTION"
            case .savepoint: "SAVEPOINT strongroom"
            case .release: "RELEASE SAVEPOINT strongroom"
            case .rollbackToSavepoint: "ROLLBACK TRANSACTION TO SAVEPOINT strongroom"
            }
        }
    }

    private var statements = [Statement?](repeating: nil, count: Command.allCases.count)

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
        if !runs.isEmpty { runs.finishAll() }
        if !configuration.allowsUnsafeTransactions, sqliteConnection != nil, sqlite3_get_autocommit(sqliteConnection) == 0 {
            fatalError("""
                A transaction has been left open at the end of a database access. \
                Commit it or roll it back, or set Configuration.allowsUnsafeTransactions.
                """)
        }
    }

    /// Runs `value` in a transaction where it sees one state of the database, and can't write.
    func isolated<T>(_ value: (Database) throws -> T) throws -> T {
        try readOnly {
            try beginTransaction(.deferred)
            let result: T
            do {
                result = try insideTransactionBlock { try value(self) }
            } catch {
                try rollbackAfterError()
                throw error
            }
            // There is nothing to commit. SQLite may have ended the transaction by itself.
            try rollback()
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

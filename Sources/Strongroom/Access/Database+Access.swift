import CStrongroom

extension Database {
    /// Runs `value` as ``isolated(_:)`` does, in the state that the file has when it is called.
    func isolatedNow<T>(_ value: (Database) throws -> T) throws -> T {
        try isolated { db in
            try db.holdState()
            return try value(db)
        }
    }

    /// Calls `value` with one state of the database.
    ///
    /// - parameter isNow: true for the state at the call, false for the state at the first statement.
    /// - throws: the error that kept the read from beginning. `value` is not called in this case.
    func giveState(isNow: Bool, to value: (Result<Database, any Error>) -> Void) throws {
        var hasBegun = false
        do {
            try isolated { db in
                if isNow { try db.holdState() }
                hasBegun = true
                value(.success(db))
            }
        } catch {
            // `value` doesn't throw. A later error is one of the transaction's end, which has nothing to lose.
            if !hasBegun { throw error }
        }
    }

    /// Begins a read of the state that the file has now. Another access continues it with ``endIsolation(_:)``, on any
    /// thread.
    func beginIsolation() throws {
        setReadOnly(true)
        do {
            try beginTransaction(.deferred)
            try holdState()
        } catch {
            try? rollback()
            setReadOnly(false)
            throw error
        }
    }

    /// Runs `value` in the held state, and releases the state.
    func endIsolation(_ value: (Database) -> Void) {
        insideTransactionBlock { value(self) }
        // A read has nothing to lose if its commit fails.
        do { try commit() } catch { rollbackAfterError() }
        setReadOnly(false)
    }

    /// Calls `value` with the connection.
    ///
    /// - throws: the error that the connection is closed.
    func giveIfOpen(to value: (Result<Database, any Error>) -> Void) throws {
        _ = try openConnection
        value(.success(self))
    }

    /// Begins a transaction that lasts until the connection is closed.
    func holdStateForGood() throws {
        readOnlyDepth += 1
        try beginTransaction(.deferred)
        // From now on, a statement fails if the transaction has ended.
        transactionBlockDepth += 1
        try holdState()
    }

    /// Runs the smallest possible read: a deferred transaction takes its state at its first read.
    func holdState() throws {
        try untraced { try transactionStatements.statement(for: .holdState, of: self).run() }
    }

    /// Creates the files of the write-ahead log. A read-only connection without write access to the folder can't.
    func openLog() throws {
        try holdState()
    }

    /// Empties the database with SQLite's own reset, which doesn't need a valid schema.
    ///
    /// <https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigresetdatabase>
    func erase() throws {
        try setResets(true)
        let erasure = Result { try execute(sql: "VACUUM") }
        try setResets(false)
        try erasure.get()
        try execute(sql: "PRAGMA user_version = 0; PRAGMA application_id = 0")
        removeCachedStatements()
        try contentWasReplaced()
    }
}

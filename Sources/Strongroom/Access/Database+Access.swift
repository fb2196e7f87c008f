import CStrongroom

extension Database {
    /// Runs `value` as ``isolated(_:)`` does, in the state that the file has at the beginning.
    func isolatedNow<T>(_ value: (Database) throws -> T) throws -> T {
        try isolated { db in
            try db.holdState()
            return try value(db)
        }
    }

    /// Gives `value` one state of the database.
    ///
    /// - parameter isNow: whether it is the state of the beginning, and not that of the first statement.
    /// - throws: what kept the read from beginning. `value` is not called then.
    func giveState(isNow: Bool, to value: (Result<Database, any Error>) -> Void) throws {
        var hasBegun = false
        do {
            try isolated { db in
                if isNow { try db.holdState() }
                hasBegun = true
                value(.success(db))
            }
        } catch {
            // `value` doesn't throw: what comes later is the end of a transaction that has nothing to lose.
            if !hasBegun { throw error }
        }
    }

    /// Begins a read of the state that the file has now. ``endIsolation(_:)`` goes on with it, in another access of
    /// another thread.
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

    /// Runs `value` in the state that is held, and lets go of it.
    func endIsolation(_ value: (Database) -> Void) {
        transactions.insideBlock { value(self) }
        // There is nothing to lose, whatever becomes of the commit.
        do { try commit() } catch { rollbackAfterError() }
        setReadOnly(false)
    }

    /// Runs `value` with the connection.
    ///
    /// - throws: the error that it is closed.
    func giveIfOpen(to value: (Result<Database, any Error>) -> Void) throws {
        _ = try openConnection
        value(.success(self))
    }

    /// Begins a transaction that lasts until the connection is closed.
    func holdStateForGood() throws {
        transactions.readOnlyDepth += 1
        try beginTransaction(.deferred)
        // From now on a statement fails when the transaction is gone.
        transactions.blockDepth += 1
        try holdState()
    }

    /// A deferred transaction sees the state that its first read finds: this is the smallest one.
    func holdState() throws {
        try untraced { try transactions.statements.statement(for: .holdState, of: self).run() }
    }

    /// Creates the files of the write-ahead log: a connection that only reads, without write access to the folder,
    /// can't.
    func openLog() throws {
        try holdState()
    }

    /// Empties the database by way of SQLite's own reset, which needs no valid schema.
    ///
    /// <https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigresetdatabase>
    func erase() throws {
        try setResets(true)
        let erasure = Result { try execute(sql: "VACUUM") }
        try setResets(false)
        try erasure.get()
        try execute(sql: "PRAGMA user_version = 0; PRAGMA application_id = 0")
        statements.removeAll()
        try contentWasReplaced()
    }
}

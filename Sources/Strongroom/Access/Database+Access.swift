import CStrongroom

extension Database {
    /// Runs `value` as ``isolated(_:)`` does, in the state that the file has now: `held` is called when it is held.
    func isolatedNow(held: () -> Void, _ value: (Database) throws -> Void) throws {
        try isolated { db in
            try db.holdState()
            held()
            try value(db)
        }
    }

    /// Runs `value` in a transaction where it sees one state of the database, or with the error that there is none.
    func isolated(orFailing value: (Result<Database, any Error>) -> Void) {
        var hasBegun = false
        do {
            try isolated { db in
                hasBegun = true
                value(.success(db))
            }
        } catch {
            // `value` doesn't throw: what comes later is the end of a transaction that has nothing to lose.
            if !hasBegun { value(.failure(error)) }
        }
    }

    /// Runs `value` with the connection, or with the error that it is closed.
    func giveIfOpen(to value: (Result<Database, any Error>) -> Void) {
        value(Result {
            _ = try openConnection
            return self
        })
    }

    /// Begins a transaction that lasts until the connection is closed.
    func holdStateForGood() throws {
        readOnlyDepth += 1
        try beginTransaction(.deferred)
        // From now on a statement fails when the transaction is gone.
        transactionBlockDepth += 1
        try holdState()
    }

    /// A deferred transaction sees the state that its first read finds.
    func holdState() throws {
        try execute(sql: "SELECT 1 FROM sqlite_master LIMIT 1")
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
        removeCachedStatements()
        try tellOfNewContent()
    }
}

extension Database {
    /// Runs `value` as ``isolated(_:)`` does, on the connection of a queue, which writes, too.
    func readingInQueue<T>(_ value: (Database) throws -> T) throws -> T {
        figures.count(.queueReads)
        return try isolated(value)
    }

    /// Runs `value` as ``isolated(_:)`` does, in the state that the file has when it is called.
    func withCurrentSnapshot<T>(_ value: (Database) throws -> T) throws -> T {
        try isolated { db in
            try db.takeSnapshot()
            return try value(db)
        }
    }

    /// Calls `value` with one state of the database.
    ///
    /// - parameter isCurrent: true for the state of the beginning, false for that of the first statement.
    /// - throws: the error that kept the read from beginning. `value` is not called then.
    func passSnapshot(isCurrent: Bool, to value: (Result<Database, any Error>) -> Void) throws {
        var hasBegun = false
        do {
            try isolated { db in
                if isCurrent { try db.takeSnapshot() }
                hasBegun = true
                value(.success(db))
            }
        } catch {
            // `value` doesn't throw. A later error is one of the transaction's end, which has nothing to lose.
            if !hasBegun { throw error }
        }
    }

    /// Begins a read of the state that the file has now. ``endSnapshot(_:)`` goes on with it, in another access of
    /// another thread.
    func beginSnapshot() throws {
        setReadOnly(true)
        do {
            try beginTransaction(.deferred)
            try takeSnapshot()
        } catch {
            try? rollback()
            setReadOnly(false)
            throw error
        }
    }

    /// Runs `value` in the held state, and releases the state.
    func endSnapshot(_ value: (Database) -> Void) {
        transactions.insideBlock { value(self) }
        // A read has nothing to lose if its commit fails.
        do { try commit() } catch { rollbackAfterError() }
        setReadOnly(false)
    }

    /// Calls `value` with the connection.
    ///
    /// - throws: the error that the connection is closed.
    func passConnection(to value: (Result<Database, any Error>) -> Void) throws {
        _ = try openConnection
        value(.success(self))
    }

    /// Begins a transaction that lasts until the connection is closed.
    func holdSnapshotUntilClosing() throws {
        transactions.readOnlyDepth += 1
        try beginTransaction(.deferred)
        // From now on, a statement fails if the transaction has ended.
        transactions.blockDepth += 1
        try takeSnapshot()
    }

    /// Runs the smallest possible read: a deferred transaction takes its state at its first read.
    func takeSnapshot() throws {
        try untraced { try transactions.statements.run(.takeSnapshot, on: self) }
    }

    /// Creates the files of the write-ahead log. A read-only connection without write access to the folder can't.
    func openLog() throws {
        try takeSnapshot()
    }

    /// Empties the database with SQLite's own reset, which doesn't need a valid schema.
    ///
    /// <https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigresetdatabase>
    func erase() throws {
        try setResets(true)
        let erasure = Result { try vacuum() }
        try setResets(false)
        try erasure.get()
        try execute(sql: "PRAGMA user_version = 0; PRAGMA application_id = 0")
        statements.removeAll()
        try contentWasReplaced()
    }
}

/// Stops a program that would wait for itself.
func reentrancyError(_ description: String) -> Never {
    fatalError(
        """
        Database methods are not reentrant: \(description) is already being accessed by this thread. \
        Pass the `db` argument along, or use unsafeReentrantRead or unsafeReentrantWrite.
        """)
}

// Compiling and running SQL.

extension Database {
    // MARK: - Compiling

    /// Returns a new prepared statement. Throws if `sql` contains no statement, or more than one.
    public func makeStatement(sql: String) throws -> Statement {
        let (statement, isWhole) = try compiler.compile(whole: sql)
        guard isWhole else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "Multiple statements found. To execute multiple statements, "
                    + "use Database.execute(sql:) or Database.allStatements(sql:) instead.",
                sql: SQLText.withoutKeys(sql))
        }
        return statement
    }

    /// Returns the prepared statement for the SQL. Each call returns the same one.
    ///
    /// Don't use it for two cursors at the same time.
    public func cachedStatement(sql: String) throws -> Statement {
        requireAccess()
        if let statement = statements.exposed.statement(sql) {
            figures.count(.cachedStatements)
            return statement
        }
        let statement = try makeStatement(sql: sql)
        if statement.isReusable { statements.exposed.insert(statement, for: sql) }
        return statement
    }

    /// Returns a prepared statement that is not in use elsewhere, from the cache if possible.
    @usableFromInline
    func reusableStatement(sql: String) throws -> Statement {
        requireAccess()
        if let statement = statements.own.idleStatement(sql) {
            figures.count(.cachedStatements)
            return statement
        }
        let statement = try makeStatement(sql: sql)
        // It replaces a statement that is in use, or that the program keeps.
        remember(statement, for: sql)
        return statement
    }

    /// Returns the place in the cache of a statement that was reusable. Nil if it is not kept.
    func place(ofStatement sql: String) -> StatementCache.Place? { statements.own.place(sql) }

    /// Returns the statement at a place of the cache. Nil if it is in use elsewhere, or not there any more.
    func reusableStatement(at place: StatementCache.Place) -> Statement? {
        guard let statement = statements.own.idleStatement(at: place) else { return nil }
        figures.count(.cachedStatements)
        return statement
    }

    private func remember(_ statement: Statement, for sql: String) {
        if statement.isReusable { statements.own.insert(statement, for: sql) }
    }

    // MARK: - Running

    /// Runs one or several statements, separated by semicolons.
    ///
    /// Named arguments apply to all statements. Each statement takes its positional arguments from those that are left.
    public func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        requireAccess()
        if let statement = statements.own.idleStatement(sql) {
            figures.count(.cachedStatements)
            try statement.setArguments(arguments)
            defer { statement.forgetLargeArguments() }
            return try statement.run()
        }
        let all = try allStatements(sql: sql, arguments: arguments)
        var latest: Statement?
        var count = 0
        while let statement = try all.next() {
            try statement.run()
            latest = statement
            count += 1
        }
        if count == 1, let latest {
            latest.forgetLargeArguments()
            remember(latest, for: sql)
        }
    }

    /// Returns a cursor over the statements of `sql`. Each is compiled when the cursor reaches it, and gets its
    /// arguments.
    ///
    /// Without arguments, set those of each statement before it runs.
    public func allStatements(sql: String, arguments: StatementArguments? = nil) throws -> SQLStatementCursor {
        requireAccess()
        return SQLStatementCursor(self, sql: sql, arguments: arguments)
    }
}

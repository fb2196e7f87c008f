import CSQLCipher
import CStrongroom

// Compiling and running SQL.

extension Database {
    // MARK: - Compiling

    /// A new prepared statement. Throws when `sql` has none, or more than one.
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

    /// The prepared statement of that SQL, one and the same for each call.
    ///
    /// Don't use it for two cursors at once.
    public func cachedStatement(sql: String) throws -> Statement {
        requireAccess()
        if let statement = statements.exposed.statement(sql) { return statement }
        let statement = try makeStatement(sql: sql)
        if statement.isReusable { statements.exposed.insert(statement, for: sql) }
        return statement
    }

    /// A prepared statement that nobody else holds: from the cache if it can be.
    @usableFromInline
    func reusableStatement(sql: String) throws -> Statement {
        requireAccess()
        if let statement = statements.own.idleStatement(sql) { return statement }
        let statement = try makeStatement(sql: sql)
        // Takes the place of one that is in use, or that somebody keeps.
        remember(statement, for: sql)
        return statement
    }

    private func remember(_ statement: Statement, for sql: String) {
        if statement.isReusable { statements.own.insert(statement, for: sql) }
    }

    // MARK: - Running

    /// Runs one or several statements, separated by semicolons.
    ///
    /// Named arguments serve all statements, positional ones are used up from one statement to the next.
    public func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        requireAccess()
        if let statement = statements.own.idleStatement(sql) {
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

    /// A cursor on the statements of `sql`, each compiled when it is asked for, with its share of the arguments.
    ///
    /// Without arguments, the statements are to be given theirs.
    public func allStatements(sql: String, arguments: StatementArguments? = nil) throws -> SQLStatementCursor {
        requireAccess()
        return SQLStatementCursor(self, sql: sql, arguments: arguments)
    }
}

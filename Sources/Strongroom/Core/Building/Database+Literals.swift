// Compiling and running SQL literals.

extension Database {
    /// Returns a new prepared statement, with the arguments of the literal. If it has none, set them before the
    /// statement runs.
    public func makeStatement(literal sqlLiteral: SQL) throws -> Statement {
        let (sql, arguments) = try sqlLiteral.build(self)
        let statement = try makeStatement(sql: sql)
        if !arguments.isEmpty { try statement.setArguments(arguments) }
        return statement
    }

    /// Returns the prepared statement for the literal's SQL, with its arguments. If it has none, set them before the
    /// statement runs.
    public func cachedStatement(literal sqlLiteral: SQL) throws -> Statement {
        let (sql, arguments) = try sqlLiteral.build(self)
        let statement = try cachedStatement(sql: sql)
        if !arguments.isEmpty { try statement.setArguments(arguments) }
        return statement
    }

    /// Runs the statements of a literal.
    public func execute(literal sqlLiteral: SQL) throws {
        let (sql, arguments) = try sqlLiteral.build(self)
        try execute(sql: sql, arguments: arguments)
    }

    /// Returns a cursor over the statements of a literal, with their arguments. If it has none, set those of each
    /// statement before it runs.
    public func allStatements(literal sqlLiteral: SQL) throws -> SQLStatementCursor {
        let (sql, arguments) = try sqlLiteral.build(self)
        return try allStatements(sql: sql, arguments: arguments.isEmpty ? nil : arguments)
    }
}

extension Database {
    /// Returns the statement that `write` writes, with its arguments.
    func reusableStatement(_ write: (inout SQLWriter) throws -> Void) throws -> Statement {
        var writer = SQLWriter(self)
        try write(&writer)
        let statement = try reusableStatement(sql: writer.sql)
        try statement.setArguments(writer.arguments)
        return statement
    }
}

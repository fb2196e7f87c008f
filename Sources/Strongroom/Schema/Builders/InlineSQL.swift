// A schema is text that SQLite stores. It can't contain arguments.

extension Database {
    /// Returns the SQL of a literal, with its arguments as literals.
    ///
    /// - throws: `SQLITE_MISUSE` if there are too few arguments, or too many.
    func inlined(_ literal: SQL) throws -> String {
        let (sql, arguments) = try literal.build(self)
        return try InlineSQL.text(of: sql, arguments)
    }

    /// Returns the SQL of an expression, with its values as literals.
    func inlined(_ expression: some SQLExpressible) throws -> String {
        try inlined(SQL(elements: [.expression(expression.sqlExpression)]))
    }

    /// Returns the columns, quoted and separated by `separator`.
    static func list(_ columns: [String], separator: String = ", ") -> String {
        columns.map(\.quotedDatabaseIdentifier).joined(separator: separator)
    }
}

/// A replacement of the parameters of SQL by literals.
private struct InlineSQL {
    private let sql: String
    private var arguments: ArraySlice<DatabaseValue>
    private let namedValues: [String: DatabaseValue]

    static func text(of sql: String, _ arguments: StatementArguments) throws -> String {
        if arguments.isEmpty { return sql }
        var inlining = InlineSQL(sql, arguments)
        return try inlining.text()
    }

    private init(_ sql: String, _ arguments: StatementArguments) {
        self.sql = sql
        self.arguments = arguments.values[...]
        namedValues = arguments.namedValues
    }

    private mutating func text() throws -> String {
        var sql = sql, result: [UInt8] = [], copied = 0
        try sql.withUTF8 { bytes in
            for token in SQLTokens(bytes) where token.kind == .parameter {
                result += bytes[copied..<token.range.lowerBound]
                result += try literal(of: bytes[token.range]).utf8
                copied = token.range.upperBound
            }
            result += bytes[copied...]
        }
        if !arguments.isEmpty { throw mismatch }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the literal of the argument for a parameter, which is `?` or has a name.
    private mutating func literal(of parameter: Slice<UnsafeBufferPointer<UInt8>>) throws -> String {
        let name = String(decoding: parameter.dropFirst(), as: UTF8.self)
        let isNamed = parameter.first != UInt8(ascii: "?")
        guard isNamed != name.isEmpty, let value = namedValues[name] ?? arguments.popFirst() else { throw mismatch }
        return value.sqlLiteral
    }

    private var mismatch: DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "wrong number of arguments for SQL that has to be written out: a schema has no parameters",
            sql: sql)
    }
}

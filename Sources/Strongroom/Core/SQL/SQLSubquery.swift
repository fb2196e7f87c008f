/// A type whose values can be used as queries in parentheses.
///
/// Source: <https://www.sqlite.org/lang_expr.html#subq>.
public protocol SQLSubqueryable: SQLSpecificExpressible {
    var sqlSubquery: SQLSubquery { get }
}

extension SQLSubqueryable {
    /// The value of the first column in the query's first row. NULL without rows.
    public var sqlExpression: SQLExpression { SQLExpression(node: .subquery(sqlSubquery)) }

    /// Returns an expression that is true if a row of the query is `element`.
    ///
    /// Source: <https://www.sqlite.org/lang_expr.html#in_op>.
    public func contains(_ element: some SQLExpressible) -> SQLExpression {
        SQLExpression(node: .contained(element.sqlExpression, in: sqlSubquery, isNegated: false))
    }

    /// Returns an expression that is true if the query has rows.
    ///
    /// Source: <https://www.sqlite.org/lang_expr.html#exists_op>.
    public func exists() -> SQLExpression {
        SQLExpression(node: .exists(sqlSubquery, isNegated: false))
    }
}

/// A type that writes a query.
protocol SQLQueryWriting: Sendable {
    func write(to writer: inout SQLWriter) throws
}

/// A query as a part of another statement.
public struct SQLSubquery: SQLSubqueryable, Sendable {
    enum Node: Sendable {
        case literal(SQL)
        case query(any SQLQueryWriting)

        /// All rows of a table, which `IN` accepts by its name.
        case table(String)

        /// Rows of values, at least one.
        case values([[DatabaseValue]])
    }

    let node: Node

    /// The query.
    public var sqlSubquery: SQLSubquery { self }

    static func literal(_ sql: SQL) -> SQLSubquery {
        SQLSubquery(node: .literal(sql))
    }

    func write(to writer: inout SQLWriter) throws {
        switch node {
        case .literal(let sql): try writer.withUnknownTables { try sql.write(to: &$0) }
        case .query(let query): try query.write(to: &writer)
        case .table(let name):
            writer.note(readOf: name)
            writer.append("SELECT * FROM " + name.quotedDatabaseIdentifier)
        case .values(let rows): writer.append(rows: rows, columnCount: rows[0].count)
        }
    }

    /// Writes the query as the operand of `IN`.
    func writeList(to writer: inout SQLWriter) throws {
        guard case .table(let name) = node else { return try writeInParentheses(to: &writer) }
        writer.note(readOf: name)
        writer.append(name.quotedDatabaseIdentifier)
    }

    func writeInParentheses(to writer: inout SQLWriter) throws {
        writer.append("(")
        try write(to: &writer)
        writer.append(")")
    }
}

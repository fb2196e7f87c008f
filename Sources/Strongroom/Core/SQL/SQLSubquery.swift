/// A type whose values can stand as a query in parentheses.
///
/// Source: <https://www.sqlite.org/lang_expr.html#subq>.
public protocol SQLSubqueryable: SQLSpecificExpressible {
    var sqlSubquery: SQLSubquery { get }
}

extension SQLSubqueryable {
    /// The value of the first column of the query's first row; NULL when there is none.
    public var sqlExpression: SQLExpression { SQLExpression(node: .subquery(sqlSubquery)) }

    /// Returns true if the query gives `element` in one of its rows.
    ///
    /// Source: <https://www.sqlite.org/lang_expr.html#in_op>.
    public func contains(_ element: some SQLExpressible) -> SQLExpression {
        SQLExpression(node: .contained(element.sqlExpression, in: sqlSubquery, isNegated: false))
    }

    /// Returns true if the query gives any row.
    ///
    /// Source: <https://www.sqlite.org/lang_expr.html#exists_op>.
    public func exists() -> SQLExpression {
        SQLExpression(node: .exists(sqlSubquery, isNegated: false))
    }
}

/// A query that writes itself, whatever it is made of.
protocol SQLQueryWriting: Sendable {
    func write(to writer: inout SQLWriter) throws
}

/// A query as a part of another statement.
public struct SQLSubquery: SQLSubqueryable, Sendable {
    enum Node: Sendable {
        case literal(SQL)
        case query(any SQLQueryWriting)

        /// All of a table, which `IN` takes by its name.
        case table(String)

        /// Rows of values, one at least.
        case values([[DatabaseValue]])
    }

    let node: Node

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

    /// Writes the query after `IN`.
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

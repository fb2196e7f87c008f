/// An expression of SQL.
///
/// Source: <https://www.sqlite.org/lang_expr.html>.
public struct SQLExpression: SQLSpecificExpressible, Sendable {
    indirect enum Node: Sendable {
        case value(DatabaseValue)
        case column(String)
        case literal(SQL)
        case subquery(SQLSubquery)
        case exists(SQLSubquery)
        case contained(SQLExpression, in: SQLSubquery)
    }

    let node: Node

    public var sqlExpression: SQLExpression { self }

    static func value(_ value: DatabaseValue) -> SQLExpression {
        SQLExpression(node: .value(value))
    }

    func write(to writer: inout SQLWriter) throws {
        switch node {
        case .value(let value): writer.append(value)
        case .column(let name): writer.append(name.quotedDatabaseIdentifier)
        case .literal(let sql): try sql.write(to: &writer)
        case .subquery(let subquery): try subquery.writeInParentheses(to: &writer)
        case .exists(let subquery):
            writer.append("EXISTS ")
            try subquery.writeInParentheses(to: &writer)
        case .contained(let element, let subquery):
            try element.write(to: &writer)
            writer.append(" IN ")
            try subquery.writeInParentheses(to: &writer)
        }
    }
}

/// What a query selects.
public struct SQLSelection: SQLSelectable, Sendable {
    indirect enum Node: Sendable {
        case expression(SQLExpression)
    }

    let node: Node

    public var sqlSelection: SQLSelection { self }

    func write(to writer: inout SQLWriter) throws {
        switch node {
        case .expression(let expression): try expression.write(to: &writer)
        }
    }
}

/// How a query orders its rows.
public struct SQLOrdering: SQLOrderingTerm, Sendable {
    indirect enum Node: Sendable {
        case expression(SQLExpression)
    }

    let node: Node

    public var sqlOrdering: SQLOrdering { self }

    func write(to writer: inout SQLWriter) throws {
        switch node {
        case .expression(let expression): try expression.write(to: &writer)
        }
    }
}

/// Collects the text and the arguments of a statement.
struct SQLWriter {
    /// The connection that the SQL is for: names and keys depend on its schema.
    let db: Database

    private(set) var sql = ""
    private(set) var arguments = StatementArguments()

    init(_ db: Database) {
        self.db = db
    }

    mutating func append(_ text: String) {
        sql += text
    }

    /// A value becomes an argument: never text.
    mutating func append(_ value: DatabaseValue) {
        sql += "?"
        arguments.values.append(value)
    }

    mutating func append(_ text: String, arguments: StatementArguments) {
        sql += text
        self.arguments += arguments
    }
}

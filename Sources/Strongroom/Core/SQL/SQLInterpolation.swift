/// Gathers the interpolations of an ``SQL`` literal.
///
/// Existentials are disfavored, so that what is an expression, a selection and an ordering at once goes its own way.
public struct SQLInterpolation: StringInterpolationProtocol {
    var elements: [SQL.Element] = []

    public init(literalCapacity: Int, interpolationCount: Int) {
        elements.reserveCapacity(2 * interpolationCount + 1)
    }

    public mutating func appendLiteral(_ sql: String) {
        guard !sql.isEmpty else { return }
        elements.append(.text(sql, StatementArguments()))
    }

    /// SQL text as it is, with its arguments: `\(sql: "score > ?", arguments: [100])`.
    public mutating func appendInterpolation(sql: String, arguments: StatementArguments = StatementArguments()) {
        elements.append(.text(sql, arguments))
    }

    /// Another literal: `\(literal: condition)`.
    public mutating func appendInterpolation(literal sqlLiteral: SQL) {
        elements += sqlLiteral.elements
    }

    /// Another literal.
    public mutating func appendInterpolation(_ sqlLiteral: SQL) {
        elements += sqlLiteral.elements
    }

    /// A name, quoted: `\(identifier: "order")`.
    public mutating func appendInterpolation(identifier: String) {
        appendLiteral(identifier.quotedDatabaseIdentifier)
    }

    /// A value, or nil for NULL: it becomes an argument.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ expressible: (any SQLExpressible)?) {
        elements.append(.expression(expressible?.sqlExpression ?? .value(.null)))
    }

    /// The name of a collation, quoted if need be: `ORDER BY name COLLATE \(.nocase)`.
    public mutating func appendInterpolation(_ collation: Database.CollationName) {
        appendLiteral(collation.rawValue.sqlCollationName)
    }

    /// The name of a collation, quoted if need be.
    public mutating func appendInterpolation(_ collation: DatabaseCollation) {
        appendLiteral(collation.name.sqlCollationName)
    }

    /// Appends a selection; nil selects NULL.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ selection: (any SQLSelectable)?) {
        elements.append(selection.map { .selection($0.sqlSelection) } ?? .expression(.value(.null)))
    }

    /// The selection of a query.
    public mutating func appendInterpolation(_ selection: some SQLSelectable) {
        elements.append(.selection(selection.sqlSelection))
    }

    /// Appends an ordering term: `ORDER BY \(Column("score").desc)`.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ orderingTerm: any SQLOrderingTerm) {
        elements.append(.ordering(orderingTerm.sqlOrdering))
    }

    /// The order of a query's rows.
    public mutating func appendInterpolation(_ orderingTerm: some SQLOrderingTerm) {
        elements.append(.ordering(orderingTerm.sqlOrdering))
    }

    /// A query, without parentheses: `score = (\(maximumScoreRequest))`.
    public mutating func appendInterpolation(_ subquery: some SQLSubqueryable) {
        elements.append(.subquery(subquery.sqlSubquery))
    }

    /// The column that a coding key stands for, quoted.
    public mutating func appendInterpolation(_ key: some CodingKey) {
        appendInterpolation(identifier: key.stringValue)
    }

    /// The column that a coding key stands for, quoted.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ key: any CodingKey) {
        appendInterpolation(identifier: key.stringValue)
    }

    /// The column that a coding key stands for, when the key is an expression, too.
    public mutating func appendInterpolation(
        _ key: some SQLExpressible & SQLSelectable & SQLOrderingTerm & CodingKey)
    {
        elements.append(.expression(key.sqlExpression))
    }

    /// A column, an expression.
    public mutating func appendInterpolation(_ expressible: some SQLExpressible & SQLSelectable & SQLOrderingTerm) {
        elements.append(.expression(expressible.sqlExpression))
    }

    /// A string value: it becomes an argument.
    public mutating func appendInterpolation<S: StringProtocol>(_ string: S) {
        elements.append(.expression(String(string).sqlExpression))
    }

    /// The values of a sequence, in parentheses: `id IN \([1, 2, 3])`.
    public mutating func appendInterpolation<S: Sequence>(_ sequence: S) where S.Element: SQLExpressible {
        appendList(sequence.map(\.sqlExpression))
    }

    /// The values of a sequence, in parentheses.
    public mutating func appendInterpolation<S: Sequence<any SQLExpressible>>(_ sequence: S) {
        appendList(sequence.map(\.sqlExpression))
    }

    /// A value that is also a sequence, such as `Data`, is a value.
    public mutating func appendInterpolation<S: SQLExpressible & Sequence>(
        _ expressible: S) where S.Element: SQLExpressible
    {
        elements.append(.expression(expressible.sqlExpression))
    }

    private mutating func appendList(_ expressions: [SQLExpression]) {
        // An empty list is no SQL but of SQLite's own: a query without rows is.
        if expressions.isEmpty { return appendLiteral("(SELECT NULL WHERE NULL)") }
        appendLiteral("(")
        elements.append(.list(expressions))
        appendLiteral(")")
    }
}

/// The interpolations of an ``SQL`` literal.
///
/// Existentials are disfavored, so that a type that is an expression, a selection and an ordering has an overload of
/// its own.
public struct SQLInterpolation: StringInterpolationProtocol {
    var elements: [SQL.Element] = []

    /// Creates an empty interpolation.
    public init(literalCapacity: Int, interpolationCount: Int) {
        elements.reserveCapacity(2 * interpolationCount + 1)
    }

    /// Appends SQL text.
    public mutating func appendLiteral(_ sql: String) {
        guard !sql.isEmpty else { return }
        elements.append(.text(sql, StatementArguments()))
    }

    /// Appends SQL text with its arguments: `\(sql: "score > ?", arguments: [100])`.
    public mutating func appendInterpolation(sql: String, arguments: StatementArguments = StatementArguments()) {
        elements.append(.text(sql, arguments))
    }

    /// Appends another literal: `\(literal: condition)`.
    public mutating func appendInterpolation(literal sqlLiteral: SQL) {
        elements += sqlLiteral.elements
    }

    /// Appends another literal.
    public mutating func appendInterpolation(_ sqlLiteral: SQL) {
        elements += sqlLiteral.elements
    }

    /// Appends a quoted name: `\(identifier: "order")`.
    public mutating func appendInterpolation(identifier: String) {
        appendLiteral(identifier.quotedDatabaseIdentifier)
    }

    /// Appends a value as an argument. Nil is NULL.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ expressible: (any SQLExpressible)?) {
        elements.append(.expression(expressible?.sqlExpression ?? .value(.null)))
    }

    /// Appends a selection. Nil selects NULL.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ selection: (any SQLSelectable)?) {
        elements.append(selection.map { .selection($0.sqlSelection) } ?? .expression(.value(.null)))
    }

    /// Appends the selection of a query.
    public mutating func appendInterpolation(_ selection: some SQLSelectable) {
        elements.append(.selection(selection.sqlSelection))
    }

    /// Appends an ordering term: `ORDER BY \(Column("score").desc)`.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ orderingTerm: any SQLOrderingTerm) {
        elements.append(.ordering(orderingTerm.sqlOrdering))
    }

    /// Appends the order of a query's rows.
    public mutating func appendInterpolation(_ orderingTerm: some SQLOrderingTerm) {
        elements.append(.ordering(orderingTerm.sqlOrdering))
    }

    /// Appends a query, without parentheses: `score = (\(maximumScoreRequest))`.
    public mutating func appendInterpolation(_ subquery: some SQLSubqueryable) {
        elements.append(.subquery(subquery.sqlSubquery))
    }

    /// Appends the quoted column of a coding key.
    public mutating func appendInterpolation(_ key: some CodingKey) {
        appendInterpolation(identifier: key.stringValue)
    }

    /// Appends the quoted column of a coding key.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ key: any CodingKey) {
        appendInterpolation(identifier: key.stringValue)
    }

    /// Appends the column of a coding key that is an expression, too.
    public mutating func appendInterpolation(
        _ key: some SQLExpressible & SQLSelectable & SQLOrderingTerm & CodingKey
    ) {
        elements.append(.expression(key.sqlExpression))
    }

    /// Appends a column or an expression.
    public mutating func appendInterpolation(_ expressible: some SQLExpressible & SQLSelectable & SQLOrderingTerm) {
        elements.append(.expression(expressible.sqlExpression))
    }

    /// Appends a string as an argument.
    public mutating func appendInterpolation<S: StringProtocol>(_ string: S) {
        elements.append(.expression(String(string).sqlExpression))
    }

    /// Appends the values of a sequence, in parentheses: `id IN \([1, 2, 3])`.
    public mutating func appendInterpolation<S: Sequence>(_ sequence: S) where S.Element: SQLExpressible {
        appendList(sequence.map(\.sqlExpression))
    }

    /// Appends the values of a sequence, in parentheses.
    public mutating func appendInterpolation<S: Sequence<any SQLExpressible>>(_ sequence: S) {
        appendList(sequence.map(\.sqlExpression))
    }

    /// Appends a value that is also a sequence, such as `Data`, as a value.
    public mutating func appendInterpolation<S: SQLExpressible & Sequence>(
        _ expressible: S
    ) where S.Element: SQLExpressible {
        elements.append(.expression(expressible.sqlExpression))
    }

    private mutating func appendList(_ expressions: [SQLExpression]) {
        // An empty list is only valid in SQLite's own SQL: a query without rows replaces it.
        if expressions.isEmpty { return appendLiteral("(SELECT NULL WHERE NULL)") }
        appendLiteral("(")
        elements.append(.list(expressions))
        appendLiteral(")")
    }
}

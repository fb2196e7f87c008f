/// SQL text with its arguments, built from literals and interpolated values.
///
/// ```swift
/// try db.execute(literal: "UPDATE player SET name = \(name) WHERE id = \(id)")
/// ```
///
/// Interpolated values become arguments: they can't change the meaning of the SQL.
public struct SQL: Sendable {
    enum Element: Sendable {
        case text(String, StatementArguments)
        case expression(SQLExpression)
        case list([SQLExpression])
        case selection(SQLSelection)
        case ordering(SQLOrdering)
        case subquery(SQLSubquery)
        case literal(SQL)
        case commonTable(SQLCommonTable)
    }

    private(set) var elements: [Element]

    init(elements: [Element]) {
        self.elements = elements
    }

    /// Creates a literal from SQL and its arguments.
    public init(sql: String, arguments: StatementArguments = StatementArguments()) {
        self.init(elements: [.text(sql, arguments)])
    }

    /// Creates a literal from an expression.
    public init(_ expression: some SQLSpecificExpressible) {
        self.init(elements: [.expression(expression.sqlExpression)])
    }

    /// A Boolean value that indicates whether the literal has neither text nor interpolations.
    public var isEmpty: Bool {
        elements.allSatisfy {
            switch $0 {
            case .text(let sql, _): sql.isEmpty
            case .literal(let literal): literal.isEmpty
            default: false
            }
        }
    }

    /// Appends SQL and its arguments.
    public mutating func append(sql: String, arguments: StatementArguments = StatementArguments()) {
        elements.append(.text(sql, arguments))
    }

    /// Appends another literal.
    public mutating func append(literal sqlLiteral: SQL) {
        elements += sqlLiteral.elements
    }

    /// Returns the concatenation of two literals.
    public static func + (lhs: SQL, rhs: SQL) -> SQL {
        SQL(elements: lhs.elements + rhs.elements)
    }

    /// Appends a literal to another one.
    public static func += (lhs: inout SQL, rhs: SQL) {
        lhs.append(literal: rhs)
    }

    func write(to writer: inout SQLWriter) throws {
        for element in elements {
            switch element {
            case .text(let sql, let arguments): writer.append(literal: sql, arguments: arguments)
            case .expression(let expression): try expression.write(to: &writer)
            case .list(let expressions): try writer.append(list: expressions, separator: ",")
            case .selection(let selection): try selection.write(to: &writer)
            case .ordering(let ordering): try ordering.write(to: &writer)
            case .subquery(let subquery): try subquery.write(to: &writer)
            case .literal(let literal): try literal.write(to: &writer)
            case .commonTable(let table): try table.write(to: &writer)
            }
        }
    }
}

extension SQL: SQLSpecificExpressible {
    /// The value as an SQL expression.
    public var sqlExpression: SQLExpression { SQLExpression(node: .literal(self)) }

    // The text can be more than an expression: `name AS n`, `score DESC`.

    /// The value as a selection.
    public var sqlSelection: SQLSelection { SQLSelection(node: .literal(self)) }
    /// The value as an ordering term.
    public var sqlOrdering: SQLOrdering { SQLOrdering(node: .literal(self)) }
}

extension SQL: ExpressibleByStringInterpolation {
    /// Creates a literal from SQL.
    public init(unicodeScalarLiteral: String) {
        self.init(sql: unicodeScalarLiteral)
    }

    /// Creates a literal from SQL.
    public init(extendedGraphemeClusterLiteral: String) {
        self.init(sql: extendedGraphemeClusterLiteral)
    }

    /// Creates a literal from SQL.
    public init(stringLiteral: String) {
        self.init(sql: stringLiteral)
    }

    /// Creates a literal from SQL and interpolated values.
    public init(stringInterpolation sqlInterpolation: SQLInterpolation) {
        self.init(elements: sqlInterpolation.elements)
    }
}

extension Collection where Element == SQL {
    /// Returns the concatenation of the literals, with `separator` between them.
    public func joined(separator: String = "") -> SQL {
        var joined = SQL(elements: [])
        for (index, literal) in enumerated() {
            if index > 0, !separator.isEmpty { joined.append(sql: separator) }
            joined.append(literal: literal)
        }
        return joined
    }
}

extension Sequence where Element == SQL {
    /// Returns the concatenation of the literals, with `separator` between them.
    public func joined(separator: String = "") -> SQL {
        Array(self).joined(separator: separator)
    }
}

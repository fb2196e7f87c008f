/// An expression of SQL.
///
/// Source: <https://www.sqlite.org/lang_expr.html>.
public struct SQLExpression: SQLSpecificExpressible, Sendable {
    indirect enum Node: Sendable {
        case value(DatabaseValue)
        case column(String)
        case literal(SQL)
        case prefixed(Prefix, SQLExpression)
        case binary(SQLExpression, BinaryOperator, SQLExpression)
        case comparison(SQLExpression, Comparison, SQLExpression, collation: String?)
        case associative(AssociativeBinaryOperator, [SQLExpression])
        case between(SQLExpression, SQLExpression, SQLExpression, isNegated: Bool)
        case like(SQLExpression, SQLExpression, escape: SQLExpression?, isNegated: Bool)
        case listed(SQLExpression, in: [SQLExpression], isNegated: Bool)
        case contained(SQLExpression, in: SQLSubquery, isNegated: Bool)
        case exists(SQLSubquery, isNegated: Bool)
        case subquery(SQLSubquery)
        case function(FunctionCall)
        case cast(SQLExpression, String)
        case collated(SQLExpression, String)
        case qualified(SQLExpression, TableAliasBase)
        case rowExists(TableAliasBase)
    }

    enum Prefix: String, Sendable {
        case minus = "-"
        case bitwiseNot = "~"
        case not = "NOT "
    }

    enum BinaryOperator: String, Sendable {
        case subtract = "-"
        case divide = "/"
        case leftShift = "<<"
        case rightShift = ">>"
        case jsonExtract = "->>"
        case jsonRepresentation = "->"
    }

    enum Comparison: String, Sendable {
        case equal = "="
        case notEqual = "<>"
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case `is` = "IS"
        case isNot = "IS NOT"
        case match = "MATCH"

        /// The comparison that is true where this one is false, NULL apart; nil where SQL has none for all values.
        var negated: Comparison? {
            switch self {
            case .equal: .notEqual
            case .notEqual: .equal
            case .is: .isNot
            case .isNot: .is
            default: nil
            }
        }
    }

    /// A call of an SQL function. <https://www.sqlite.org/lang_aggfunc.html#syntax>
    struct FunctionCall: Sendable {
        var name: String
        var arguments: [SQLExpression]
        var isAggregate = false
        var isDistinct = false
        var ordering: SQLOrdering?
        var filter: SQLExpression?
    }

    /// An operator that joins any number of operands. See `joined(operator:)`.
    public struct AssociativeBinaryOperator: Hashable, Sendable {
        let sql: String

        /// What no operand at all amounts to.
        let neutralValue: DatabaseValue

        /// Whether operands can be regrouped without changing any result: rounding and overflow depend on the order.
        let isStrictlyAssociative: Bool

        /// `+`
        public static let add = Self(sql: "+", neutralValue: 0.databaseValue, isStrictlyAssociative: false)

        /// `*`
        public static let multiply = Self(sql: "*", neutralValue: 1.databaseValue, isStrictlyAssociative: false)

        /// `AND`
        public static let and = Self(sql: "AND", neutralValue: true.databaseValue, isStrictlyAssociative: true)

        /// `OR`
        public static let or = Self(sql: "OR", neutralValue: false.databaseValue, isStrictlyAssociative: true)

        /// `&`
        public static let bitwiseAnd = Self(sql: "&", neutralValue: (-1).databaseValue, isStrictlyAssociative: true)

        /// `|`
        public static let bitwiseOr = Self(sql: "|", neutralValue: 0.databaseValue, isStrictlyAssociative: true)

        /// `||`, which joins strings.
        public static let concat = Self(sql: "||", neutralValue: "".databaseValue, isStrictlyAssociative: true)
    }

    let node: Node

    public var sqlExpression: SQLExpression { self }

    init(node: Node) {
        self.node = node
    }

    static func value(_ value: DatabaseValue) -> SQLExpression {
        SQLExpression(node: .value(value))
    }

    static let null = SQLExpression.value(.null)

    static func function(_ name: String, _ arguments: [any SQLExpressible]) -> SQLExpression {
        SQLExpression(node: .function(FunctionCall(name: name, arguments: arguments.map(\.sqlExpression))))
    }

    // MARK: - Building

    /// `=`, `<>`, `IS`, `IS NOT`: comparing with NULL becomes `IS NULL` and `IS NOT NULL`.
    static func equality(_ lhs: SQLExpression, _ comparison: Comparison, _ rhs: SQLExpression) -> SQLExpression {
        let identity: Comparison = comparison == .equal || comparison == .is ? .is : .isNot
        if rhs.isNull { return .comparison(lhs, identity, rhs) }
        if lhs.isNull { return .comparison(rhs, identity, lhs) }
        return .comparison(lhs, comparison, rhs)
    }

    /// Collations of the operands go to the comparison, where SQLite looks for them.
    static func comparison(_ lhs: SQLExpression, _ comparison: Comparison, _ rhs: SQLExpression) -> SQLExpression {
        let (left, leftCollation) = lhs.withoutCollation
        let (right, rightCollation) = rhs.withoutCollation
        return SQLExpression(node: .comparison(left, comparison, right, collation: leftCollation ?? rightCollation))
    }

    static func associative(_ op: AssociativeBinaryOperator, _ operands: [SQLExpression]) -> SQLExpression {
        let flat = op.isStrictlyAssociative ? operands.flatMap { $0.operands(of: op) } : operands
        guard let first = flat.first else { return .value(op.neutralValue) }
        return flat.count == 1 ? first : SQLExpression(node: .associative(op, flat))
    }

    static func list(_ element: SQLExpression, in values: [SQLExpression]) -> SQLExpression {
        switch values.count {
        case 0: .value(false.databaseValue)
        case 1: .equality(element, .equal, values[0])
        default: SQLExpression(node: .listed(element, in: values, isNegated: false))
        }
    }

    var negated: SQLExpression {
        switch node {
        case .value(let value) where Bool.fromDatabaseValue(value) != nil:
            return .value((!Bool.fromDatabaseValue(value)!).databaseValue)
        case .comparison(let lhs, let comparison, let rhs, let collation):
            guard let negated = comparison.negated else { break }
            return SQLExpression(node: .comparison(lhs, negated, rhs, collation: collation))
        case .between(let element, let lower, let upper, let isNegated):
            return SQLExpression(node: .between(element, lower, upper, isNegated: !isNegated))
        case .like(let string, let pattern, let escape, let isNegated):
            return SQLExpression(node: .like(string, pattern, escape: escape, isNegated: !isNegated))
        case .listed(let element, let values, let isNegated):
            return SQLExpression(node: .listed(element, in: values, isNegated: !isNegated))
        case .contained(let element, let subquery, let isNegated):
            return SQLExpression(node: .contained(element, in: subquery, isNegated: !isNegated))
        case .exists(let subquery, let isNegated):
            return SQLExpression(node: .exists(subquery, isNegated: !isNegated))
        case .qualified(let base, let alias):
            return SQLExpression(node: .qualified(base.negated, alias))
        default:
            break
        }
        return SQLExpression(node: .prefixed(.not, self))
    }

    func collating(_ collation: String) -> SQLExpression {
        if case .comparison(let lhs, let comparison, let rhs, _) = node {
            return SQLExpression(node: .comparison(lhs, comparison, rhs, collation: collation))
        }
        return SQLExpression(node: .collated(self, collation))
    }

    // MARK: - Looking inside

    var isNull: Bool {
        if case .value(.null) = node { true } else { false }
    }

    private var withoutCollation: (SQLExpression, String?) {
        if case .collated(let base, let collation) = node { (base, collation) } else { (self, nil) }
    }

    /// The operands of `op`; the expression itself when it is something else.
    func operands(of op: AssociativeBinaryOperator) -> [SQLExpression] {
        if case .associative(op, let operands) = node { operands } else { [self] }
    }

    /// Whether the expression turns all rows of a group into one value.
    var isAggregate: Bool {
        switch node {
        case .function(let call): call.isAggregate || call.arguments.contains(where: \.isAggregate)
        case .prefixed(_, let base), .cast(let base, _), .collated(let base, _), .qualified(let base, _): base.isAggregate
        case .binary(let lhs, _, let rhs), .comparison(let lhs, _, let rhs, _): lhs.isAggregate || rhs.isAggregate
        case .associative(_, let operands): operands.contains(where: \.isAggregate)
        case .between(let a, let b, let c, _): a.isAggregate || b.isAggregate || c.isAggregate
        case .like(let a, let b, _, _): a.isAggregate || b.isAggregate
        case .listed(let element, _, _), .contained(let element, _, _): element.isAggregate
        case .value, .column, .literal, .exists, .subquery, .rowExists: false
        }
    }

    /// The column that the expression wants to be equal to a value, if it is such a condition.
    var columnEqualToValue: String? {
        switch node {
        case .comparison(let lhs, .equal, let rhs, _), .comparison(let lhs, .is, let rhs, _):
            if case .column(let name) = lhs.unqualified.node, case .value = rhs.node { return name }
            if case .column(let name) = rhs.unqualified.node, case .value = lhs.node { return name }
            return nil
        case .qualified(let base, _):
            return base.columnEqualToValue
        default:
            return nil
        }
    }

    /// The name of the column that the expression is, if it is one.
    var columnName: String? {
        if case .column(let name) = unqualified.node { name } else { nil }
    }

    private var unqualified: SQLExpression {
        if case .qualified(let base, _) = node { base.unqualified } else { self }
    }
}

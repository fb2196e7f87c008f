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
        case comparison(SQLExpression, Comparison, SQLExpression)
        case associative(AssociativeBinaryOperator, [SQLExpression])
        case between(SQLExpression, SQLExpression, SQLExpression, isNegated: Bool)
        case like(SQLExpression, SQLExpression, escape: SQLExpression?, isNegated: Bool)
        case listed(SQLExpression, in: [SQLExpression], isNegated: Bool)

        /// Several values that are compared as one. <https://www.sqlite.org/rowvalue.html>
        case row([SQLExpression])
        case contained(SQLExpression, in: SQLSubquery, isNegated: Bool)
        case exists(SQLSubquery, isNegated: Bool)
        case subquery(SQLSubquery)
        case function(FunctionCall)
        case cast(SQLExpression, String)
        case collated(SQLExpression, String)
        case qualified(SQLExpression, TableAliasBase)

        /// An expression whose value is JSON, which matters when it becomes a part of other JSON.
        case json(SQLExpression)
        case custom(any SQLExpressionWriting)

        /// A comparison of a count with zero.
        case isZero(SQLExpression, isNegated: Bool)

        /// The hidden column of a full-text table that has the name of the table.
        case wholeRow(String)
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

        /// The comparison with the opposite result, except for NULL. Nil if SQL has none for all values.
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

        /// The value of the operation without operands.
        let neutralValue: DatabaseValue

        /// True if regrouping operands does not change the result, by rounding or overflow.
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

    /// The value as an SQL expression.
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

    /// Returns `=`, `<>`, `IS` or `IS NOT`. Comparisons with NULL become `IS NULL` and `IS NOT NULL`.
    static func equality(_ lhs: SQLExpression, _ comparison: Comparison, _ rhs: SQLExpression) -> SQLExpression {
        let identity: Comparison = comparison == .equal || comparison == .is ? .is : .isNot
        if rhs.isNull { return .comparison(lhs, identity, rhs) }
        if lhs.isNull { return .comparison(rhs, identity, lhs) }
        return .comparison(lhs, comparison, rhs)
    }

    /// Returns a comparison, with the collations of its operands at its end. The left operand's has precedence.
    static func comparison(_ lhs: SQLExpression, _ comparison: Comparison, _ rhs: SQLExpression) -> SQLExpression {
        if case .collated(let base, let collation) = lhs.node {
            return .comparison(base, comparison, rhs).collating(collation)
        }
        if case .collated(let base, let collation) = rhs.node {
            return .comparison(lhs, comparison, base).collating(collation)
        }
        return SQLExpression(node: .comparison(lhs, comparison, rhs))
    }

    static func between(_ element: SQLExpression, _ lower: SQLExpression, _ upper: SQLExpression) -> SQLExpression {
        if case .collated(let base, let collation) = element.node {
            return .between(base, lower, upper).collating(collation)
        }
        return SQLExpression(node: .between(element, lower, upper, isNegated: false))
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

    /// Returns an expression that is true if columns have the values of one of the keys.
    static func matching(_ keys: [Key]) -> SQLExpression {
        // SQLite limits the depth of expressions, and has no better plan for many of them.
        if keys.count <= 100 { return .associative(.or, keys.map(equality)) }
        let groups = Dictionary(grouping: keys) { $0.map { [$0.column, $0.value.isNull ? "NULL" : ""] } }
        return .associative(.or, groups.sorted { $0.key.description < $1.key.description }.map { listed($0.value) })
    }

    typealias Key = [(column: String, value: DatabaseValue)]

    private static func equality(_ key: Key) -> SQLExpression {
        .associative(.and, key.map { .equality(Column($0.column).sqlExpression, .equal, .value($0.value)) })
    }

    /// Returns the condition for keys that are NULL in the same columns: a list can't contain NULL.
    private static func listed(_ keys: [Key]) -> SQLExpression {
        let nulls = keys[0].filter(\.value.isNull)
        let columns = keys[0].filter { !$0.value.isNull }.map { Column($0.column).sqlExpression }
        if columns.isEmpty { return equality(nulls) }
        let values = SQLSubquery(node: .values(keys.map { $0.map(\.value).filter { !$0.isNull } }))
        let row = columns.count == 1 ? columns[0] : SQLExpression(node: .row(columns))
        let listed = SQLExpression(node: .contained(row, in: values, isNegated: false))
        return nulls.isEmpty ? listed : .associative(.and, [equality(nulls), listed])
    }

    /// Returns the result of a comparison with a truth value if this is a truth value or NULL.
    func constantTruth(isEqualTo truth: Bool) -> SQLExpression? {
        switch node {
        case .value(let value) where value.isNull || value.integerTruth != nil: truth ? self : negated
        default: nil
        }
    }

    var negated: SQLExpression {
        switch node {
        case .value(let value):
            if value.isNull { return self }
            if let truth = value.integerTruth { return .value((!truth).databaseValue) }
        case .comparison(let lhs, let comparison, let rhs):
            guard let negated = comparison.negated else { break }
            return SQLExpression(node: .comparison(lhs, negated, rhs))
        case .collated(let base, let collation):
            return SQLExpression(node: .collated(base.negated, collation))
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
        case .isZero(let count, let isNegated):
            return SQLExpression(node: .isZero(count, isNegated: !isNegated))
        case .custom(let expression):
            return expression.negated
        case .qualified(let base, let alias):
            return SQLExpression(node: .qualified(base.negated, alias))
        default:
            break
        }
        return SQLExpression(node: .prefixed(.not, self))
    }

    func collating(_ collation: String) -> SQLExpression {
        switch node {
        // An operator that compares each of its operands on its own.
        case .associative(let op, let operands):
            SQLExpression(node: .associative(op, operands.map { $0.collating(collation) }))
        case .listed(let element, let values, let isNegated):
            SQLExpression(node: .listed(element.collating(collation), in: values, isNegated: isNegated))
        case .contained(let element, let subquery, let isNegated):
            SQLExpression(node: .contained(element.collating(collation), in: subquery, isNegated: isNegated))
        default:
            SQLExpression(node: .collated(self, collation))
        }
    }

    // MARK: - Inspecting

    var isNull: Bool {
        if case .value(.null) = node { true } else { false }
    }

    /// Returns the operands of `op`, or the expression itself if it is another one.
    func operands(of op: AssociativeBinaryOperator) -> [SQLExpression] {
        if case .associative(op, let operands) = node { operands } else { [self] }
    }

    /// True if the expression turns all rows of a group into one value. Arguments of functions are not inspected: if an
    /// aggregate is not recognized, a limit does no harm.
    var isAggregate: Bool {
        switch node {
        case .function(let call): call.isAggregate
        case .prefixed(_, let base), .collated(let base, _), .qualified(let base, _), .json(let base),
            .isZero(let base, _):
            base.isAggregate
        case .binary(let lhs, _, let rhs), .comparison(let lhs, _, let rhs): lhs.isAggregate || rhs.isAggregate
        case .associative(_, let operands): operands.contains(where: \.isAggregate)
        case .between(let a, let b, let c, _): a.isAggregate || b.isAggregate || c.isAggregate
        case .listed(let element, _, _), .contained(let element, _, _): element.isAggregate
        case .value, .column, .literal, .cast, .like, .exists, .subquery, .custom, .wholeRow, .row: false
        }
    }

    /// The column that the expression requires to be equal to a value. Nil for other expressions.
    var columnEqualToValue: String? {
        switch node {
        case .comparison(let lhs, .equal, let rhs), .comparison(let lhs, .is, let rhs):
            if case .column(let name) = lhs.unqualified.node, case .value = rhs.node { return name }
            if case .column(let name) = rhs.unqualified.node, case .value = lhs.node { return name }
            return nil
        case .qualified(let base, _):
            return base.columnEqualToValue
        default:
            return nil
        }
    }

    /// The name of the column that the expression is. Nil for other expressions.
    var columnName: String? {
        if case .column(let name) = unqualified.node { name } else { nil }
    }

    private var unqualified: SQLExpression {
        switch node {
        case .qualified(let base, _), .json(let base): base.unqualified
        default: self
        }
    }
}

extension DatabaseValue {
    /// The truth value of 0 and 1. Nil for all other values.
    var integerTruth: Bool? {
        switch storage {
        case .int64(0): false
        case .int64(1): true
        default: nil
        }
    }
}

// Aggregates in expressions: with one another, and with values and expressions on either side.

extension AssociationAggregate {
    // MARK: - Comparison

    /// `==`
    public static func == (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { .equality($0, .equal, $1) }
    }

    /// `==`
    public static func == (lhs: Self, rhs: (any SQLExpressible)?) -> Self {
        let rhs = rhs?.sqlExpression ?? .null
        return lhs.map { .equality($0, .equal, rhs) }
    }

    /// `==`
    public static func == (lhs: (any SQLExpressible)?, rhs: Self) -> Self {
        let lhs = lhs?.sqlExpression ?? .null
        return rhs.map { .equality(lhs, .equal, $0) }
    }

    /// `!=`
    public static func != (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { .equality($0, .notEqual, $1) }
    }

    /// `!=`
    public static func != (lhs: Self, rhs: (any SQLExpressible)?) -> Self {
        let rhs = rhs?.sqlExpression ?? .null
        return lhs.map { .equality($0, .notEqual, rhs) }
    }

    /// `!=`
    public static func != (lhs: (any SQLExpressible)?, rhs: Self) -> Self {
        let lhs = lhs?.sqlExpression ?? .null
        return rhs.map { .equality(lhs, .notEqual, $0) }
    }

    /// `===`
    public static func === (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { .equality($0, .is, $1) }
    }

    /// `===`
    public static func === (lhs: Self, rhs: (any SQLExpressible)?) -> Self {
        let rhs = rhs?.sqlExpression ?? .null
        return lhs.map { .equality($0, .is, rhs) }
    }

    /// `===`
    public static func === (lhs: (any SQLExpressible)?, rhs: Self) -> Self {
        let lhs = lhs?.sqlExpression ?? .null
        return rhs.map { .equality(lhs, .is, $0) }
    }

    /// `!==`
    public static func !== (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { .equality($0, .isNot, $1) }
    }

    /// `!==`
    public static func !== (lhs: Self, rhs: (any SQLExpressible)?) -> Self {
        let rhs = rhs?.sqlExpression ?? .null
        return lhs.map { .equality($0, .isNot, rhs) }
    }

    /// `!==`
    public static func !== (lhs: (any SQLExpressible)?, rhs: Self) -> Self {
        let lhs = lhs?.sqlExpression ?? .null
        return rhs.map { .equality(lhs, .isNot, $0) }
    }

    /// `==`, with a condition: the condition, or its opposite.
    public static func == (lhs: Self, rhs: Bool) -> Self {
        lhs.map { rhs ? $0 : $0.negated }
    }

    /// `==`, with a condition: the condition, or its opposite.
    public static func == (lhs: Bool, rhs: Self) -> Self {
        rhs == lhs
    }

    /// `!=`, with a condition: the condition, or its opposite.
    public static func != (lhs: Self, rhs: Bool) -> Self {
        lhs.map { rhs ? $0.negated : $0 }
    }

    /// `!=`, with a condition: the condition, or its opposite.
    public static func != (lhs: Bool, rhs: Self) -> Self {
        rhs != lhs
    }

    /// `<`
    public static func < (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { .comparison($0, .less, $1) }
    }

    /// `<`
    public static func < (lhs: Self, rhs: some SQLExpressible) -> Self {
        let rhs = rhs.sqlExpression
        return lhs.map { .comparison($0, .less, rhs) }
    }

    /// `<`
    public static func < (lhs: some SQLExpressible, rhs: Self) -> Self {
        let lhs = lhs.sqlExpression
        return rhs.map { .comparison(lhs, .less, $0) }
    }

    /// `<=`
    public static func <= (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { .comparison($0, .lessOrEqual, $1) }
    }

    /// `<=`
    public static func <= (lhs: Self, rhs: some SQLExpressible) -> Self {
        let rhs = rhs.sqlExpression
        return lhs.map { .comparison($0, .lessOrEqual, rhs) }
    }

    /// `<=`
    public static func <= (lhs: some SQLExpressible, rhs: Self) -> Self {
        let lhs = lhs.sqlExpression
        return rhs.map { .comparison(lhs, .lessOrEqual, $0) }
    }

    /// `>`
    public static func > (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { .comparison($0, .greater, $1) }
    }

    /// `>`
    public static func > (lhs: Self, rhs: some SQLExpressible) -> Self {
        let rhs = rhs.sqlExpression
        return lhs.map { .comparison($0, .greater, rhs) }
    }

    /// `>`
    public static func > (lhs: some SQLExpressible, rhs: Self) -> Self {
        let lhs = lhs.sqlExpression
        return rhs.map { .comparison(lhs, .greater, $0) }
    }

    /// `>=`
    public static func >= (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { .comparison($0, .greaterOrEqual, $1) }
    }

    /// `>=`
    public static func >= (lhs: Self, rhs: some SQLExpressible) -> Self {
        let rhs = rhs.sqlExpression
        return lhs.map { .comparison($0, .greaterOrEqual, rhs) }
    }

    /// `>=`
    public static func >= (lhs: some SQLExpressible, rhs: Self) -> Self {
        let lhs = lhs.sqlExpression
        return rhs.map { .comparison(lhs, .greaterOrEqual, $0) }
    }

    // MARK: - Logic

    /// Returns the opposite condition.
    public static prefix func ! (aggregate: Self) -> Self {
        aggregate.map { $0.negated }
    }

    /// `AND`
    public static func && (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { .associative(.and, [$0, $1]) }
    }

    /// `AND`
    public static func && (lhs: Self, rhs: some SQLExpressible) -> Self {
        let rhs = rhs.sqlExpression
        return lhs.map { .associative(.and, [$0, rhs]) }
    }

    /// `AND`
    public static func && (lhs: some SQLExpressible, rhs: Self) -> Self {
        let lhs = lhs.sqlExpression
        return rhs.map { .associative(.and, [lhs, $0]) }
    }

    /// `OR`
    public static func || (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { .associative(.or, [$0, $1]) }
    }

    /// `OR`
    public static func || (lhs: Self, rhs: some SQLExpressible) -> Self {
        let rhs = rhs.sqlExpression
        return lhs.map { .associative(.or, [$0, rhs]) }
    }

    /// `OR`
    public static func || (lhs: some SQLExpressible, rhs: Self) -> Self {
        let lhs = lhs.sqlExpression
        return rhs.map { .associative(.or, [lhs, $0]) }
    }

    // MARK: - Arithmetic

    /// `-`
    public static prefix func - (aggregate: Self) -> Self {
        aggregate.map { SQLExpression(node: .prefixed(.minus, $0)) }
    }

    /// `+`
    public static func + (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { .associative(.add, [$0, $1]) }
    }

    /// `+`
    public static func + (lhs: Self, rhs: some SQLExpressible) -> Self {
        let rhs = rhs.sqlExpression
        return lhs.map { .associative(.add, [$0, rhs]) }
    }

    /// `+`
    public static func + (lhs: some SQLExpressible, rhs: Self) -> Self {
        let lhs = lhs.sqlExpression
        return rhs.map { .associative(.add, [lhs, $0]) }
    }

    /// `*`
    public static func * (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { .associative(.multiply, [$0, $1]) }
    }

    /// `*`
    public static func * (lhs: Self, rhs: some SQLExpressible) -> Self {
        let rhs = rhs.sqlExpression
        return lhs.map { .associative(.multiply, [$0, rhs]) }
    }

    /// `*`
    public static func * (lhs: some SQLExpressible, rhs: Self) -> Self {
        let lhs = lhs.sqlExpression
        return rhs.map { .associative(.multiply, [lhs, $0]) }
    }

    /// `-`
    public static func - (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { SQLExpression(node: .binary($0, .subtract, $1)) }
    }

    /// `-`
    public static func - (lhs: Self, rhs: some SQLExpressible) -> Self {
        let rhs = rhs.sqlExpression
        return lhs.map { SQLExpression(node: .binary($0, .subtract, rhs)) }
    }

    /// `-`
    public static func - (lhs: some SQLExpressible, rhs: Self) -> Self {
        let lhs = lhs.sqlExpression
        return rhs.map { SQLExpression(node: .binary(lhs, .subtract, $0)) }
    }

    /// `/`
    public static func / (lhs: Self, rhs: Self) -> Self {
        lhs.combined(with: rhs) { SQLExpression(node: .binary($0, .divide, $1)) }
    }

    /// `/`
    public static func / (lhs: Self, rhs: some SQLExpressible) -> Self {
        let rhs = rhs.sqlExpression
        return lhs.map { SQLExpression(node: .binary($0, .divide, rhs)) }
    }

    /// `/`
    public static func / (lhs: some SQLExpressible, rhs: Self) -> Self {
        let lhs = lhs.sqlExpression
        return rhs.map { SQLExpression(node: .binary(lhs, .divide, $0)) }
    }

    /// `IFNULL(aggregate, value)`, under the name of the aggregate.
    public static func ?? (lhs: Self, rhs: some SQLExpressible) -> Self {
        let rhs = rhs.sqlExpression
        return lhs.map(key: lhs.key) { .function("IFNULL", [$0, rhs]) }
    }
}

/// `ABS(aggregate)`
public func abs<RowDecoder>(_ aggregate: AssociationAggregate<RowDecoder>) -> AssociationAggregate<RowDecoder> {
    aggregate.map { abs($0) }
}

/// `LENGTH(aggregate)`
public func length<RowDecoder>(_ aggregate: AssociationAggregate<RowDecoder>) -> AssociationAggregate<RowDecoder> {
    aggregate.map { length($0) }
}

/// `CAST(aggregate AS storageClass)`, under the name of the aggregate. <https://www.sqlite.org/lang_expr.html#castexpr>
public func cast<RowDecoder>(
    _ aggregate: AssociationAggregate<RowDecoder>,
    as storageClass: Database.StorageClass
) -> AssociationAggregate<RowDecoder> {
    aggregate.map(key: aggregate.key) { cast($0, as: storageClass) }
}

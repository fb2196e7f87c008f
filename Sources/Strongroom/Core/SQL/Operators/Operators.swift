// Swift operators that create SQL expressions. Each exists between two expressions, and with an expression on either
// side of a plain value.

extension SQLSpecificExpressible {
    // MARK: - Equality

    /// `=`, or `IS NULL` beside nil.
    public static func == (lhs: Self, rhs: (any SQLExpressible)?) -> SQLExpression {
        .equality(lhs.sqlExpression, .equal, rhs?.sqlExpression ?? .null)
    }

    /// `=`, or `IS NULL` beside nil.
    public static func == (lhs: (any SQLExpressible)?, rhs: Self) -> SQLExpression {
        .equality(lhs?.sqlExpression ?? .null, .equal, rhs.sqlExpression)
    }

    /// `=`
    public static func == (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .equality(lhs.sqlExpression, .equal, rhs.sqlExpression)
    }

    /// `=` beside 1 or 0.
    public static func == (lhs: Self, rhs: Bool) -> SQLExpression {
        lhs.sqlExpression.constantTruth(isEqualTo: rhs) ?? .equality(lhs.sqlExpression, .equal, rhs.sqlExpression)
    }

    /// `=` beside 1 or 0.
    public static func == (lhs: Bool, rhs: Self) -> SQLExpression {
        rhs == lhs
    }

    /// `<>`, or `IS NOT NULL` beside nil.
    public static func != (lhs: Self, rhs: (any SQLExpressible)?) -> SQLExpression {
        .equality(lhs.sqlExpression, .notEqual, rhs?.sqlExpression ?? .null)
    }

    /// `<>`, or `IS NOT NULL` beside nil.
    public static func != (lhs: (any SQLExpressible)?, rhs: Self) -> SQLExpression {
        .equality(lhs?.sqlExpression ?? .null, .notEqual, rhs.sqlExpression)
    }

    /// `<>`
    public static func != (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .equality(lhs.sqlExpression, .notEqual, rhs.sqlExpression)
    }

    /// `<>` beside 1 or 0.
    public static func != (lhs: Self, rhs: Bool) -> SQLExpression {
        lhs.sqlExpression.constantTruth(isEqualTo: !rhs) ?? .equality(lhs.sqlExpression, .notEqual, rhs.sqlExpression)
    }

    /// `<>` beside 1 or 0.
    public static func != (lhs: Bool, rhs: Self) -> SQLExpression {
        rhs != lhs
    }

    // MARK: - Identity

    /// `IS`: NULL is NULL.
    public static func === (lhs: Self, rhs: (any SQLExpressible)?) -> SQLExpression {
        .equality(lhs.sqlExpression, .is, rhs?.sqlExpression ?? .null)
    }

    /// `IS`: NULL is NULL.
    public static func === (lhs: (any SQLExpressible)?, rhs: Self) -> SQLExpression {
        .equality(lhs?.sqlExpression ?? .null, .is, rhs.sqlExpression)
    }

    /// `IS`: NULL is NULL.
    public static func === (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .equality(lhs.sqlExpression, .is, rhs.sqlExpression)
    }

    /// `IS NOT`
    public static func !== (lhs: Self, rhs: (any SQLExpressible)?) -> SQLExpression {
        .equality(lhs.sqlExpression, .isNot, rhs?.sqlExpression ?? .null)
    }

    /// `IS NOT`
    public static func !== (lhs: (any SQLExpressible)?, rhs: Self) -> SQLExpression {
        .equality(lhs?.sqlExpression ?? .null, .isNot, rhs.sqlExpression)
    }

    /// `IS NOT`
    public static func !== (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .equality(lhs.sqlExpression, .isNot, rhs.sqlExpression)
    }

    // MARK: - Negation

    /// `NOT`, or the opposite operator: `NOT IN`, `<>`, `IS NOT NULL`…
    public static prefix func ! (value: Self) -> SQLExpression { value.sqlExpression.negated }

    /// `-`
    public static prefix func - (value: Self) -> SQLExpression {
        SQLExpression(node: .prefixed(.minus, value.sqlExpression))
    }

    /// `~`
    public static prefix func ~ (value: Self) -> SQLExpression {
        SQLExpression(node: .prefixed(.bitwiseNot, value.sqlExpression))
    }

    // MARK: - Replacement of NULL

    /// `IFNULL(lhs, rhs)`
    public static func ?? (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .function("IFNULL", [lhs, rhs])
    }
}

// Each operator exists three times: between two expressions, and with an expression on either side of a plain value.

extension SQLSpecificExpressible {
    // MARK: - Comparison

    /// `<`
    public static func < (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .comparison(lhs.sqlExpression, .less, rhs.sqlExpression)
    }

    /// `<`
    public static func < (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .comparison(lhs.sqlExpression, .less, rhs.sqlExpression)
    }

    /// `<`
    public static func < (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .comparison(lhs.sqlExpression, .less, rhs.sqlExpression)
    }

    /// `<=`
    public static func <= (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .comparison(lhs.sqlExpression, .lessOrEqual, rhs.sqlExpression)
    }

    /// `<=`
    public static func <= (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .comparison(lhs.sqlExpression, .lessOrEqual, rhs.sqlExpression)
    }

    /// `<=`
    public static func <= (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .comparison(lhs.sqlExpression, .lessOrEqual, rhs.sqlExpression)
    }

    /// `>`
    public static func > (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .comparison(lhs.sqlExpression, .greater, rhs.sqlExpression)
    }

    /// `>`
    public static func > (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .comparison(lhs.sqlExpression, .greater, rhs.sqlExpression)
    }

    /// `>`
    public static func > (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .comparison(lhs.sqlExpression, .greater, rhs.sqlExpression)
    }

    /// `>=`
    public static func >= (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .comparison(lhs.sqlExpression, .greaterOrEqual, rhs.sqlExpression)
    }

    /// `>=`
    public static func >= (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .comparison(lhs.sqlExpression, .greaterOrEqual, rhs.sqlExpression)
    }

    /// `>=`
    public static func >= (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .comparison(lhs.sqlExpression, .greaterOrEqual, rhs.sqlExpression)
    }

    // MARK: - Arithmetic

    /// `-`
    public static func - (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        SQLExpression(node: .binary(lhs.sqlExpression, .subtract, rhs.sqlExpression))
    }

    /// `-`
    public static func - (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        SQLExpression(node: .binary(lhs.sqlExpression, .subtract, rhs.sqlExpression))
    }

    /// `-`
    public static func - (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(node: .binary(lhs.sqlExpression, .subtract, rhs.sqlExpression))
    }

    /// `/`
    public static func / (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        SQLExpression(node: .binary(lhs.sqlExpression, .divide, rhs.sqlExpression))
    }

    /// `/`
    public static func / (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        SQLExpression(node: .binary(lhs.sqlExpression, .divide, rhs.sqlExpression))
    }

    /// `/`
    public static func / (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(node: .binary(lhs.sqlExpression, .divide, rhs.sqlExpression))
    }

    /// `<<`
    public static func << (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        SQLExpression(node: .binary(lhs.sqlExpression, .leftShift, rhs.sqlExpression))
    }

    /// `<<`
    public static func << (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        SQLExpression(node: .binary(lhs.sqlExpression, .leftShift, rhs.sqlExpression))
    }

    /// `<<`
    public static func << (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(node: .binary(lhs.sqlExpression, .leftShift, rhs.sqlExpression))
    }

    /// `>>`
    public static func >> (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        SQLExpression(node: .binary(lhs.sqlExpression, .rightShift, rhs.sqlExpression))
    }

    /// `>>`
    public static func >> (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        SQLExpression(node: .binary(lhs.sqlExpression, .rightShift, rhs.sqlExpression))
    }

    /// `>>`
    public static func >> (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(node: .binary(lhs.sqlExpression, .rightShift, rhs.sqlExpression))
    }

    // MARK: - Operators that can be joined

    /// `+`
    public static func + (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .associative(.add, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `+`
    public static func + (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .associative(.add, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `+`
    public static func + (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .associative(.add, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `*`
    public static func * (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .associative(.multiply, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `*`
    public static func * (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .associative(.multiply, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `*`
    public static func * (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .associative(.multiply, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `&`
    public static func & (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .associative(.bitwiseAnd, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `&`
    public static func & (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .associative(.bitwiseAnd, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `&`
    public static func & (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .associative(.bitwiseAnd, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `|`
    public static func | (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .associative(.bitwiseOr, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `|`
    public static func | (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .associative(.bitwiseOr, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `|`
    public static func | (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .associative(.bitwiseOr, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `AND`
    public static func && (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .associative(.and, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `AND`
    public static func && (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .associative(.and, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `AND`
    public static func && (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .associative(.and, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `OR`
    public static func || (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .associative(.or, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `OR`
    public static func || (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .associative(.or, [lhs.sqlExpression, rhs.sqlExpression])
    }

    /// `OR`
    public static func || (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .associative(.or, [lhs.sqlExpression, rhs.sqlExpression])
    }
}

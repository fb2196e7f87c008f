extension Sequence where Element: SQLExpressible {
    /// `element IN (…)`. `=` for one value, and false without values.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .list(element.sqlExpression, in: map(\.sqlExpression))
    }
}

extension Sequence where Element == any SQLExpressible {
    /// `element IN (…)`. `=` for one value, and false without values.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .list(element.sqlExpression, in: map(\.sqlExpression))
    }
}

extension Sequence where Element: SQLSpecificExpressible {
    /// Returns the elements, joined by the operator. The operator's neutral value without elements.
    public func joined(operator: SQLExpression.AssociativeBinaryOperator) -> SQLExpression {
        .associative(`operator`, map(\.sqlExpression))
    }
}

extension Sequence where Element == any SQLSpecificExpressible {
    /// Returns the elements, joined by the operator. The operator's neutral value without elements.
    public func joined(operator: SQLExpression.AssociativeBinaryOperator) -> SQLExpression {
        .associative(`operator`, map(\.sqlExpression))
    }
}

extension ClosedRange where Bound: SQLExpressible & Comparable {
    /// `element BETWEEN lowerBound AND upperBound`
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .between(element.sqlExpression, lowerBound.sqlExpression, upperBound.sqlExpression)
    }
}

extension ClosedRange where Bound: SQLExpressible & Strideable, Bound.Stride: SignedInteger {
    /// `element BETWEEN lowerBound AND upperBound`, without a list of values.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .between(element.sqlExpression, lowerBound.sqlExpression, upperBound.sqlExpression)
    }
}

extension Range where Bound: SQLExpressible & Comparable {
    /// `element >= lowerBound AND element < upperBound`
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element >= lowerBound && element < upperBound
    }
}

extension Range where Bound: SQLExpressible & Strideable, Bound.Stride: SignedInteger {
    /// `element >= lowerBound AND element < upperBound`, without a list of values.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element >= lowerBound && element < upperBound
    }
}

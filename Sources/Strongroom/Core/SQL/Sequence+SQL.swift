extension Sequence where Element: SQLExpressible {
    /// `element IN (…)`; `=` for one value, false for none.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .list(element.sqlExpression, in: map(\.sqlExpression))
    }
}

extension Sequence where Element == any SQLExpressible {
    /// `element IN (…)`; `=` for one value, false for none.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .list(element.sqlExpression, in: map(\.sqlExpression))
    }
}

extension Sequence where Element: SQLSpecificExpressible {
    /// The elements with the operator between them; the operator's neutral value when there is none.
    public func joined(operator: SQLExpression.AssociativeBinaryOperator) -> SQLExpression {
        .associative(`operator`, map(\.sqlExpression))
    }
}

extension Sequence where Element == any SQLSpecificExpressible {
    /// The elements with the operator between them; the operator's neutral value when there is none.
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
    /// `element BETWEEN lowerBound AND upperBound`, not the list of all its values.
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
    /// `element >= lowerBound AND element < upperBound`, not the list of all its values.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element >= lowerBound && element < upperBound
    }
}

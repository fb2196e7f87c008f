// Expressions with the connection's storage classes, collations and functions.

/// `CAST(expression AS storageClass)`. <https://www.sqlite.org/lang_expr.html#castexpr>
public func cast(_ expression: some SQLSpecificExpressible, as storageClass: Database.StorageClass) -> SQLExpression {
    SQLExpression(node: .cast(expression.sqlExpression, storageClass.rawValue))
}

extension SQLSpecificExpressible {
    /// Returns the expression with a collation, for comparisons and orderings.
    /// <https://www.sqlite.org/datatype3.html#collation>
    public func collating(_ collation: Database.CollationName) -> SQLExpression {
        sqlExpression.collating(collation.rawValue)
    }

    /// Returns the expression with a collation, which the connection must have.
    public func collating(_ collation: DatabaseCollation) -> SQLExpression {
        sqlExpression.collating(collation.name)
    }
}

extension SQLInterpolation {
    /// Appends the name of a collation, quoted if necessary: `ORDER BY name COLLATE \(.nocase)`.
    public mutating func appendInterpolation(_ collation: Database.CollationName) {
        appendLiteral(collation.rawValue.sqlCollationName)
    }

    /// Appends the name of a collation, quoted if necessary.
    public mutating func appendInterpolation(_ collation: DatabaseCollation) {
        appendLiteral(collation.name.sqlCollationName)
    }
}

extension DatabaseFunction {
    /// Returns a call of the function, as an expression.
    public func callAsFunction(_ arguments: any SQLExpressible...) -> SQLExpression {
        isAggregate ? .aggregate(name, arguments) : .function(name, arguments)
    }
}

extension ColumnExpression {
    /// Returns the condition that the full-text column matches the pattern, `title MATCH …`. Nothing matches nil.
    public func match(_ pattern: FTS3Pattern?) -> SQLExpression {
        .match(sqlExpression, pattern)
    }

    /// Returns the condition that the full-text column matches the pattern, `title MATCH …`.
    public func match(_ pattern: FTS5Pattern) -> SQLExpression {
        .match(sqlExpression, pattern)
    }
}

extension SQLExpression {
    fileprivate static func match(
        _ column: SQLExpression, _ pattern: (some DatabaseValueConvertible)?
    ) -> SQLExpression {
        let value = SQLExpression.value(pattern?.databaseValue ?? .null)
        return SQLExpression(node: .comparison(column, .match, value))
    }
}

extension TableRequest where Self: FilteredRequest {
    /// Keeps the rows of the FTS3 or FTS4 table that match the pattern in any column. Nothing matches nil.
    public func matching(_ pattern: FTS3Pattern?) -> Self {
        // The hidden column with the name of the table represents all columns.
        pattern.map { filter(SQLExpression.match(SQLExpression(node: .wholeRow(databaseTableName)), $0)) } ?? none()
    }

    /// Keeps the rows of the FTS5 table that match the pattern in any column. Nothing matches nil.
    ///
    /// Order by ``Column/rank`` to get the best matches first.
    public func matching(_ pattern: FTS5Pattern?) -> Self {
        pattern.map { filter(SQLExpression.match(SQLExpression(node: .wholeRow(databaseTableName)), $0)) } ?? none()
    }
}

extension TableRecord {
    /// Returns a request for the rows of the FTS3 or FTS4 table that match the pattern in any column. Nothing matches
    /// nil.
    public static func matching(_ pattern: FTS3Pattern?) -> QueryInterfaceRequest<Self> {
        all().matching(pattern)
    }

    /// Returns a request for the rows of the FTS5 table that match the pattern in any column. Nothing matches nil.
    public static func matching(_ pattern: FTS5Pattern?) -> QueryInterfaceRequest<Self> {
        all().matching(pattern)
    }
}

extension Table {
    /// Returns a request for the rows of the FTS3 or FTS4 table that match the pattern in any column. Nothing matches
    /// nil.
    public func matching(_ pattern: FTS3Pattern?) -> QueryInterfaceRequest<RowDecoder> {
        all().matching(pattern)
    }

    /// Returns a request for the rows of the FTS5 table that match the pattern in any column. Nothing matches nil.
    public func matching(_ pattern: FTS5Pattern?) -> QueryInterfaceRequest<RowDecoder> {
        all().matching(pattern)
    }
}

extension SQLInterpolation {
    /// The pattern as an argument. Nothing matches nil.
    public mutating func appendInterpolation(_ pattern: FTS3Pattern?) {
        elements.append(.expression(.value(pattern?.databaseValue ?? PatternParameters.matchingNothing)))
    }

    /// The pattern as an argument. Nothing matches nil.
    public mutating func appendInterpolation(_ pattern: FTS5Pattern?) {
        elements.append(.expression(.value(pattern?.databaseValue ?? PatternParameters.matchingNothing)))
    }
}

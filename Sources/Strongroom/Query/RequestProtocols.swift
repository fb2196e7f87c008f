/// A request that knows what its rows become.
public protocol TypedRequest<RowDecoder> {
    /// What a row becomes.
    associatedtype RowDecoder
}

/// A request that can be joined with others along associations.
public protocol JoinableRequest<RowDecoder>: TypedRequest {
    /// What is read of the database.
    var sqlRelation: SQLRelation { get set }
}

/// A request that can be refined in all ways: by what it selects, which rows, in which order, grouped how.
public protocol DerivableRequest<RowDecoder>:
    AggregatingRequest, FilteredRequest, JoinableRequest, OrderedRequest, SelectionRequest, TableRequest
{
    /// The same request without rows that equal others: `SELECT DISTINCT`.
    func distinct() -> Self
}

// MARK: - Selection

/// A request that says what it selects.
public protocol SelectionRequest {
    /// The same request with another selection, which may depend on the schema.
    func selectWhenConnected(_ selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]) -> Self

    /// The same request with more selected, which may depend on the schema.
    func annotatedWhenConnected(with selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]) -> Self
}

extension SelectionRequest {
    /// The same request with another selection.
    public func select(_ selection: [any SQLSelectable]) -> Self {
        let selection = selection.map(\.sqlSelection)
        return selectWhenConnected { _ in selection }
    }

    /// The same request with another selection.
    public func select(_ selection: any SQLSelectable...) -> Self {
        select(selection)
    }

    /// The same request with another selection, as SQL.
    public func select(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        select(literal: SQL(sql: sql, arguments: arguments))
    }

    /// The same request with another selection, as a literal.
    public func select(literal sqlLiteral: SQL) -> Self {
        select(SQLSelection(node: .literal(sqlLiteral)))
    }

    /// The same request with more selected.
    public func annotated(with selection: [any SQLSelectable]) -> Self {
        let selection = selection.map(\.sqlSelection)
        return annotatedWhenConnected { _ in selection }
    }

    /// The same request with more selected.
    public func annotated(with selection: any SQLSelectable...) -> Self {
        annotated(with: selection)
    }
}

extension SelectionRequest where Self: TypedRequest, RowDecoder: TableRecord {
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents

    /// The same request with another selection: `select { [$0.id, $0.name] }`.
    public func select(_ selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows -> Self {
        try select(selection(RowDecoder.databaseComponents))
    }

    /// The same request with another selection: `select { $0.name }`.
    public func select(_ selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows -> Self {
        try select(selection(RowDecoder.databaseComponents))
    }

    /// The same request with more selected.
    public func annotated(with selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows -> Self {
        try annotated(with: selection(RowDecoder.databaseComponents))
    }

    /// The same request with more selected.
    public func annotated(with selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows -> Self {
        try annotated(with: selection(RowDecoder.databaseComponents))
    }
}

// MARK: - Filter

/// A request that says which rows it wants.
public protocol FilteredRequest {
    /// The same request with one more condition, which may depend on the schema.
    func filterWhenConnected(_ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible) -> Self
}

extension FilteredRequest where Self: TypedRequest, RowDecoder: TableRecord {
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents

    // Before the other form: Swift tries overloads in their order, and checks a closure for each.
    /// The same request with one more condition: `filter { $0.score > 1000 }`.
    public func filter(_ predicate: (DatabaseComponents) throws -> any SQLSpecificExpressible) rethrows -> Self {
        try filter(predicate(RowDecoder.databaseComponents))
    }
}

extension FilteredRequest {
    /// The same request with one more condition.
    public func filter(_ predicate: some SQLSpecificExpressible) -> Self {
        let predicate = predicate.sqlExpression
        return filterWhenConnected { _ in predicate }
    }

    /// The same request with one more condition, as SQL.
    public func filter(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        filter(SQL(sql: sql, arguments: arguments))
    }

    /// The same request with one more condition, as a literal.
    public func filter(literal sqlLiteral: SQL) -> Self {
        filter(sqlLiteral)
    }

    /// The request as it is.
    public func all() -> Self { self }

    /// The same request without any row.
    public func none() -> Self {
        filterWhenConnected { _ in false }
    }
}

// MARK: - Order

/// A request that says in which order its rows come.
public protocol OrderedRequest {
    /// The same request in another order, which may depend on the schema.
    func orderWhenConnected(_ orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm]) -> Self

    /// The same request in the opposite order; no order at all has no opposite.
    func reversed() -> Self

    /// The same request in any order.
    func unordered() -> Self

    /// The same request, with the primary key to tell apart rows that the order does not.
    func withStableOrder() -> Self
}

extension OrderedRequest {
    /// The same request in another order.
    public func order(_ orderings: [any SQLOrderingTerm]) -> Self {
        let orderings = orderings.map(\.sqlOrdering)
        return orderWhenConnected { _ in orderings }
    }

    /// The same request in another order.
    public func order(_ orderings: any SQLOrderingTerm...) -> Self {
        order(orderings)
    }

    /// The same request in another order, as SQL, which can't be reversed.
    public func order(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        order(literal: SQL(sql: sql, arguments: arguments))
    }

    /// The same request in another order, as a literal, which can't be reversed.
    public func order(literal sqlLiteral: SQL) -> Self {
        order(SQLOrdering(node: .literal(sqlLiteral)))
    }
}

extension OrderedRequest where Self: TypedRequest, RowDecoder: TableRecord {
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents

    /// The same request in another order: `order { [$0.score.desc, $0.name] }`.
    public func order(_ orderings: (DatabaseComponents) throws -> [any SQLOrderingTerm]) rethrows -> Self {
        try order(orderings(RowDecoder.databaseComponents))
    }

    /// The same request in another order: `order { $0.score.desc }`.
    public func order(_ ordering: (DatabaseComponents) throws -> any SQLOrderingTerm) rethrows -> Self {
        try order(ordering(RowDecoder.databaseComponents))
    }
}

// MARK: - Groups

/// A request that sums up groups of rows.
public protocol AggregatingRequest {
    /// The same request in other groups, which may depend on the schema.
    func groupWhenConnected(_ expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible]) -> Self

    /// The same request with one more condition on its groups, which may depend on the schema.
    func havingWhenConnected(_ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible) -> Self
}

extension AggregatingRequest {
    /// The same request in other groups.
    public func group(_ expressions: [any SQLExpressible]) -> Self {
        let expressions = expressions.map(\.sqlExpression)
        return groupWhenConnected { _ in expressions }
    }

    /// The same request in other groups.
    public func group(_ expressions: any SQLExpressible...) -> Self {
        group(expressions)
    }

    /// The same request in other groups, as SQL.
    public func group(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        group(literal: SQL(sql: sql, arguments: arguments))
    }

    /// The same request in other groups, as a literal.
    public func group(literal sqlLiteral: SQL) -> Self {
        group(sqlLiteral)
    }

    /// The same request with one more condition on its groups.
    public func having(_ predicate: some SQLExpressible) -> Self {
        let predicate = predicate.sqlExpression
        return havingWhenConnected { _ in predicate }
    }

    /// The same request with one more condition on its groups, as SQL.
    public func having(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        having(literal: SQL(sql: sql, arguments: arguments))
    }

    /// The same request with one more condition on its groups, as a literal.
    public func having(literal sqlLiteral: SQL) -> Self {
        having(sqlLiteral)
    }
}

extension AggregatingRequest where Self: TypedRequest, RowDecoder: TableRecord {
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents

    /// The same request in other groups: `group { [$0.team, $0.year] }`.
    public func group(_ expressions: (DatabaseComponents) throws -> [any SQLExpressible]) rethrows -> Self {
        try group(expressions(RowDecoder.databaseComponents))
    }

    /// The same request in other groups: `group { $0.team }`.
    public func group(_ expression: (DatabaseComponents) throws -> any SQLExpressible) rethrows -> Self {
        try group(expression(RowDecoder.databaseComponents))
    }

    /// The same request with one more condition on its groups: `having { max($0.score) > 1000 }`.
    public func having(_ predicate: (DatabaseComponents) throws -> any SQLExpressible) rethrows -> Self {
        let predicate = try predicate(RowDecoder.databaseComponents).sqlExpression
        return havingWhenConnected { _ in predicate }
    }
}

/// A request with a type of its rows.
public protocol TypedRequest<RowDecoder> {
    /// The type that rows are decoded into.
    associatedtype RowDecoder
}

/// A request that can be joined with others along associations.
public protocol JoinableRequest<RowDecoder>: TypedRequest {
    /// The tables, conditions and order that are read.
    var sqlRelation: SQLRelation { get set }
}

/// A request whose selection, filter, order and grouping can be refined.
public protocol DerivableRequest<RowDecoder>:
    AggregatingRequest, FilteredRequest, JoinableRequest, OrderedRequest, SelectionRequest, TableRequest
{
    /// Leaves out duplicate rows: `SELECT DISTINCT`.
    func distinct() -> Self
}

// MARK: - Selection

/// A request with a selection that can be changed.
public protocol SelectionRequest {
    /// Replaces the selection with one that may depend on the schema.
    func selectWhenConnected(_ selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]) -> Self

    /// Appends to the selection expressions that may depend on the schema.
    func annotatedWhenConnected(with selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]) -> Self
}

extension SelectionRequest {
    /// Replaces the selection of the request.
    public func select(_ selection: [any SQLSelectable]) -> Self {
        let selection = selection.map(\.sqlSelection)
        return selectWhenConnected { _ in selection }
    }

    /// Replaces the selection of the request.
    public func select(_ selection: any SQLSelectable...) -> Self {
        select(selection)
    }

    /// Replaces the selection of the request, as SQL.
    public func select(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        select(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Replaces the selection of the request, as a literal.
    public func select(literal sqlLiteral: SQL) -> Self {
        select(SQLSelection(node: .literal(sqlLiteral)))
    }

    /// Appends to the selection of the request.
    public func annotated(with selection: [any SQLSelectable]) -> Self {
        let selection = selection.map(\.sqlSelection)
        return annotatedWhenConnected { _ in selection }
    }

    /// Appends to the selection of the request.
    public func annotated(with selection: any SQLSelectable...) -> Self {
        annotated(with: selection)
    }
}

extension SelectionRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// The columns that closures of this request use.
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents

    /// Replaces the selection of the request: `select { [$0.id, $0.name] }`.
    public func select(_ selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows -> Self {
        try select(selection(RowDecoder.databaseComponents))
    }

    /// Replaces the selection of the request: `select { $0.name }`.
    public func select(_ selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows -> Self {
        try select(selection(RowDecoder.databaseComponents))
    }

    /// Appends to the selection of the request.
    public func annotated(with selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows -> Self {
        try annotated(with: selection(RowDecoder.databaseComponents))
    }

    /// Appends to the selection of the request.
    public func annotated(with selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows -> Self {
        try annotated(with: selection(RowDecoder.databaseComponents))
    }
}

// MARK: - Filter

/// A request that says which rows it wants.
public protocol FilteredRequest {
    /// Adds a condition, which may depend on the schema, to the request.
    func filterWhenConnected(_ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible) -> Self
}

extension FilteredRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// The columns that closures of this request use.
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents

    // Before the other form: Swift tries overloads in their order, and checks a closure for each.
    /// Adds a condition to the request: `filter { $0.score > 1000 }`.
    public func filter(_ predicate: (DatabaseComponents) throws -> any SQLSpecificExpressible) rethrows -> Self {
        try filter(predicate(RowDecoder.databaseComponents))
    }
}

extension FilteredRequest {
    /// Adds a condition to the request.
    public func filter(_ predicate: some SQLSpecificExpressible) -> Self {
        let predicate = predicate.sqlExpression
        return filterWhenConnected { _ in predicate }
    }

    /// Adds a condition to the request, as SQL.
    public func filter(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        filter(SQL(sql: sql, arguments: arguments))
    }

    /// Adds a condition to the request, as a literal.
    public func filter(literal sqlLiteral: SQL) -> Self {
        filter(sqlLiteral)
    }

    /// Returns the request itself.
    public func all() -> Self { self }

    /// Returns a request without rows.
    public func none() -> Self {
        filterWhenConnected { _ in false }
    }
}

// MARK: - Order

/// A request that says in which order its rows come.
public protocol OrderedRequest {
    /// Replaces the order with one that may depend on the schema.
    func orderWhenConnected(_ orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm]) -> Self

    /// Reverses the order of the request. An absent order stays absent.
    func reversed() -> Self

    /// Removes the order of the request.
    func unordered() -> Self

    /// Appends the primary key to the order, so that it is the same at each run.
    func withStableOrder() -> Self
}

extension OrderedRequest {
    /// Replaces the order of the request.
    public func order(_ orderings: [any SQLOrderingTerm]) -> Self {
        let orderings = orderings.map(\.sqlOrdering)
        return orderWhenConnected { _ in orderings }
    }

    /// Replaces the order of the request.
    public func order(_ orderings: any SQLOrderingTerm...) -> Self {
        order(orderings)
    }

    /// Replaces the order of the request, as SQL, which can't be reversed.
    public func order(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        order(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Replaces the order of the request, as a literal, which can't be reversed.
    public func order(literal sqlLiteral: SQL) -> Self {
        order(SQLOrdering(node: .literal(sqlLiteral)))
    }
}

extension OrderedRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// The columns that closures of this request use.
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents

    /// Replaces the order of the request: `order { [$0.score.desc, $0.name] }`.
    public func order(_ orderings: (DatabaseComponents) throws -> [any SQLOrderingTerm]) rethrows -> Self {
        try order(orderings(RowDecoder.databaseComponents))
    }

    /// Replaces the order of the request: `order { $0.score.desc }`.
    public func order(_ ordering: (DatabaseComponents) throws -> any SQLOrderingTerm) rethrows -> Self {
        try order(ordering(RowDecoder.databaseComponents))
    }
}

// MARK: - Groups

/// A request that sums up groups of rows.
public protocol AggregatingRequest {
    /// Replaces the grouping with one that may depend on the schema.
    func groupWhenConnected(_ expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible]) -> Self

    /// Adds a condition on groups to the request, which may depend on the schema.
    func havingWhenConnected(_ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible) -> Self
}

extension AggregatingRequest {
    /// Replaces the grouping of the request.
    public func group(_ expressions: [any SQLExpressible]) -> Self {
        let expressions = expressions.map(\.sqlExpression)
        return groupWhenConnected { _ in expressions }
    }

    /// Replaces the grouping of the request.
    public func group(_ expressions: any SQLExpressible...) -> Self {
        group(expressions)
    }

    /// Replaces the grouping of the request, as SQL.
    public func group(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        group(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Replaces the grouping of the request, as a literal.
    public func group(literal sqlLiteral: SQL) -> Self {
        group(sqlLiteral)
    }

    /// Adds a condition on groups to the request.
    public func having(_ predicate: some SQLExpressible) -> Self {
        let predicate = predicate.sqlExpression
        return havingWhenConnected { _ in predicate }
    }

    /// Adds a condition on groups to the request, as SQL.
    public func having(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        having(literal: SQL(sql: sql, arguments: arguments))
    }

    /// Adds a condition on groups to the request, as a literal.
    public func having(literal sqlLiteral: SQL) -> Self {
        having(sqlLiteral)
    }
}

extension AggregatingRequest where Self: TypedRequest, RowDecoder: TableRecord {
    /// The columns that closures of this request use.
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents

    /// Replaces the grouping of the request: `group { [$0.team, $0.year] }`.
    public func group(_ expressions: (DatabaseComponents) throws -> [any SQLExpressible]) rethrows -> Self {
        try group(expressions(RowDecoder.databaseComponents))
    }

    /// Replaces the grouping of the request: `group { $0.team }`.
    public func group(_ expression: (DatabaseComponents) throws -> any SQLExpressible) rethrows -> Self {
        try group(expression(RowDecoder.databaseComponents))
    }

    /// Adds a condition on groups to the request: `having { max($0.score) > 1000 }`.
    public func having(_ predicate: (DatabaseComponents) throws -> any SQLExpressible) rethrows -> Self {
        let predicate = try predicate(RowDecoder.databaseComponents).sqlExpression
        return havingWhenConnected { _ in predicate }
    }
}

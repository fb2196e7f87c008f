/// A request built in Swift.
///
/// ```swift
/// let request = Player.filter(Column("score") > 1000).order(Column("name"))
/// // SELECT * FROM "player" WHERE "score" > 1000 ORDER BY "name"
/// let players = try request.fetchAll(db)
/// ```
public struct QueryInterfaceRequest<RowDecoder>: Sendable {
    var query: SQLQuery

    init(_ query: SQLQuery) {
        self.query = query
    }

    init(tableName: String, selection: [any SQLSelectable]) {
        query = SQLQuery(tableName: tableName, selection: selection.map(\.sqlSelection))
    }

    private func with(_ change: (inout SQLQuery) -> Void) -> Self {
        var query = query
        change(&query)
        return Self(query)
    }

    /// Returns the request with another type for its rows.
    public func asRequest<T>(of type: T.Type) -> QueryInterfaceRequest<T> {
        QueryInterfaceRequest<T>(query)
    }

    /// Sets the limit of the request, in place of a former one.
    public func limit(_ limit: Int, offset: Int? = nil) -> Self {
        with { $0.limit = SQLQuery.Limit(limit: limit, offset: offset) }
    }
}

extension QueryInterfaceRequest: FetchRequest {
    /// The request as a subquery.
    public var sqlSubquery: SQLSubquery { SQLSubquery(node: .query(query)) }

    /// Returns the compiled request, with the requests of the rows to prefetch.
    public func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool = false
    ) throws -> PreparedRequest {
        try (singleResult ? query.limitedToFirstRow(db) : query).prepared(db)
    }

    /// Returns the part of the database that the request reads: some rows only, where the filter names their primary
    /// keys or rowids.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try query.databaseRegion(db)
    }

    /// Returns the number of rows, by `SELECT COUNT(*)`.
    public func fetchCount(_ db: Database) throws -> Int {
        // COUNT returns one row, and never NULL.
        let statement = try db.reusableStatement { try query.writeCount(to: &$0) }
        if db.recordsReads { try query.narrowRegion(of: statement, JoinedTables(query.relation, db)) }
        return try Int.fetchOne(statement)!
    }

    /// Returns a Boolean value that indicates whether the request has no row.
    public func isEmpty(_ db: Database) throws -> Bool {
        try !Bool.fetchOne(
            db.reusableStatement {
                $0.append("SELECT ")
                try exists().write(to: &$0)
            })!
    }
}

extension QueryInterfaceRequest: SelectionRequest {
    /// Replaces the selection with one that depends on the connection.
    public func selectWhenConnected(
        _ selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> Self {
        with { $0.relation.selection = [{ try selection($0).map(\.sqlSelection) }] }
    }

    /// Appends to the selection expressions that depend on the connection.
    public func annotatedWhenConnected(
        with selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> Self {
        with { $0.relation.selection.append { try selection($0).map(\.sqlSelection) } }
    }
}

extension QueryInterfaceRequest {
    // MARK: - Selecting values

    /// Returns a request for a selection, decoded as values or records of another type.
    public func select<T>(_ selection: [any SQLSelectable], as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        select(selection).asRequest(of: T.self)
    }

    /// Returns a request for a selection, decoded as values or records of another type.
    public func select<T>(_ selection: any SQLSelectable..., as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        select(selection, as: type)
    }

    /// Returns a request for a selection, decoded as values or records of another type.
    public func select<T>(sql: String, arguments: StatementArguments = StatementArguments(), as type: T.Type = T.self)
        -> QueryInterfaceRequest<T>
    {
        select(literal: SQL(sql: sql, arguments: arguments), as: type)
    }

    /// Returns a request for a selection, decoded as values or records of another type.
    public func select<T>(literal sqlLiteral: SQL, as type: T.Type = T.self) -> QueryInterfaceRequest<T> {
        select(literal: sqlLiteral).asRequest(of: T.self)
    }

    /// Returns a request for the primary keys.
    public func selectPrimaryKey<PrimaryKey>(
        as type: PrimaryKey.Type = PrimaryKey.self
    ) -> QueryInterfaceRequest<PrimaryKey> {
        let tableName = databaseTableName
        return selectWhenConnected { db in try db.primaryKey(tableName).columns.map { Column($0) } }
            .asRequest(of: PrimaryKey.self)
    }

    /// Returns a request for the ids.
    public func selectID() -> QueryInterfaceRequest<RowDecoder.ID> where RowDecoder: Identifiable {
        selectPrimaryKey(as: RowDecoder.ID.self)
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord {
    /// The columns that closures of this request use.
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents

    /// Returns a request for a selection, decoded as values or records of another type: `select({ $0.name }, as:
    /// String.self)`.
    public func select<T>(_ selection: (DatabaseComponents) throws -> any SQLSelectable, as type: T.Type = T.self)
        rethrows -> QueryInterfaceRequest<T>
    {
        try select(selection(RowDecoder.databaseComponents), as: type)
    }
}

extension QueryInterfaceRequest: FilteredRequest {
    /// Adds a condition that depends on the connection.
    public func filterWhenConnected(_ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible) -> Self {
        with { $0.relation.filters.append { try predicate($0).sqlExpression } }
    }
}

extension QueryInterfaceRequest: OrderedRequest {
    /// Replaces the order with one that depends on the connection.
    public func orderWhenConnected(
        _ orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm]
    ) -> Self {
        with {
            $0.relation.orderings = [.terms { try orderings($0).map(\.sqlOrdering) }]
            $0.relation.isReversed = false
        }
    }

    /// Reverses the order. An absent order stays absent.
    public func reversed() -> Self {
        with { $0.relation.isReversed.toggle() }
    }

    /// Removes the order.
    public func unordered() -> Self {
        with { $0.relation.removeOrder() }
    }

    /// Appends the primary key to the order, so that it is the same at each run.
    public func withStableOrder() -> Self {
        with { $0.relation.stabilizeOrder() }
    }
}

extension QueryInterfaceRequest: AggregatingRequest {
    /// Replaces the grouping with one that depends on the connection.
    public func groupWhenConnected(
        _ expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible]
    ) -> Self {
        with { $0.grouping = { try expressions($0).map(\.sqlExpression) } }
    }

    /// Adds a condition on groups that depends on the connection.
    public func havingWhenConnected(_ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible) -> Self {
        with { $0.having.append { try predicate($0).sqlExpression } }
    }
}

extension QueryInterfaceRequest: TableRequest {
    /// The name of the table.
    public var databaseTableName: String { query.relation.source.tableName }

    /// Gives the table an alias.
    public func _aliased(_ alias: TableAliasBase) -> Self {
        with { $0.relation.source.aliases.append(alias) }
    }
}

extension QueryInterfaceRequest: DerivableRequest {
    /// The tables, conditions and order that the request reads.
    public var sqlRelation: SQLRelation {
        get { query.relation }
        set { query.relation = newValue }
    }

    /// Leaves out duplicate rows.
    public func distinct() -> Self {
        with { $0.isDistinct = true }
    }
}

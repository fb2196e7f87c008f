// Each of these is the function of the same name on a request for all rows.

extension Table {
    // MARK: - Requests

    /// A request for all rows.
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(tableName: tableName, selection: [AllColumns()])
    }

    /// A request for no row.
    public func none() -> QueryInterfaceRequest<RowDecoder> {
        all().none()
    }

    /// A request for some rows: `LIMIT`.
    public func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<RowDecoder> {
        all().limit(limit, offset: offset)
    }

    /// A request for all rows of the table under an alias.
    public func aliased(_ alias: TableAlias<Void>) -> QueryInterfaceRequest<RowDecoder> {
        all().aliased(alias)
    }

    /// A request for all rows of the table under an alias.
    public func aliased(_ alias: TableAlias<RowDecoder>) -> QueryInterfaceRequest<RowDecoder> {
        all().aliased(alias)
    }

    // MARK: - Selection

    /// A request for other columns than the default ones.
    public func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<RowDecoder> {
        all().select(selection)
    }

    /// A request for other columns than the default ones.
    public func select(_ selection: any SQLSelectable...) -> QueryInterfaceRequest<RowDecoder> {
        all().select(selection)
    }

    /// A request for other columns than the default ones, as SQL.
    public func select(
        sql: String, arguments: StatementArguments = StatementArguments()) -> QueryInterfaceRequest<RowDecoder>
    {
        all().select(sql: sql, arguments: arguments)
    }

    /// A request for other columns than the default ones, as a literal.
    public func select(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().select(literal: sqlLiteral)
    }

    /// A request for what is selected, as values or records of another type.
    public func select<T>(
        _ selection: [any SQLSelectable], as type: T.Type = T.self) -> QueryInterfaceRequest<T>
    {
        all().select(selection, as: type)
    }

    /// A request for what is selected, as values or records of another type.
    public func select<T>(
        _ selection: any SQLSelectable..., as type: T.Type = T.self) -> QueryInterfaceRequest<T>
    {
        all().select(selection, as: type)
    }

    /// A request for what is selected, as values or records of another type.
    public func select<T>(
        sql: String, arguments: StatementArguments = StatementArguments(), as type: T.Type = T.self)
        -> QueryInterfaceRequest<T>
    {
        all().select(sql: sql, arguments: arguments, as: type)
    }

    /// A request for what is selected, as values or records of another type.
    public func select<T>(
        literal sqlLiteral: SQL, as type: T.Type = T.self) -> QueryInterfaceRequest<T>
    {
        all().select(literal: sqlLiteral, as: type)
    }

    /// A request for the primary keys.
    public func selectPrimaryKey<PrimaryKey>(
        as type: PrimaryKey.Type = PrimaryKey.self) -> QueryInterfaceRequest<PrimaryKey>
    {
        all().selectPrimaryKey(as: type)
    }

    /// A request for more than the default columns.
    public func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<RowDecoder> {
        all().annotated(with: selection)
    }

    /// A request for more than the default columns.
    public func annotated(with selection: any SQLSelectable...) -> QueryInterfaceRequest<RowDecoder> {
        all().annotated(with: selection)
    }

    // MARK: - Filter

    /// A request for the rows that fulfil a condition.
    public func filter(_ predicate: some SQLSpecificExpressible) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(predicate)
    }

    /// A request for the rows that fulfil a condition, as SQL.
    public func filter(
        sql: String, arguments: StatementArguments = StatementArguments()) -> QueryInterfaceRequest<RowDecoder>
    {
        all().filter(sql: sql, arguments: arguments)
    }

    /// A request for the rows that fulfil a condition, as a literal.
    public func filter(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(literal: sqlLiteral)
    }

    /// A request for the row of that primary key.
    public func filter(key: some DatabaseValueConvertible) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(key: key)
    }

    /// A request for the rows of those primary keys.
    public func filter(
        keys: some Collection<some DatabaseValueConvertible>) -> QueryInterfaceRequest<RowDecoder>
    {
        all().filter(keys: keys)
    }

    /// A request for the row of that unique key.
    public func filter(
        key: [String: (any DatabaseValueConvertible)?]?) -> QueryInterfaceRequest<RowDecoder>
    {
        all().filter(key: key)
    }

    /// A request for the rows of those unique keys.
    public func filter(
        keys: [[String: (any DatabaseValueConvertible)?]]) -> QueryInterfaceRequest<RowDecoder>
    {
        all().filter(keys: keys)
    }

    // MARK: - Order

    /// A request in an order.
    public func order(_ orderings: [any SQLOrderingTerm]) -> QueryInterfaceRequest<RowDecoder> {
        all().order(orderings)
    }

    /// A request in an order.
    public func order(_ orderings: any SQLOrderingTerm...) -> QueryInterfaceRequest<RowDecoder> {
        all().order(orderings)
    }

    /// A request in an order, as SQL.
    public func order(
        sql: String, arguments: StatementArguments = StatementArguments()) -> QueryInterfaceRequest<RowDecoder>
    {
        all().order(sql: sql, arguments: arguments)
    }

    /// A request in an order, as a literal.
    public func order(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().order(literal: sqlLiteral)
    }

    /// A request in the order of the primary key.
    public func orderByPrimaryKey() -> QueryInterfaceRequest<RowDecoder> {
        all().orderByPrimaryKey()
    }
}

extension Table where RowDecoder: Identifiable {
    /// A request for the ids.
    public func selectID() -> QueryInterfaceRequest<RowDecoder.ID> {
        all().selectID()
    }
}

extension Table where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// A request for the row of that id.
    public func filter(id: RowDecoder.ID) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(id: id)
    }

    /// A request for the rows of those ids.
    public func filter(ids: some Collection<RowDecoder.ID>) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(ids: ids)
    }
}

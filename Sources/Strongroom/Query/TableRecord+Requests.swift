// Each of these is the function of the same name on a request for all rows.

extension TableRecord {
    // MARK: - With components

    // Before the other forms: Swift tries overloads in their order, and checks a closure for each.

    /// A request for other columns than the default ones: `select { [$0.id, $0.name] }`.
    public static func select(
        _ selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows -> QueryInterfaceRequest<Self>
    {
        try all().select(selection(databaseComponents))
    }

    /// A request for another column than the default ones: `select { $0.name }`.
    public static func select(
        _ selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows -> QueryInterfaceRequest<Self>
    {
        try all().select(selection(databaseComponents))
    }

    /// A request for what is selected, as values or records of another type: `select({ $0.name }, as: String.self)`.
    public static func select<T>(
        _ selection: (DatabaseComponents) throws -> any SQLSelectable, as type: T.Type = T.self)
        rethrows -> QueryInterfaceRequest<T>
    {
        try all().select(selection(databaseComponents), as: type)
    }

    /// A request for more than the default columns.
    public static func annotated(
        with selection: (DatabaseComponents) throws -> [any SQLSelectable]) rethrows -> QueryInterfaceRequest<Self>
    {
        try all().annotated(with: selection(databaseComponents))
    }

    /// A request for more than the default columns.
    public static func annotated(
        with selection: (DatabaseComponents) throws -> any SQLSelectable) rethrows -> QueryInterfaceRequest<Self>
    {
        try all().annotated(with: selection(databaseComponents))
    }

    /// A request for the rows that fulfil a condition: `filter { $0.score > 1000 }`.
    public static func filter(
        _ predicate: (DatabaseComponents) throws -> any SQLSpecificExpressible) rethrows -> QueryInterfaceRequest<Self>
    {
        try all().filter(predicate)
    }

    /// A request in an order: `order { [$0.score.desc, $0.name] }`.
    public static func order(
        _ orderings: (DatabaseComponents) throws -> [any SQLOrderingTerm]) rethrows -> QueryInterfaceRequest<Self>
    {
        try all().order(orderings(databaseComponents))
    }

    /// A request in an order: `order { $0.score.desc }`.
    public static func order(
        _ ordering: (DatabaseComponents) throws -> any SQLOrderingTerm) rethrows -> QueryInterfaceRequest<Self>
    {
        try all().order(ordering(databaseComponents))
    }
}

extension TableRecord {
    // MARK: - Requests

    /// A request for all rows, with `databaseSelection`.
    public static func all() -> QueryInterfaceRequest<Self> {
        QueryInterfaceRequest(tableName: databaseTableName, selection: databaseSelection)
    }

    /// A request for no row.
    public static func none() -> QueryInterfaceRequest<Self> {
        all().none()
    }

    /// A request for some rows: `LIMIT`.
    public static func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<Self> {
        all().limit(limit, offset: offset)
    }

    /// A request for all rows of the table under an alias.
    public static func aliased(_ alias: TableAlias<Void>) -> QueryInterfaceRequest<Self> {
        all().aliased(alias)
    }

    /// A request for all rows of the table under an alias.
    public static func aliased(_ alias: TableAlias<Self>) -> QueryInterfaceRequest<Self> {
        all().aliased(alias)
    }

    // MARK: - Selection

    /// A request for other columns than the default ones.
    public static func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// A request for other columns than the default ones.
    public static func select(_ selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// A request for other columns than the default ones, as SQL.
    public static func select(
        sql: String, arguments: StatementArguments = StatementArguments()) -> QueryInterfaceRequest<Self>
    {
        all().select(sql: sql, arguments: arguments)
    }

    /// A request for other columns than the default ones, as a literal.
    public static func select(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().select(literal: sqlLiteral)
    }

    /// A request for what is selected, as values or records of another type.
    public static func select<T>(
        _ selection: [any SQLSelectable], as type: T.Type = T.self) -> QueryInterfaceRequest<T>
    {
        all().select(selection, as: type)
    }

    /// A request for what is selected, as values or records of another type.
    public static func select<T>(
        _ selection: any SQLSelectable..., as type: T.Type = T.self) -> QueryInterfaceRequest<T>
    {
        all().select(selection, as: type)
    }

    /// A request for what is selected, as values or records of another type.
    public static func select<T>(
        sql: String, arguments: StatementArguments = StatementArguments(), as type: T.Type = T.self)
        -> QueryInterfaceRequest<T>
    {
        all().select(sql: sql, arguments: arguments, as: type)
    }

    /// A request for what is selected, as values or records of another type.
    public static func select<T>(
        literal sqlLiteral: SQL, as type: T.Type = T.self) -> QueryInterfaceRequest<T>
    {
        all().select(literal: sqlLiteral, as: type)
    }

    /// A request for the primary keys.
    public static func selectPrimaryKey<PrimaryKey>(
        as type: PrimaryKey.Type = PrimaryKey.self) -> QueryInterfaceRequest<PrimaryKey>
    {
        all().selectPrimaryKey(as: type)
    }

    /// A request for more than the default columns.
    public static func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// A request for more than the default columns.
    public static func annotated(with selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    // MARK: - Filter

    /// A request for the rows that fulfil a condition.
    public static func filter(_ predicate: some SQLSpecificExpressible) -> QueryInterfaceRequest<Self> {
        all().filter(predicate)
    }

    /// A request for the rows that fulfil a condition, as SQL.
    public static func filter(
        sql: String, arguments: StatementArguments = StatementArguments()) -> QueryInterfaceRequest<Self>
    {
        all().filter(sql: sql, arguments: arguments)
    }

    /// A request for the rows that fulfil a condition, as a literal.
    public static func filter(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().filter(literal: sqlLiteral)
    }

    /// A request for the row of that primary key.
    public static func filter(key: some DatabaseValueConvertible) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// A request for the rows of those primary keys.
    public static func filter(
        keys: some Collection<some DatabaseValueConvertible>) -> QueryInterfaceRequest<Self>
    {
        all().filter(keys: keys)
    }

    /// A request for the row of that unique key.
    public static func filter(
        key: [String: (any DatabaseValueConvertible)?]?) -> QueryInterfaceRequest<Self>
    {
        all().filter(key: key)
    }

    /// A request for the rows of those unique keys.
    public static func filter(
        keys: [[String: (any DatabaseValueConvertible)?]]) -> QueryInterfaceRequest<Self>
    {
        all().filter(keys: keys)
    }

    // MARK: - Order

    /// A request in an order.
    public static func order(_ orderings: [any SQLOrderingTerm]) -> QueryInterfaceRequest<Self> {
        all().order(orderings)
    }

    /// A request in an order.
    public static func order(_ orderings: any SQLOrderingTerm...) -> QueryInterfaceRequest<Self> {
        all().order(orderings)
    }

    /// A request in an order, as SQL.
    public static func order(
        sql: String, arguments: StatementArguments = StatementArguments()) -> QueryInterfaceRequest<Self>
    {
        all().order(sql: sql, arguments: arguments)
    }

    /// A request in an order, as a literal.
    public static func order(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().order(literal: sqlLiteral)
    }

    /// A request in the order of the primary key.
    public static func orderByPrimaryKey() -> QueryInterfaceRequest<Self> {
        all().orderByPrimaryKey()
    }
}

extension TableRecord where Self: Identifiable {
    /// A request for the ids.
    public static func selectID() -> QueryInterfaceRequest<ID> {
        all().selectID()
    }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// A request for the row of that id.
    public static func filter(id: ID) -> QueryInterfaceRequest<Self> {
        all().filter(id: id)
    }

    /// A request for the rows of those ids.
    public static func filter(ids: some Collection<ID>) -> QueryInterfaceRequest<Self> {
        all().filter(ids: ids)
    }
}

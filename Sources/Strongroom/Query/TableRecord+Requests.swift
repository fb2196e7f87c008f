// Each of these is the function of the same name on a request for all rows.

extension TableRecord {
    // MARK: - With components

    // Before the other forms: Swift tries overloads in their order, and checks a closure for each.

    /// Returns a request for a selection: `select { [$0.id, $0.name] }`.
    public static func select(
        _ selection: (DatabaseComponents) throws -> [any SQLSelectable]
    ) rethrows -> QueryInterfaceRequest<Self> {
        try all().select(selection(databaseComponents))
    }

    /// Returns a request for a selection: `select { $0.name }`.
    public static func select(
        _ selection: (DatabaseComponents) throws -> any SQLSelectable
    ) rethrows -> QueryInterfaceRequest<Self> {
        try all().select(selection(databaseComponents))
    }

    /// Returns a request for a selection, decoded as values or records of another type: `select({ $0.name }, as:
    /// String.self)`.
    public static func select<T>(
        _ selection: (DatabaseComponents) throws -> any SQLSelectable, as type: T.Type = T.self
    )
        rethrows -> QueryInterfaceRequest<T>
    {
        try all().select(selection(databaseComponents), as: type)
    }

    /// Returns a request for the default columns and others.
    public static func annotated(
        with selection: (DatabaseComponents) throws -> [any SQLSelectable]
    ) rethrows -> QueryInterfaceRequest<Self> {
        try all().annotated(with: selection(databaseComponents))
    }

    /// Returns a request for the default columns and others.
    public static func annotated(
        with selection: (DatabaseComponents) throws -> any SQLSelectable
    ) rethrows -> QueryInterfaceRequest<Self> {
        try all().annotated(with: selection(databaseComponents))
    }

    /// Returns a request for the rows that meet a condition: `filter { $0.score > 1000 }`.
    public static func filter(
        _ predicate: (DatabaseComponents) throws -> any SQLSpecificExpressible
    ) rethrows -> QueryInterfaceRequest<Self> {
        try all().filter(predicate)
    }

    /// Returns a request with an order: `order { [$0.score.desc, $0.name] }`.
    public static func order(
        _ orderings: (DatabaseComponents) throws -> [any SQLOrderingTerm]
    ) rethrows -> QueryInterfaceRequest<Self> {
        try all().order(orderings(databaseComponents))
    }

    /// Returns a request with an order: `order { $0.score.desc }`.
    public static func order(
        _ ordering: (DatabaseComponents) throws -> any SQLOrderingTerm
    ) rethrows -> QueryInterfaceRequest<Self> {
        try all().order(ordering(databaseComponents))
    }
}

extension TableRecord {
    // MARK: - Requests

    /// Returns a request for all rows, with `databaseSelection`.
    public static func all() -> QueryInterfaceRequest<Self> {
        QueryInterfaceRequest(tableName: databaseTableName, selection: databaseSelection)
    }

    /// Returns a request without rows.
    public static func none() -> QueryInterfaceRequest<Self> {
        all().none()
    }

    /// Returns a request with a limit.
    public static func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<Self> {
        all().limit(limit, offset: offset)
    }

    /// Returns a request for all rows of the table under an alias.
    public static func aliased(_ alias: TableAlias<Void>) -> QueryInterfaceRequest<Self> {
        all().aliased(alias)
    }

    /// Returns a request for all rows of the table under an alias.
    public static func aliased(_ alias: TableAlias<Self>) -> QueryInterfaceRequest<Self> {
        all().aliased(alias)
    }

    // MARK: - Selection

    /// Returns a request for a selection.
    public static func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// Returns a request for a selection.
    public static func select(_ selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// Returns a request for a selection, as SQL.
    public static func select(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> QueryInterfaceRequest<Self> {
        all().select(sql: sql, arguments: arguments)
    }

    /// Returns a request for a selection, as a literal.
    public static func select(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().select(literal: sqlLiteral)
    }

    /// Returns a request for a selection, decoded as values or records of another type.
    public static func select<T>(
        _ selection: [any SQLSelectable], as type: T.Type = T.self
    ) -> QueryInterfaceRequest<T> {
        all().select(selection, as: type)
    }

    /// Returns a request for a selection, decoded as values or records of another type.
    public static func select<T>(
        _ selection: any SQLSelectable..., as type: T.Type = T.self
    ) -> QueryInterfaceRequest<T> {
        all().select(selection, as: type)
    }

    /// Returns a request for a selection, decoded as values or records of another type.
    public static func select<T>(
        sql: String, arguments: StatementArguments = StatementArguments(), as type: T.Type = T.self
    )
        -> QueryInterfaceRequest<T>
    {
        all().select(sql: sql, arguments: arguments, as: type)
    }

    /// Returns a request for a selection, decoded as values or records of another type.
    public static func select<T>(
        literal sqlLiteral: SQL, as type: T.Type = T.self
    ) -> QueryInterfaceRequest<T> {
        all().select(literal: sqlLiteral, as: type)
    }

    /// Returns a request for the primary keys.
    public static func selectPrimaryKey<PrimaryKey>(
        as type: PrimaryKey.Type = PrimaryKey.self
    ) -> QueryInterfaceRequest<PrimaryKey> {
        all().selectPrimaryKey(as: type)
    }

    /// Returns a request for the default columns and others.
    public static func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// Returns a request for the default columns and others.
    public static func annotated(with selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    // MARK: - Filter

    /// Returns a request for the rows that meet a condition.
    public static func filter(_ predicate: some SQLSpecificExpressible) -> QueryInterfaceRequest<Self> {
        all().filter(predicate)
    }

    /// Returns a request for the rows that meet a condition, as SQL.
    public static func filter(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> QueryInterfaceRequest<Self> {
        all().filter(sql: sql, arguments: arguments)
    }

    /// Returns a request for the rows that meet a condition, as a literal.
    public static func filter(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().filter(literal: sqlLiteral)
    }

    /// Returns a request for the row with this primary key.
    public static func filter(key: some DatabaseValueConvertible) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// Returns a request for the rows with these primary keys.
    public static func filter(
        keys: some Collection<some DatabaseValueConvertible>
    ) -> QueryInterfaceRequest<Self> {
        all().filter(keys: keys)
    }

    /// Returns a request for the row with this unique key.
    public static func filter(
        key: [String: (any DatabaseValueConvertible)?]?
    ) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// Returns a request for the rows with these unique keys.
    public static func filter(
        keys: [[String: (any DatabaseValueConvertible)?]]
    ) -> QueryInterfaceRequest<Self> {
        all().filter(keys: keys)
    }

    // MARK: - Order

    /// Returns a request with an order.
    public static func order(_ orderings: [any SQLOrderingTerm]) -> QueryInterfaceRequest<Self> {
        all().order(orderings)
    }

    /// Returns a request with an order.
    public static func order(_ orderings: any SQLOrderingTerm...) -> QueryInterfaceRequest<Self> {
        all().order(orderings)
    }

    /// Returns a request with an order, as SQL.
    public static func order(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> QueryInterfaceRequest<Self> {
        all().order(sql: sql, arguments: arguments)
    }

    /// Returns a request with an order, as a literal.
    public static func order(literal sqlLiteral: SQL) -> QueryInterfaceRequest<Self> {
        all().order(literal: sqlLiteral)
    }

    /// Returns a request ordered by the primary key.
    public static func orderByPrimaryKey() -> QueryInterfaceRequest<Self> {
        all().orderByPrimaryKey()
    }
}

extension TableRecord where Self: Identifiable {
    /// Returns a request for the ids.
    public static func selectID() -> QueryInterfaceRequest<ID> {
        all().selectID()
    }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// Returns a request for the row with this id.
    public static func filter(id: ID) -> QueryInterfaceRequest<Self> {
        all().filter(id: id)
    }

    /// Returns a request for the rows with these ids.
    public static func filter(ids: some Collection<ID>) -> QueryInterfaceRequest<Self> {
        all().filter(ids: ids)
    }
}

extension TableRecord {
    /// Returns the number of columns in ``databaseSelection``.
    public static func numberOfSelectedColumns(_ db: Database) throws -> Int {
        let source = SQLSource(tableName: databaseTableName)
        var count = 0
        for selection in databaseSelection {
            guard let columns = try selection.sqlSelection.columnCount(of: source, db) else {
                // SQL text: only SQLite can tell.
                return try all().makePreparedRequest(db).statement.columnCount
            }
            count += columns
        }
        return count
    }
}

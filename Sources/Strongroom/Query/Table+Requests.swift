// Each of these is the function of the same name on a request for all rows.

extension Table {
    // MARK: - Requests

    /// Returns a request for all rows.
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(tableName: tableName, selection: [AllColumns()])
    }

    /// Returns a request without rows.
    public func none() -> QueryInterfaceRequest<RowDecoder> {
        all().none()
    }

    /// Returns a request with a limit.
    public func limit(_ limit: Int, offset: Int? = nil) -> QueryInterfaceRequest<RowDecoder> {
        all().limit(limit, offset: offset)
    }

    /// Returns a request for all rows of the table under an alias.
    public func aliased(_ alias: TableAlias<Void>) -> QueryInterfaceRequest<RowDecoder> {
        all().aliased(alias)
    }

    /// Returns a request for all rows of the table under an alias.
    public func aliased(_ alias: TableAlias<RowDecoder>) -> QueryInterfaceRequest<RowDecoder> {
        all().aliased(alias)
    }

    // MARK: - Selection

    /// Returns a request for a selection.
    public func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<RowDecoder> {
        all().select(selection)
    }

    /// Returns a request for a selection.
    public func select(_ selection: any SQLSelectable...) -> QueryInterfaceRequest<RowDecoder> {
        all().select(selection)
    }

    /// Returns a request for a selection, as SQL.
    public func select(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> QueryInterfaceRequest<RowDecoder> {
        all().select(sql: sql, arguments: arguments)
    }

    /// Returns a request for a selection, as a literal.
    public func select(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().select(literal: sqlLiteral)
    }

    /// Returns a request for a selection, decoded as values or records of another type.
    public func select<T>(
        _ selection: [any SQLSelectable], as type: T.Type = T.self
    ) -> QueryInterfaceRequest<T> {
        all().select(selection, as: type)
    }

    /// Returns a request for a selection, decoded as values or records of another type.
    public func select<T>(
        _ selection: any SQLSelectable..., as type: T.Type = T.self
    ) -> QueryInterfaceRequest<T> {
        all().select(selection, as: type)
    }

    /// Returns a request for a selection, decoded as values or records of another type.
    public func select<T>(sql: String, arguments: StatementArguments = StatementArguments(), as type: T.Type = T.self)
        -> QueryInterfaceRequest<T>
    {
        all().select(sql: sql, arguments: arguments, as: type)
    }

    /// Returns a request for a selection, decoded as values or records of another type.
    public func select<T>(
        literal sqlLiteral: SQL, as type: T.Type = T.self
    ) -> QueryInterfaceRequest<T> {
        all().select(literal: sqlLiteral, as: type)
    }

    /// Returns a request for the primary keys.
    public func selectPrimaryKey<PrimaryKey>(
        as type: PrimaryKey.Type = PrimaryKey.self
    ) -> QueryInterfaceRequest<PrimaryKey> {
        all().selectPrimaryKey(as: type)
    }

    /// Returns a request for the default columns and others.
    public func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<RowDecoder> {
        all().annotated(with: selection)
    }

    /// Returns a request for the default columns and others.
    public func annotated(with selection: any SQLSelectable...) -> QueryInterfaceRequest<RowDecoder> {
        all().annotated(with: selection)
    }

    // MARK: - Filter

    /// Returns a request for the rows that meet a condition.
    public func filter(_ predicate: some SQLSpecificExpressible) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(predicate)
    }

    /// Returns a request for the rows that meet a condition, as SQL.
    public func filter(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(sql: sql, arguments: arguments)
    }

    /// Returns a request for the rows that meet a condition, as a literal.
    public func filter(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(literal: sqlLiteral)
    }

    /// Returns a request for the row with this primary key.
    public func filter(key: some DatabaseValueConvertible) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(key: key)
    }

    /// Returns a request for the rows with these primary keys.
    public func filter(
        keys: some Collection<some DatabaseValueConvertible>
    ) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(keys: keys)
    }

    /// Returns a request for the row with this unique key.
    public func filter(
        key: [String: (any DatabaseValueConvertible)?]?
    ) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(key: key)
    }

    /// Returns a request for the rows with these unique keys.
    public func filter(
        keys: [[String: (any DatabaseValueConvertible)?]]
    ) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(keys: keys)
    }

    // MARK: - Order

    /// Returns a request with an order.
    public func order(_ orderings: [any SQLOrderingTerm]) -> QueryInterfaceRequest<RowDecoder> {
        all().order(orderings)
    }

    /// Returns a request with an order.
    public func order(_ orderings: any SQLOrderingTerm...) -> QueryInterfaceRequest<RowDecoder> {
        all().order(orderings)
    }

    /// Returns a request with an order, as SQL.
    public func order(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> QueryInterfaceRequest<RowDecoder> {
        all().order(sql: sql, arguments: arguments)
    }

    /// Returns a request with an order, as a literal.
    public func order(literal sqlLiteral: SQL) -> QueryInterfaceRequest<RowDecoder> {
        all().order(literal: sqlLiteral)
    }

    /// Returns a request ordered by the primary key.
    public func orderByPrimaryKey() -> QueryInterfaceRequest<RowDecoder> {
        all().orderByPrimaryKey()
    }
}

extension Table where RowDecoder: Identifiable {
    /// Returns a request for the ids.
    public func selectID() -> QueryInterfaceRequest<RowDecoder.ID> {
        all().selectID()
    }
}

extension Table where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// Returns a request for the row with this id.
    public func filter(id: RowDecoder.ID) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(id: id)
    }

    /// Returns a request for the rows with these ids.
    public func filter(ids: some Collection<RowDecoder.ID>) -> QueryInterfaceRequest<RowDecoder> {
        all().filter(ids: ids)
    }
}

/// A request on the rows of a table.
public protocol TableRequest {
    /// The table that the request reads.
    var databaseTableName: String { get }

    /// The same request with the table under an alias of any type. Requests that wrap another one hand it on; everyone else
    /// calls `aliased(_:)`.
    func _aliased(_ alias: TableAliasBase) -> Self
}

extension TableRequest {
    /// The same request with the table under an alias.
    public func aliased(_ alias: TableAlias<Void>) -> Self { _aliased(alias) }
}

extension TableRequest where Self: TypedRequest {
    /// The same request with the table under an alias that knows the record type.
    public func aliased(_ alias: TableAlias<RowDecoder>) -> Self { _aliased(alias) }
}

// MARK: - By key

extension TableRequest where Self: FilteredRequest {
    /// The row of that primary key; no row for nil.
    ///
    /// Fetching throws `SQLITE_MISUSE` when the primary key has several columns.
    public func filter(key: some DatabaseValueConvertible) -> Self {
        let value = key.databaseValue
        return value.isNull ? none() : filter(keyValues: [value])
    }

    /// The rows of those primary keys.
    ///
    /// Fetching throws `SQLITE_MISUSE` when the primary key has several columns.
    public func filter<Keys>(keys: Keys) -> Self where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        let values = keys.map(\.databaseValue)
        return values.isEmpty ? none() : filter(keyValues: values)
    }

    /// The row of that unique key; no row for nil.
    ///
    /// Fetching throws `SQLITE_MISUSE` when no unique index has exactly these columns.
    public func filter(key: [String: (any DatabaseValueConvertible)?]?) -> Self {
        guard let key else { return none() }
        return filter(keys: [key])
    }

    /// The rows of those unique keys.
    ///
    /// Fetching throws `SQLITE_MISUSE` when no unique index has exactly the columns of one.
    public func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> Self {
        guard !keys.isEmpty else { return none() }
        let keys = keys.map { $0.mapValues { $0?.databaseValue ?? .null } }
        let tableName = databaseTableName
        return filterWhenConnected { db in
            try SQLExpression.associative(.or, keys.map { try db.predicate(uniqueKey: $0, inTable: tableName) })
        }
    }

    private func filter(keyValues values: [DatabaseValue]) -> Self {
        let tableName = databaseTableName
        return filterWhenConnected { db in
            let column = try Column(db.singleKeyColumn(ofTable: tableName))
            return SQLExpression.list(column.sqlExpression, in: values.map { .value($0) })
        }
    }
}

extension TableRequest where Self: FilteredRequest & TypedRequest, RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// The row of that id.
    public func filter(id: RowDecoder.ID) -> Self {
        filter(key: id)
    }

    /// The rows of those ids.
    public func filter(ids: some Collection<RowDecoder.ID>) -> Self {
        filter(keys: ids)
    }
}

extension TableRequest where Self: OrderedRequest {
    /// The same request in the order of the primary key.
    public func orderByPrimaryKey() -> Self {
        let tableName = databaseTableName
        return orderWhenConnected { db in try db.primaryKey(tableName).columns.map { Column($0) } }
    }
}

extension TableRequest where Self: AggregatingRequest {
    /// The same request in groups of one row of the table each.
    public func groupByPrimaryKey() -> Self {
        let tableName = databaseTableName
        return groupWhenConnected { db in try db.keyOfRows(inTable: tableName).map { Column($0) } }
    }
}

extension Database {
    /// The column of a primary key that has one.
    func singleKeyColumn(ofTable tableName: String) throws -> String {
        let columns = try primaryKey(tableName).columns
        guard columns.count == 1 else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    the primary key of table \(tableName) has several columns (\(columns.joined(separator: ", "))): \
                    give a value for each, as in ["\(columns[0])": …]
                    """)
        }
        return columns[0]
    }

    fileprivate func predicate(uniqueKey key: [String: DatabaseValue], inTable tableName: String) throws -> SQLExpression {
        let names = Array(key.keys)
        let primaryKey = try? primaryKey(tableName)
        let isRowID = names.count == 1 && names[0].foldedSQLName == "rowid" && primaryKey?.tableHasRowID ?? false
        guard try isRowID || table(tableName, hasUniqueKey: names) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "table \(tableName) has no unique key on column(s) \(names.sorted().joined(separator: ", "))")
        }
        // In the order of the primary key, then of the alphabet: the same columns give the same SQL.
        let order = (primaryKey?.columns ?? []).map(\.foldedSQLName)
        func rank(_ name: String) -> (Int, String) { (order.firstIndex(of: name.foldedSQLName) ?? order.count, name) }
        return .associative(.and, key.sorted { rank($0.key) < rank($1.key) }.map { name, value in
            .equality(Column(name).sqlExpression, .equal, .value(value))
        })
    }
}

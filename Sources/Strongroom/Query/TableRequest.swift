/// A request on the rows of a table.
public protocol TableRequest {
    /// The table that the request reads.
    var databaseTableName: String { get }

    /// Returns the same request with the table under an alias of any type. Requests that wrap another one hand it on;
    /// everyone else calls `aliased(_:)`.
    func _aliased(_ alias: TableAliasBase) -> Self
}

extension TableRequest {
    /// Gives the table an alias.
    public func aliased(_ alias: TableAlias<Void>) -> Self { _aliased(alias) }
}

extension TableRequest where Self: TypedRequest {
    /// Gives the table an alias with the columns of the record type.
    public func aliased(_ alias: TableAlias<RowDecoder>) -> Self { _aliased(alias) }
}

// MARK: - By key

extension TableRequest where Self: FilteredRequest {
    /// Keeps the row with this primary key. No row matches nil.
    ///
    /// Fetching throws `SQLITE_MISUSE` when the primary key has several columns.
    public func filter(key: some DatabaseValueConvertible) -> Self {
        let value = KeyValue(key)
        return value.isNull ? none() : filter(keyValues: [value])
    }

    /// Keeps the rows with these primary keys.
    ///
    /// Fetching throws `SQLITE_MISUSE` when the primary key has several columns.
    public func filter<Keys>(keys: Keys) -> Self where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        let values = keys.map { KeyValue($0) }
        return values.isEmpty ? none() : filter(keyValues: values)
    }

    /// Keeps the row with this unique key. No row matches nil.
    ///
    /// Fetching throws `SQLITE_MISUSE` when no unique index has exactly these columns.
    public func filter(key: [String: (any DatabaseValueConvertible)?]?) -> Self {
        guard let key else { return none() }
        return filter(keys: [key])
    }

    /// Keeps the rows with these unique keys.
    ///
    /// Fetching throws `SQLITE_MISUSE` when no unique index has exactly the columns of one.
    public func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> Self {
        guard !keys.isEmpty else { return none() }
        let keys = keys.map { $0.mapValues { $0.map { KeyValue($0) } ?? .value(.null) } }
        let (tableName, record) = (databaseTableName, Self.storedRecord)
        return filterWhenConnected { db in
            let keys = try keys.map { key in
                try Dictionary(uniqueKeysWithValues: key.map { try ($0, $1.stored(in: $0, by: record)) })
            }
            return try db.predicate(uniqueKeys: keys, inTable: tableName)
        }
    }

    private func filter(keyValues values: [KeyValue]) -> Self {
        let tableName = databaseTableName
        let record = values.allSatisfy(\.isPlain) ? nil : Self.storedRecord
        return filterWhenConnected { db in
            let column = try db.singleKeyColumn(ofTable: tableName)
            return try SQLExpression.list(
                Column(column).sqlExpression, in: values.map { .value(try $0.stored(in: column, by: record)) })
        }
    }

    /// The type of the request's records, if they can be stored.
    private static var storedRecord: (any EncodableRecord.Type)? {
        (Self.self as? any TypedRequest.Type)?.storedRecord
    }
}

extension TypedRequest {
    fileprivate static var storedRecord: (any EncodableRecord.Type)? { RowDecoder.self as? any EncodableRecord.Type }
}

extension TableRequest
where
    Self: FilteredRequest & TypedRequest, RowDecoder: Identifiable,
    RowDecoder.ID: DatabaseValueConvertible
{
    /// Keeps the row with this id.
    public func filter(id: RowDecoder.ID) -> Self {
        filter(key: id)
    }

    /// Keeps the rows with these ids.
    public func filter(ids: some Collection<RowDecoder.ID>) -> Self {
        filter(keys: ids)
    }
}

extension TableRequest where Self: OrderedRequest {
    /// Orders the request by the primary key.
    public func orderByPrimaryKey() -> Self {
        let tableName = databaseTableName
        return orderWhenConnected { db in try db.primaryKey(tableName).columns.map { Column($0) } }
    }
}

extension TableRequest where Self: AggregatingRequest {
    /// Groups the request by the primary key of its table.
    public func groupByPrimaryKey() -> Self {
        let tableName = databaseTableName
        return groupWhenConnected { db in try db.keyOfRows(inTable: tableName).map { Column($0) } }
    }
}

extension Database {
    /// Returns the condition for the rows of some unique keys.
    fileprivate func predicate(
        uniqueKeys keys: [[String: DatabaseValue]], inTable tableName: String
    ) throws -> SQLExpression {
        let primaryKey = try? primaryKey(tableName)
        for names in Set(keys.map { Set($0.keys) }) {
            try requireUniqueKey(Array(names), inTable: tableName, primaryKey)
        }
        // In the order of the primary key, then of the alphabet: the same columns give the same SQL.
        let order = (primaryKey?.columns ?? []).map(\.foldedSQLName)
        func rank(_ name: String) -> (Int, String) { (order.firstIndex(of: name.foldedSQLName) ?? order.count, name) }
        return .matching(
            keys.map { key in
                key.sorted { rank($0.key) < rank($1.key) }.map { (column: $0.key, value: $0.value) }
            })
    }

    private func requireUniqueKey(_ names: [String], inTable tableName: String, _ primaryKey: PrimaryKeyInfo?) throws {
        let isRowID = names.count == 1 && names[0].foldedSQLName == "rowid" && primaryKey?.tableHasRowID ?? false
        guard try isRowID || table(tableName, hasUniqueKey: names) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "table \(tableName) has no unique key on column(s) \(names.sorted().joined(separator: ", "))")
        }
    }
}

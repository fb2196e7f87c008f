/// A table without a record type, or with one that is not its own.
///
/// ```swift
/// let players = Table("player")
/// try players.filter(Column("score") > 1000).fetchAll(db) // [Row]
/// let names = Table<String>("player").select(Column("name"))
/// ```
public struct Table<RowDecoder>: Sendable {
    public var tableName: String

    /// A table whose rows become values, records or rows.
    public init(_ tableName: String) {
        self.tableName = tableName
    }

    /// A table whose rows are rows.
    public init(_ tableName: String) where RowDecoder == Row {
        self.tableName = tableName
    }
}

extension Table where RowDecoder: TableRecord {
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents
}

extension Table: DatabaseRegionConvertible {
    /// All rows and columns of the table.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        DatabaseRegion(table: tableName)
    }
}

extension Table where RowDecoder == Row {
    // MARK: - Rows

    /// A cursor on all rows.
    public func fetchCursor(_ db: Database) throws -> RowCursor { try all().fetchCursor(db) }

    /// All rows.
    public func fetchAll(_ db: Database) throws -> [Row] { try all().fetchAll(db) }

    /// The first row, or nil.
    public func fetchOne(_ db: Database) throws -> Row? { try all().fetchOne(db) }

    /// The distinct rows.
    public func fetchSet(_ db: Database) throws -> Set<Row> { try all().fetchSet(db) }
}

extension Table where RowDecoder: FetchableRecord {
    // MARK: - Records

    /// A cursor on all records.
    public func fetchCursor(_ db: Database) throws -> RecordCursor<RowDecoder> { try all().fetchCursor(db) }

    /// All records.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try all().fetchAll(db) }

    /// The first record, or nil.
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try all().fetchOne(db) }

    /// The distinct records.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> where RowDecoder: Hashable { try all().fetchSet(db) }
}

extension Table where RowDecoder: DatabaseValueConvertible {
    // MARK: - Values

    /// A cursor on the values of the first column.
    public func fetchCursor(_ db: Database) throws -> DatabaseValueCursor<RowDecoder> { try all().fetchCursor(db) }

    /// The values of the first column.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try all().fetchAll(db) }

    /// The first value of the first column; nil when there is none or when it is NULL.
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try all().fetchOne(db) }

    /// The distinct values of the first column.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> where RowDecoder: Hashable { try all().fetchSet(db) }
}

extension Table where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible {
    // MARK: - Values straight from the column

    /// A cursor on the values of the first column.
    public func fetchCursor(_ db: Database) throws -> FastDatabaseValueCursor<RowDecoder> { try all().fetchCursor(db) }

    /// The values of the first column.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try all().fetchAll(db) }

    /// The first value of the first column; nil when there is none or when it is NULL.
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try all().fetchOne(db) }

    /// The distinct values of the first column.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> where RowDecoder: Hashable { try all().fetchSet(db) }
}

/// A table without a record type, or with one that is not its own.
///
/// ```swift
/// let players = Table("player")
/// try players.filter(Column("score") > 1000).fetchAll(db) // [Row]
/// let names = Table<String>("player").select(Column("name"))
/// ```
public struct Table<RowDecoder>: Sendable {
    /// The name of the table.
    public var tableName: String

    /// Creates a table whose rows are decoded as values, records or `Row`.
    public init(_ tableName: String) {
        self.tableName = tableName
    }

    /// Creates a table whose rows are decoded as `Row`.
    public init(_ tableName: String) where RowDecoder == Row {
        self.tableName = tableName
    }
}

extension Table where RowDecoder: TableRecord {
    /// The columns that closures of this request use.
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents
}

extension Table: DatabaseRegionConvertible {
    /// Returns the region of all rows and columns of the table.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        DatabaseRegion(table: tableName)
    }
}

extension Table where RowDecoder == Row {
    // MARK: - Rows

    /// Returns a cursor on all rows.
    public func fetchCursor(_ db: Database) throws -> RowCursor { try all().fetchCursor(db) }

    /// Returns all rows.
    public func fetchAll(_ db: Database) throws -> [Row] { try all().fetchAll(db) }

    /// Returns the first row, or nil.
    public func fetchOne(_ db: Database) throws -> Row? { try all().fetchOne(db) }

    /// Returns the distinct rows.
    public func fetchSet(_ db: Database) throws -> Set<Row> { try all().fetchSet(db) }
}

extension Table where RowDecoder: FetchableRecord {
    // MARK: - Records

    /// Returns a cursor on all records.
    public func fetchCursor(_ db: Database) throws -> RecordCursor<RowDecoder> { try all().fetchCursor(db) }

    /// Returns all records.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try all().fetchAll(db) }

    /// Returns the first record, or nil.
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try all().fetchOne(db) }

    /// Returns the distinct records.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> where RowDecoder: Hashable { try all().fetchSet(db) }
}

extension Table where RowDecoder: DatabaseValueConvertible {
    // MARK: - Values

    /// Returns a cursor on the values of the first column.
    public func fetchCursor(_ db: Database) throws -> DatabaseValueCursor<RowDecoder> { try all().fetchCursor(db) }

    /// Returns the values of the first column.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try all().fetchAll(db) }

    /// Returns the first value of the first column; nil when there is none or when it is NULL.
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try all().fetchOne(db) }

    /// Returns the distinct values of the first column.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> where RowDecoder: Hashable { try all().fetchSet(db) }
}

extension Table where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible {
    // MARK: - Values straight from the column

    /// Returns a cursor on the values of the first column.
    public func fetchCursor(_ db: Database) throws -> FastDatabaseValueCursor<RowDecoder> { try all().fetchCursor(db) }

    /// Returns the values of the first column.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try all().fetchAll(db) }

    /// Returns the first value of the first column; nil when there is none or when it is NULL.
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try all().fetchOne(db) }

    /// Returns the distinct values of the first column.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> where RowDecoder: Hashable { try all().fetchSet(db) }
}

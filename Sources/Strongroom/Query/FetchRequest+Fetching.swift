extension FetchRequest where RowDecoder == Row {
    // MARK: - Rows

    /// Returns a cursor on the request's rows: one object for all of them.
    public func fetchCursor(_ db: Database) throws -> RowCursor {
        try Row.fetchCursor(db, self)
    }

    /// Returns all rows of the request.
    public func fetchAll(_ db: Database) throws -> [Row] {
        try Row.fetchAll(db, self)
    }

    /// Returns the distinct rows of the request.
    public func fetchSet(_ db: Database) throws -> Set<Row> {
        try Row.fetchSet(db, self)
    }

    /// Returns the first row of the request, or nil.
    public func fetchOne(_ db: Database) throws -> Row? {
        try Row.fetchOne(db, self)
    }
}

extension FetchRequest where RowDecoder: FetchableRecord {
    // MARK: - Records

    /// Returns a cursor on the request's records.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> RecordCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, self)
    }

    /// Returns all records of the request.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [RowDecoder] {
        try RowDecoder.fetchAll(db, self)
    }

    /// Returns the distinct records of the request.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> where RowDecoder: Hashable {
        try RowDecoder.fetchSet(db, self)
    }

    /// Returns the first record of the request, or nil.
    @inlinable
    public func fetchOne(_ db: Database) throws -> RowDecoder? {
        try RowDecoder.fetchOne(db, self)
    }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible {
    // MARK: - Values

    /// Returns a cursor on the request's values.
    public func fetchCursor(_ db: Database) throws -> DatabaseValueCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, self)
    }

    /// Returns all values of the request.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] {
        try RowDecoder.fetchAll(db, self)
    }

    /// Returns the distinct values of the request.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> where RowDecoder: Hashable {
        try RowDecoder.fetchSet(db, self)
    }

    /// Returns the first value of the request; nil when there is none or when it is NULL.
    public func fetchOne(_ db: Database) throws -> RowDecoder? {
        try RowDecoder.fetchOne(db, self)
    }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible {
    // MARK: - Values straight from the column

    /// Returns a cursor on the request's values.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> FastDatabaseValueCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, self)
    }

    /// Returns all values of the request.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [RowDecoder] {
        try RowDecoder.fetchAll(db, self)
    }

    /// Returns the distinct values of the request.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> where RowDecoder: Hashable {
        try RowDecoder.fetchSet(db, self)
    }

    /// Returns the first value of the request; nil when there is none or when it is NULL.
    @inlinable
    public func fetchOne(_ db: Database) throws -> RowDecoder? {
        try RowDecoder.fetchOne(db, self)
    }
}

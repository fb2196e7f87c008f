extension FetchableRecord {
    // MARK: - From a statement

    /// Returns a cursor on the records of a statement.
    @inlinable
    public static func fetchCursor(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> RecordCursor<Self> {
        try RecordCursor(Row.fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// Returns all records of a statement.
    @inlinable
    public static func fetchAll(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try Array(fetching: fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// Returns the first record of a statement, or nil.
    @inlinable
    public static func fetchOne(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        let record = try cursor.next()
        try cursor.run.complete()
        return record
    }

    // MARK: - From SQL

    /// Returns a cursor on the records of a query.
    @inlinable
    public static func fetchCursor(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> RecordCursor<Self> {
        try fetchCursor(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns all records of a query.
    @inlinable
    public static func fetchAll(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try fetchAll(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns the first record of a query, or nil.
    @inlinable
    public static func fetchOne(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try fetchOne(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    // MARK: - From a request

    /// Returns a cursor on the records of a request.
    ///
    /// - precondition: the request prefetches no associated rows. Use `fetchAll` for those.
    @inlinable
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws -> RecordCursor<Self> {
        try RecordCursor(Row.fetchCursor(db, request))
    }

    /// Returns all records of a request.
    @inlinable
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Self] {
        let prepared = try request.makePreparedRequest(db, forSingleResult: false)
        guard prepared.prefetches else { return try fetchAll(prepared.statement, adapter: prepared.adapter) }
        return try prepared.allRows(db).map { try Self(row: $0) }
    }

    /// Returns the first record of a request, or nil.
    @inlinable
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Self? {
        let prepared = try request.makePreparedRequest(db, forSingleResult: true)
        guard prepared.prefetches else { return try fetchOne(prepared.statement, adapter: prepared.adapter) }
        return try prepared.firstRow(db).map { try Self(row: $0) }
    }
}

extension FetchableRecord where Self: Hashable {
    /// Returns the distinct records of a statement.
    @inlinable
    public static func fetchSet(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try Set(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// Returns the distinct records of a query.
    @inlinable
    public static func fetchSet(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try fetchSet(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns the distinct records of a request.
    @inlinable
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Self> {
        let prepared = try request.makePreparedRequest(db, forSingleResult: false)
        guard prepared.prefetches else { return try fetchSet(prepared.statement, adapter: prepared.adapter) }
        return try Set(prepared.allRows(db).map { try Self(row: $0) })
    }
}

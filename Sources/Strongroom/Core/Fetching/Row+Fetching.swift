/// A cursor over rows. All its rows are one object: copy those that are kept.
public final class RowCursor: _RunningCursor {
    /// The row of the statement.
    public typealias Element = Row

    /// The run of the statement.
    public let run: StatementRun
    // Unchecked exclusivity: see <doc:Layers>.
    @usableFromInline @exclusivity(unchecked) var row: Row?
    private let adapter: (any RowAdapter)?

    @usableFromInline
    init(_ statement: Statement, arguments: StatementArguments?, adapter: (any RowAdapter)?) throws {
        self.adapter = adapter
        if let adapter { try statement.check(adapter) }
        self.run = try StatementRun(statement, arguments: arguments)
    }

    /// Returns the row.
    @inlinable
    public func _element(sqliteStatement: SQLiteStatement) throws -> Row {
        try row ?? firstRow()
    }

    /// Returns the row, which is created after the first step: SQLite may have recompiled the statement for a new
    /// schema.
    @usableFromInline
    func firstRow() throws -> Row {
        let row = try Row(statement: run.statement, adapter: adapter)
        self.row = row
        return row
    }
}

extension Row {
    // MARK: - From a statement

    /// Returns a cursor over the rows of a statement.
    public static func fetchCursor(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> RowCursor {
        try RowCursor(statement, arguments: arguments, adapter: adapter)
    }

    /// Returns all rows of a statement.
    public static func fetchAll(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> [Row] {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        var rows: [Row] = []
        while let row = try cursor.next() { rows.appendGrowing(row.copy()) }
        return rows
    }

    /// Returns the distinct rows of a statement.
    public static func fetchSet(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Row> {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        var rows: Set<Row> = []
        while let row = try cursor.next() { rows.insert(row.copy()) }
        return rows
    }

    /// Returns the first row of a statement. Nil if there is none.
    public static func fetchOne(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> Row? {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        let row = try cursor.next()?.copy()
        try cursor.run.complete()
        return row
    }

    // MARK: - From SQL

    /// Returns a cursor over the rows of a query.
    public static func fetchCursor(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> RowCursor {
        try fetchCursor(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns all rows of a query.
    public static func fetchAll(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Row] {
        try fetchAll(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns the distinct rows of a query.
    public static func fetchSet(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Row> {
        try fetchSet(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns the first row of a query. Nil if there is none.
    public static func fetchOne(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Row? {
        try fetchOne(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    // MARK: - From a request

    /// Returns a cursor over the rows of a request.
    ///
    /// - precondition: the request prefetches no associated rows. Use `fetchAll` for those.
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws -> RowCursor {
        let prepared = try request.makePreparedRequest(db, forSingleResult: false)
        prepared.requireNoPrefetch()
        return try fetchCursor(prepared.statement, adapter: prepared.adapter)
    }

    /// Returns all rows of a request.
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Row] {
        try request.makePreparedRequest(db, forSingleResult: false).allRows(db)
    }

    /// Returns the distinct rows of a request.
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Row> {
        let prepared = try request.makePreparedRequest(db, forSingleResult: false)
        guard !prepared.prefetches else { return try Set(prepared.allRows(db)) }
        return try fetchSet(prepared.statement, adapter: prepared.adapter)
    }

    /// Returns the first row of a request. Nil if there is none.
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Row? {
        try request.makePreparedRequest(db, forSingleResult: true).firstRow(db)
    }
}

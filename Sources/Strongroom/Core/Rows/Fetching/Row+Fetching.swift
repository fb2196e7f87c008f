/// A cursor on rows. All its rows are one object: copy what is to be kept.
public final class RowCursor: _RunningCursor {
    public typealias Element = Row

    /// The run of the statement.
    public let run: StatementRun
    // Unchecked exclusivity: see the article *Layers*.
    @usableFromInline @exclusivity(unchecked) var row: Row?
    private let adapter: (any RowAdapter)?

    @usableFromInline
    init(_ statement: Statement, arguments: StatementArguments?, adapter: (any RowAdapter)?) throws {
        self.adapter = adapter
        if let adapter { try statement.check(adapter) }
        self.run = try StatementRun(statement, arguments: arguments)
    }

    @inlinable
    public func _element(sqliteStatement: SQLiteStatement) throws -> Row {
        try row ?? firstRow()
    }

    /// Made after the first step: SQLite may have recompiled the statement for a new schema.
    @usableFromInline
    func firstRow() throws -> Row {
        let row = try Row(statement: run.statement, adapter: adapter)
        self.row = row
        return row
    }
}

extension Row {
    // MARK: - From a statement

    /// A cursor on the rows of a statement.
    public static func fetchCursor(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil) throws -> RowCursor
    {
        try RowCursor(statement, arguments: arguments, adapter: adapter)
    }

    /// All rows of a statement.
    public static func fetchAll(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil) throws -> [Row]
    {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        var rows: [Row] = []
        while let row = try cursor.next() { rows.append(row.copy()) }
        return rows
    }

    /// The distinct rows of a statement.
    public static func fetchSet(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil) throws -> Set<Row>
    {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        var rows: Set<Row> = []
        while let row = try cursor.next() { rows.insert(row.copy()) }
        return rows
    }

    /// The first row of a statement, or nil.
    public static func fetchOne(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil) throws -> Row?
    {
        let cursor = try fetchCursor(statement, arguments: arguments, adapter: adapter)
        let row = try cursor.next()?.copy()
        try cursor.run.complete()
        return row
    }

    // MARK: - From SQL

    /// A cursor on the rows of a query.
    public static func fetchCursor(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil) throws -> RowCursor
    {
        try fetchCursor(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// All rows of a query.
    public static func fetchAll(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil) throws -> [Row]
    {
        try fetchAll(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// The distinct rows of a query.
    public static func fetchSet(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil) throws -> Set<Row>
    {
        try fetchSet(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// The first row of a query, or nil.
    public static func fetchOne(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil) throws -> Row?
    {
        try fetchOne(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
    // MARK: - From a request

    /// A cursor on the rows of a request.
    ///
    /// - precondition: the request prefetches no associated rows. Use `fetchAll` for those.
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws -> RowCursor {
        let prepared = try request.makePreparedRequest(db, forSingleResult: false)
        prepared.requireNoPrefetch()
        return try fetchCursor(prepared.statement, adapter: prepared.adapter)
    }

    /// All rows of a request.
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Row] {
        try request.makePreparedRequest(db, forSingleResult: false).allRows(db)
    }

    /// The distinct rows of a request.
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Row> {
        let prepared = try request.makePreparedRequest(db, forSingleResult: false)
        guard !prepared.prefetches else { return try Set(prepared.allRows(db)) }
        return try fetchSet(prepared.statement, adapter: prepared.adapter)
    }

    /// The first row of a request, or nil.
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Row? {
        try request.makePreparedRequest(db, forSingleResult: true).firstRow(db)
    }
}

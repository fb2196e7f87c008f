// Values are fetched from the first column of a query. NULL is an error unless the type is an optional, except for
// fetchOne, which returns nil.

/// A cursor over values that are converted from the first column.
public final class DatabaseValueCursor<Value: DatabaseValueConvertible>: _RunningCursor {
    /// The type of the values.
    public typealias Element = Value

    /// The run of the statement.
    public let run: StatementRun
    @usableFromInline let adapter: (any RowAdapter)?

    // Unchecked exclusivity: see <doc:Layers>.

    /// The position of the column. Negative before the first row.
    @usableFromInline @exclusivity(unchecked) var column: CInt

    @usableFromInline
    init(_ statement: Statement, arguments: StatementArguments?, adapter: (any RowAdapter)?) throws {
        self.adapter = adapter
        column = adapter == nil ? 0 : -1
        if let adapter { try statement.check(adapter) }
        run = try StatementRun(statement, arguments: arguments)
    }

    /// Returns the value of the current row.
    @inlinable @inline(__always)
    public func _element(sqliteStatement: SQLiteStatement) throws -> Value {
        if column < 0 { column = try run.statement.firstColumn(adapter) }
        guard let value = Value.converted(from: sqliteStatement, at: column) else {
            throw try run.statement.conversionError(Value.self, at: column)
        }
        return value
    }
}

/// A cursor over values that are read directly from the first column.
public final class FastDatabaseValueCursor<
    Value: DatabaseValueConvertible & StatementColumnConvertible
>: _RunningCursor {
    /// The type of the values.
    public typealias Element = Value

    /// The run of the statement.
    public let run: StatementRun
    @usableFromInline let adapter: (any RowAdapter)?

    /// The position of the column. Negative before the first row.
    @usableFromInline @exclusivity(unchecked) var column: CInt

    @usableFromInline
    init(_ statement: Statement, arguments: StatementArguments?, adapter: (any RowAdapter)?) throws {
        self.adapter = adapter
        column = adapter == nil ? 0 : -1
        if let adapter { try statement.check(adapter) }
        run = try StatementRun(statement, arguments: arguments)
    }

    /// Returns the value of the current row.
    @inlinable @inline(__always)
    public func _element(sqliteStatement: SQLiteStatement) throws -> Value {
        if column < 0 { column = try run.statement.firstColumn(adapter) }
        guard let value = Value.fromStatement(sqliteStatement, atUncheckedIndex: column) else {
            throw try run.statement.conversionError(Value.self, at: column)
        }
        return value
    }
}

extension Statement {
    /// Returns the position of the column with the values: the first column of the adapted row.
    ///
    /// - throws: `SQLITE_MISUSE` if there is none.
    @inlinable @inline(__always)
    func firstColumn(_ adapter: (any RowAdapter)?) throws -> CInt {
        // Compared and not unwrapped, which would copy it.
        adapter == nil ? 0 : try firstColumn(shownBy: adapter!)
    }

    @usableFromInline
    func firstColumn(shownBy adapter: any RowAdapter) throws -> CInt {
        // SQLite may have recompiled the statement at its first step.
        forgetColumnsIfRecompiled()
        guard let first = try layout(adapter).positions.first else {
            throw error(
                DatabaseError(
                    resultCode: .SQLITE_MISUSE, message: "the row adapter leaves no column to read values from"))
        }
        return CInt(first)
    }

    /// Returns the value in the first row. Nil if there is no row, or the value is NULL.
    @inlinable @inline(__always)
    func firstValue<Value>(
        arguments: StatementArguments?, adapter: (any RowAdapter)?,
        _ convert: (SQLiteStatement, CInt) -> Value?
    ) throws -> Value? {
        try firstRow(arguments: arguments) { sqliteStatement in
            let column = try firstColumn(adapter)
            if let value = convert(sqliteStatement, column) { return value }
            if StatementColumn(sqliteStatement, column).isNull { return nil }
            throw try conversionError(Value?.self, at: column)
        }
    }

    /// Returns the error for a column of the current row that can't be converted.
    @usableFromInline
    func conversionError(_ type: Any.Type, at index: CInt) throws -> RowDecodingError {
        try Row(statement: self).conversionError(type, at: Int(index))
    }
}

// MARK: - By database values

extension DatabaseValueConvertible {
    /// Returns the value of a column of the current row. Nil if it can't be converted.
    @inlinable @inline(__always)
    static func converted(from sqliteStatement: SQLiteStatement, at column: CInt) -> Self? {
        fromDatabaseValue(DatabaseValue(sqliteStatement: sqliteStatement, index: column))
    }

    // MARK: - From a statement

    /// Returns a cursor over the values of a statement.
    public static func fetchCursor(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> DatabaseValueCursor<Self> {
        try DatabaseValueCursor(statement, arguments: arguments, adapter: adapter)
    }

    /// Returns all values of a statement.
    public static func fetchAll(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try Array(fetching: fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// Returns the first value of a statement. Nil if there is none or it is NULL.
    public static func fetchOne(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try statement.firstValue(arguments: arguments, adapter: adapter, converted)
    }

    // MARK: - From SQL

    /// Returns a cursor over the values of a query.
    public static func fetchCursor(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> DatabaseValueCursor<Self> {
        try fetchCursor(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns all values of a query.
    public static func fetchAll(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try fetchAll(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns the first value of a query. Nil if there is none or it is NULL.
    public static func fetchOne(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try fetchOne(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    // MARK: - From a request

    /// Returns a cursor over the values of a request.
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws -> DatabaseValueCursor<Self> {
        let prepared = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchCursor(prepared.statement, adapter: prepared.adapter)
    }

    /// Returns all values of a request.
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Self] {
        try Array(fetching: fetchCursor(db, request))
    }

    /// Returns the first value of a request. Nil if there is none or it is NULL.
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Self? {
        let prepared = try request.makePreparedRequest(db, forSingleResult: true)
        return try fetchOne(prepared.statement, adapter: prepared.adapter)
    }
}

extension DatabaseValueConvertible where Self: Hashable {
    /// Returns the distinct values of a statement.
    public static func fetchSet(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try Set(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// Returns the distinct values of a query.
    public static func fetchSet(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try fetchSet(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns the distinct values of a request.
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Self> {
        try Set(fetchCursor(db, request))
    }
}

// MARK: - Directly from the column

extension DatabaseValueConvertible where Self: StatementColumnConvertible {
    // MARK: - From a statement

    /// Returns a cursor over the values of a statement.
    @inlinable
    public static func fetchCursor(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> FastDatabaseValueCursor<Self> {
        try FastDatabaseValueCursor(statement, arguments: arguments, adapter: adapter)
    }

    /// Returns all values of a statement.
    @inlinable
    public static func fetchAll(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try Array(fetching: fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// Returns the first value of a statement. Nil if there is none or it is NULL.
    @inlinable
    public static func fetchOne(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try statement.firstValue(arguments: arguments, adapter: adapter) {
            Self.fromStatement($0, atUncheckedIndex: $1)
        }
    }

    // MARK: - From SQL

    /// Returns a cursor over the values of a query.
    @inlinable
    public static func fetchCursor(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> FastDatabaseValueCursor<Self> {
        try fetchCursor(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns all values of a query.
    @inlinable
    public static func fetchAll(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try fetchAll(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns the first value of a query. Nil if there is none or it is NULL.
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

    /// Returns a cursor over the values of a request.
    @inlinable
    public static func fetchCursor(
        _ db: Database, _ request: some FetchRequest
    ) throws -> FastDatabaseValueCursor<Self> {
        let prepared = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchCursor(prepared.statement, adapter: prepared.adapter)
    }

    /// Returns all values of a request.
    @inlinable
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Self] {
        try Array(fetching: fetchCursor(db, request))
    }

    /// Returns the first value of a request. Nil if there is none or it is NULL.
    @inlinable
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Self? {
        let prepared = try request.makePreparedRequest(db, forSingleResult: true)
        return try fetchOne(prepared.statement, adapter: prepared.adapter)
    }
}

extension DatabaseValueConvertible where Self: StatementColumnConvertible & Hashable {
    /// Returns the distinct values of a statement.
    @inlinable
    public static func fetchSet(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try Set(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// Returns the distinct values of a query.
    @inlinable
    public static func fetchSet(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try fetchSet(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Returns the distinct values of a request.
    @inlinable
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Self> {
        try Set(fetchCursor(db, request))
    }
}

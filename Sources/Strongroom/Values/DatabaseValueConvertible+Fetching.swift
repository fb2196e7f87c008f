import CSQLCipher

// Values are fetched from the first column of a query. A NULL is an error unless the type is an optional, except that
// fetchOne gives nil for it.

/// A cursor on values that are converted from the first column.
public final class DatabaseValueCursor<Value: DatabaseValueConvertible>: DatabaseCursor {
    public typealias Element = Value

    public let run: StatementRun
    private let index: Int

    init(_ statement: Statement, arguments: StatementArguments?, adapter: (any RowAdapter)?) throws {
        index = try statement.firstColumn(adapter: adapter)
        run = try StatementRun(statement, arguments: arguments)
    }

    public func next() throws -> Value? {
        guard try run.step() else { return nil }
        return try Row(statement: run.statement).decode(Value.self, atIndex: index)
    }
}

/// A cursor on values that are read straight from the first column.
public final class FastDatabaseValueCursor<Value: DatabaseValueConvertible & StatementColumnConvertible>: DatabaseCursor {
    public typealias Element = Value

    public let run: StatementRun
    @usableFromInline let index: CInt

    @usableFromInline
    init(_ statement: Statement, arguments: StatementArguments?, adapter: (any RowAdapter)?) throws {
        index = CInt(try statement.firstColumn(adapter: adapter))
        run = try StatementRun(statement, arguments: arguments)
    }

    @inlinable
    public func next() throws -> Value? {
        guard try run.step() else { return nil }
        guard let value = Value.fromStatement(run.sqliteStatement, atUncheckedIndex: index) else {
            throw try run.statement.conversionError(Value.self, at: index)
        }
        return value
    }
}

extension Statement {
    /// The position of the column that values are read from.
    @usableFromInline
    func firstColumn(adapter: (any RowAdapter)?) throws -> Int {
        guard let adapter else {
            guard columnCount > 0 else {
                throw error(DatabaseError(resultCode: .SQLITE_MISUSE, message: "the statement returns no column to read from"))
            }
            return 0
        }
        let layout = try adapter.layout(of: RowLayout(names: columns.names))
        guard let first = layout.columns.first else {
            throw error(DatabaseError(resultCode: .SQLITE_MISUSE, message: "the row adapter leaves no column to read from"))
        }
        return first.index
    }
}

extension Statement {
    /// The error that a column of the current row can't be converted.
    @usableFromInline
    func conversionError(_ type: Any.Type, at index: CInt) throws -> RowDecodingError {
        try Row(statement: self).conversionError(type, at: Int(index))
    }
}

// MARK: - Through database values

extension DatabaseValueConvertible {
    // MARK: - From a statement

    /// A cursor on the values of a statement.
    public static func fetchCursor(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil) throws -> DatabaseValueCursor<Self>
    {
        try DatabaseValueCursor(statement, arguments: arguments, adapter: adapter)
    }

    /// All values of a statement.
    public static func fetchAll(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil) throws -> [Self]
    {
        try Array(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// The first value of a statement; nil when there is none or when it is NULL.
    public static func fetchOne(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil) throws -> Self?
    {
        try DatabaseValueCursor<Self?>(statement, arguments: arguments, adapter: adapter).next() ?? nil
    }

    // MARK: - From SQL

    /// A cursor on the values of a query.
    public static func fetchCursor(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil) throws -> DatabaseValueCursor<Self>
    {
        try fetchCursor(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// All values of a query.
    public static func fetchAll(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil) throws -> [Self]
    {
        try fetchAll(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// The first value of a query; nil when there is none or when it is NULL.
    public static func fetchOne(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil) throws -> Self?
    {
        try fetchOne(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
}

extension DatabaseValueConvertible where Self: Hashable {
    /// The distinct values of a statement.
    public static func fetchSet(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil) throws -> Set<Self>
    {
        try Set(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// The distinct values of a query.
    public static func fetchSet(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil) throws -> Set<Self>
    {
        try fetchSet(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
}

// MARK: - Straight from the column

extension DatabaseValueConvertible where Self: StatementColumnConvertible {
    // MARK: - From a statement

    /// A cursor on the values of a statement.
    @inlinable
    public static func fetchCursor(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil) throws -> FastDatabaseValueCursor<Self>
    {
        try FastDatabaseValueCursor(statement, arguments: arguments, adapter: adapter)
    }

    /// All values of a statement.
    @inlinable
    public static func fetchAll(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil) throws -> [Self]
    {
        try Array(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// The first value of a statement; nil when there is none or when it is NULL.
    @inlinable
    public static func fetchOne(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil) throws -> Self?
    {
        let index = CInt(try statement.firstColumn(adapter: adapter))
        return try statement.firstRow(arguments: arguments) { sqliteStatement in
            if let value = Self.fromStatement(sqliteStatement, atUncheckedIndex: index) { return value }
            if sqlite3_column_type(sqliteStatement, index) == SQLITE_NULL { return nil }
            throw try statement.conversionError(Self.self, at: index)
        }
    }

    // MARK: - From SQL

    /// A cursor on the values of a query.
    @inlinable
    public static func fetchCursor(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil) throws -> FastDatabaseValueCursor<Self>
    {
        try fetchCursor(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// All values of a query.
    @inlinable
    public static func fetchAll(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil) throws -> [Self]
    {
        try fetchAll(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// The first value of a query; nil when there is none or when it is NULL.
    @inlinable
    public static func fetchOne(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil) throws -> Self?
    {
        try fetchOne(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
}

extension DatabaseValueConvertible where Self: StatementColumnConvertible & Hashable {
    /// The distinct values of a statement.
    @inlinable
    public static func fetchSet(
        _ statement: Statement,
        arguments: StatementArguments? = nil,
        adapter: (any RowAdapter)? = nil) throws -> Set<Self>
    {
        try Set(fetchCursor(statement, arguments: arguments, adapter: adapter))
    }

    /// The distinct values of a query.
    @inlinable
    public static func fetchSet(
        _ db: Database,
        sql: String,
        arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil) throws -> Set<Self>
    {
        try fetchSet(db.reusableStatement(sql: sql), arguments: arguments, adapter: adapter)
    }
}

/// A type that reads the rows of a statement one by one.
///
/// A cursor ends when SQLite reports an error, when its statement runs again, and when the access ends.
///
/// A cursor of your own implements the three requirements, and gets ``Cursor/next()`` from them. Its statement has all
/// its arguments before the first `next()`, set by ``Statement/setArguments(_:)`` or bound to the raw statement.
public protocol DatabaseCursor<Element>: Cursor {
    /// The statement that the cursor runs.
    var _statement: Statement { get }

    /// True if the cursor has ended. False at first.
    var _isDone: Bool { get set }

    /// Returns the element of the statement's current row.
    func _element(sqliteStatement: SQLiteStatement) throws -> Element
}

extension DatabaseCursor {
    /// The SQL of the statement.
    public var sql: String { _statement.sql }

    /// The arguments of the statement.
    public var arguments: StatementArguments { _statement.arguments }

    /// The names of the statement's columns, before any adapter.
    public var columnNames: [String] { _statement.columnNames }

    /// The number of the statement's columns, before any adapter.
    public var columnCount: Int { _statement.columnCount }

    /// The region of the database that the statement reads.
    public var databaseRegion: DatabaseRegion { _statement.databaseRegion }

    /// Returns the next element. Nil at the end.
    public func next() throws -> Element? {
        guard !_isDone else { return nil }
        // It has ended unless there is a row: another step would restart the statement.
        _isDone = true
        guard try _statement.stepAsBound() else { return nil }
        _isDone = false
        return try _element(sqliteStatement: _statement.sqliteStatement)
    }
}

/// A cursor that `fetchCursor` functions return. It holds the run of its statement.
public protocol _RunningCursor: DatabaseCursor {
    /// The run of the statement.
    var run: StatementRun { get }
}

extension _RunningCursor {
    /// The statement of the run.
    public var _statement: Statement { run.statement }

    /// True if the run has ended.
    public var _isDone: Bool {
        get { run.isDone }
        set { if newValue { run.finish() } }
    }

    /// Returns the element of the next row. Nil if there is none.
    @inlinable
    public func next() throws -> Element? {
        guard try run.step() else { return nil }
        return try _element(sqliteStatement: run.sqliteStatement)
    }
}

extension Array {
    /// Creates an array of the elements of a fetch. `forEach` would only lend each element, which would be copied.
    @inlinable
    init<C: _RunningCursor>(fetching cursor: C) throws where C.Element == Element {
        self.init()
        while let element = try cursor.next() { appendGrowing(element) }
    }
}

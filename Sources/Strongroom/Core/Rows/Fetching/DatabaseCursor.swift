/// A cursor on what a statement returns.
///
/// It is at its end when SQLite reports an error, when another run of its statement begins, and when the access ends.
///
/// A cursor of your own needs the three requirements, and gets ``Cursor/next()`` from them. Its statement has all its
/// arguments before the first `next()`; whether they were set by ``Statement/setArguments(_:)`` or bound to the raw
/// statement is the same.
public protocol DatabaseCursor<Element>: Cursor {
    /// The statement that the cursor runs.
    var _statement: Statement { get }

    /// True if the cursor is at its end. False at first.
    var _isDone: Bool { get set }

    /// Returns the element that the current row of the statement stands for.
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

    /// The part of the database that the statement reads.
    public var databaseRegion: DatabaseRegion { _statement.databaseRegion }

    public func next() throws -> Element? {
        guard !_isDone else { return nil }
        // At its end unless there is a row, failures included: another step would start the statement anew.
        _isDone = true
        guard try _statement.stepAsBound() else { return nil }
        _isDone = false
        return try _element(sqliteStatement: _statement.sqliteStatement)
    }
}

/// A cursor that `fetchCursor` functions return: it holds the run of its statement.
public protocol _RunningCursor: DatabaseCursor {
    /// The run of the statement.
    var run: StatementRun { get }
}

extension _RunningCursor {
    public var _statement: Statement { run.statement }

    public var _isDone: Bool {
        get { run.isDone }
        set { if newValue { run.finish() } }
    }

    /// Returns the element of the next row; nil when there is none.
    @inlinable
    public func next() throws -> Element? {
        guard try run.step() else { return nil }
        return try _element(sqliteStatement: run.sqliteStatement)
    }
}

/// A cursor on what a statement returns.
///
/// It is at its end when SQLite reports an error, when another run of its statement begins, and when the access ends.
public protocol DatabaseCursor<Element>: Cursor {
    /// The run of the statement.
    var run: StatementRun { get }
}

extension DatabaseCursor {
    /// The SQL of the statement.
    public var sql: String { run.statement.sql }

    /// The arguments of the statement.
    public var arguments: StatementArguments { run.statement.arguments }

    /// The names of the statement's columns, before any adapter.
    public var columnNames: [String] { run.statement.columnNames }

    /// The number of the statement's columns, before any adapter.
    public var columnCount: Int { run.statement.columnCount }

    /// What the statement reads of the database.
    public var databaseRegion: DatabaseRegion { run.statement.databaseRegion }
}

/// A type that is made from a row.
///
/// ```swift
/// struct Player: FetchableRecord {
///     var id: Int64
///     var name: String
///
///     init(row: Row) {
///         id = row["id"]
///         name = row["name"]
///     }
/// }
///
/// let players = try Player.fetchAll(db, sql: "SELECT * FROM player")
/// ```
public protocol FetchableRecord {
    /// Makes a record from a row. The rows of a cursor are one and the same object: keep a ``Row/copy()``, if any.
    init(row: Row) throws
}

/// A cursor on records.
public final class RecordCursor<Record: FetchableRecord>: DatabaseCursor {
    public typealias Element = Record

    public let run: StatementRun
    @usableFromInline let rows: RowCursor

    @inlinable
    init(_ rows: RowCursor) {
        self.rows = rows
        self.run = rows.run
    }

    @inlinable
    public func next() throws -> Record? {
        guard let row = try rows.next() else { return nil }
        return try Record(row: row)
    }
}

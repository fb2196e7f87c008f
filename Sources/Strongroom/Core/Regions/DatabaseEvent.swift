/// A kind of change that a statement may make.
@frozen
public enum DatabaseEventKind: Sendable {
    case insert(tableName: String)
    case delete(tableName: String)
    case update(tableName: String, columnNames: Set<String>)

    /// The name of the changed table.
    public var tableName: String {
        switch self {
        case .insert(let tableName), .delete(let tableName), .update(let tableName, _): tableName
        }
    }

    func isSame(as other: DatabaseEventKind) -> Bool {
        switch (self, other) {
        case (.insert(let table), .insert(let otherTable)), (.delete(let table), .delete(let otherTable)):
            table == otherTable
        case (.update(let table, let columns), .update(let otherTable, let otherColumns)):
            table == otherTable && columns == otherColumns
        default:
            false
        }
    }

    /// Returns true if the event is of this kind, regardless of its columns.
    func includes(_ event: DatabaseEvent, inTable tableName: @autoclosure () -> String) -> Bool {
        switch (self, event.kind) {
        case (.insert(let table), .insert), (.delete(let table), .delete), (.update(let table, _), .update):
            table == tableName()
        default:
            false
        }
    }
}

/// The change of one row. <https://www.sqlite.org/c3ref/update_hook.html>
///
/// The names of an event are in SQLite's memory while the change happens. To keep an event, make a ``copy()``.
public struct DatabaseEvent {
    /// The kind of change. The raw values are SQLite's `SQLITE_INSERT`, `SQLITE_DELETE` and `SQLITE_UPDATE`.
    public enum Kind: CInt, Sendable {
        case insert = 18
        case delete = 9
        case update = 23
    }

    private enum Names {
        case lent(database: UnsafePointer<CChar>, table: UnsafePointer<CChar>)
        case owned(database: String, table: String)
    }

    /// The kind of the change.
    public let kind: Kind

    /// The rowid of the row. The new one if an update changes it.
    public let rowID: Int64

    private let names: Names

    /// Creates an event that is valid during the change.
    init(
        kind: Kind, rowID: Int64, lentDatabaseName database: UnsafePointer<CChar>,
        lentTableName table: UnsafePointer<CChar>
    ) {
        self.kind = kind
        self.rowID = rowID
        names = .lent(database: database, table: table)
    }

    init(kind: Kind, rowID: Int64, databaseName: String, tableName: String) {
        self.kind = kind
        self.rowID = rowID
        names = .owned(database: databaseName, table: tableName)
    }

    /// `main`, `temp`, or the name of an attached database.
    public var databaseName: String {
        switch names {
        case .lent(let database, _): String(cString: database)
        case .owned(let database, _): database
        }
    }

    /// The name of the table.
    public var tableName: String {
        switch names {
        case .lent(_, let table): String(cString: table)
        case .owned(_, let table): table
        }
    }

    /// Returns a copy, which can be kept.
    public func copy() -> DatabaseEvent {
        DatabaseEvent(kind: kind, rowID: rowID, databaseName: databaseName, tableName: tableName)
    }
}

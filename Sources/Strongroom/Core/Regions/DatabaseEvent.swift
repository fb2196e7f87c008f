/// The kinds of changes that a statement may make.
@frozen
public enum DatabaseEventKind: Sendable {
    case insert(tableName: String)
    case delete(tableName: String)
    case update(tableName: String, columnNames: Set<String>)

    /// The table that changes.
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

    /// Returns true if the event is of that kind, as far as the names of columns don't matter.
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
/// An event's names are in SQLite's memory while the change happens: make a ``copy()`` of an event that is to be kept.
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

    public let kind: Kind

    /// The rowid of the row; the new one when an update changes it.
    public let rowID: Int64

    private let names: Names

    /// An event that is told while it happens.
    init(
        kind: Kind, rowID: Int64, lentDatabaseName database: UnsafePointer<CChar>,
        lentTableName table: UnsafePointer<CChar>)
    {
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

    public var tableName: String {
        switch names {
        case .lent(_, let table): String(cString: table)
        case .owned(_, let table): table
        }
    }

    /// An event that can be kept.
    public func copy() -> DatabaseEvent {
        DatabaseEvent(kind: kind, rowID: rowID, databaseName: databaseName, tableName: tableName)
    }
}

import Foundation

/// A type that can be decoded from a row.
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
    /// Creates a record from a row. A cursor reuses one row object: keep a ``Row/copy()``, not the row.
    init(row: Row) throws

    /// The user info of the decoder that the `init(from:)` of properties gets. Default: empty.
    static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { get }

    /// Returns the decoder of a column that is stored as JSON. Default: dates in milliseconds since 1970, data in
    /// Base64.
    static func databaseJSONDecoder(for column: String) -> JSONDecoder

    /// Returns the strategy that reads `Data` properties from a column. Default: as `Data` reads itself.
    static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy

    /// Returns the strategy that reads `Date` properties from a column. Default: as `Date` reads itself.
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy

    /// The strategy that derives coding keys from columns. Default: the same names.
    static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { get }
}

extension FetchableRecord {
    /// An empty dictionary.
    public static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    /// Returns a decoder that reads dates in milliseconds since 1970 and data in Base64.
    public static func databaseJSONDecoder(for column: String) -> JSONDecoder {
        let decoder = Int.databaseJSONDecoder()
        decoder.userInfo = databaseDecodingUserInfo.asSendable
        return decoder
    }

    /// Returns the strategy that reads data as `Data` does.
    public static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
        .deferredToData
    }

    /// Returns the strategy that reads dates as `Date` does.
    public static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .deferredToDate
    }

    /// The strategy in which columns have the names of the coding keys.
    public static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .useDefaultKeys }
}

/// A cursor on records.
public final class RecordCursor<Record: FetchableRecord>: _RunningCursor {
    /// The type of the records.
    public typealias Element = Record

    /// The run of the statement that the cursor owns.
    public let run: StatementRun
    @usableFromInline let rows: RowCursor

    @inlinable
    init(_ rows: RowCursor) {
        self.rows = rows
        self.run = rows.run
    }

    /// Returns the record of the current row.
    @inlinable
    public func _element(sqliteStatement: SQLiteStatement) throws -> Record {
        try Record(row: rows._element(sqliteStatement: sqliteStatement))
    }
}

extension ColumnInfo: FetchableRecord {}

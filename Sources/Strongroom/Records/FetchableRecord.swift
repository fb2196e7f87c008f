import Foundation

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

    /// What the `init(from:)` of properties finds in its decoder. Default: nothing.
    static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { get }

    /// The decoder of a column that is stored as JSON. Default: dates in milliseconds since 1970, data in Base64.
    static func databaseJSONDecoder(for column: String) -> JSONDecoder

    /// How `Data` properties are read. Default: as `Data` is.
    static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy

    /// How `Date` properties are read. Default: as `Date` is.
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy

    /// How columns become coding keys. Default: they have the same name.
    static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { get }
}

extension FetchableRecord {
    public static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    public static func databaseJSONDecoder(for column: String) -> JSONDecoder {
        let decoder = Int.databaseJSONDecoder()
        decoder.userInfo = databaseDecodingUserInfo.asSendable
        return decoder
    }

    public static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy { .deferredToData }

    public static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy { .deferredToDate }

    public static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .useDefaultKeys }
}

/// A cursor on records.
public final class RecordCursor<Record: FetchableRecord>: _RunningCursor {
    public typealias Element = Record

    public let run: StatementRun
    @usableFromInline let rows: RowCursor

    @inlinable
    init(_ rows: RowCursor) {
        self.rows = rows
        self.run = rows.run
    }

    @inlinable
    public func _element(sqliteStatement: SQLiteStatement) throws -> Record {
        try Record(row: rows._element(sqliteStatement: sqliteStatement))
    }
}

extension ColumnInfo: FetchableRecord {}

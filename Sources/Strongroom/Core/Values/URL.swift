import Foundation

extension URL: DatabaseValueConvertible, StatementColumnConvertible {
    /// The absolute string as text.
    public var databaseValue: DatabaseValue { absoluteString.databaseValue }

    /// Returns the URL of a text, or of the UTF-8 in a blob, that `URL(string:)` accepts.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> URL? {
        String.fromDatabaseValue(dbValue).flatMap { URL(string: $0) }
    }

    /// Binds the value to a parameter. Returns SQLite's result code.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        absoluteString.bind(to: sqliteStatement, at: index)
    }

    /// Creates the value of a column in the statement's current row. Nil if it can't be converted.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = StatementColumn(sqliteStatement, index), kind = column.kind
        guard kind == .text || kind == .blob,
            let text = column.withText(kind, { String(bytes: $0, encoding: .utf8) })
        else { return nil }
        self.init(string: text)
    }
}

import Foundation

extension URL: DatabaseValueConvertible, StatementColumnConvertible {
    /// The absolute string, as text.
    public var databaseValue: DatabaseValue { absoluteString.databaseValue }

    /// Text, or the UTF-8 in a blob, that `URL(string:)` understands.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> URL? {
        String.fromDatabaseValue(dbValue).flatMap { URL(string: $0) }
    }

    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        absoluteString.bind(to: sqliteStatement, at: index)
    }

    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = StatementColumn(sqliteStatement, index)
        guard column.kind == .text || column.kind == .blob,
            let text = column.withText({ String(bytes: $0, encoding: .utf8) })
        else { return nil }
        self.init(string: text)
    }
}

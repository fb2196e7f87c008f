import Foundation

extension Data: DatabaseValueConvertible, StatementColumnConvertible {
    /// The data as a blob.
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .blob(self)) }

    /// True if an argument list can hold the value itself.
    public var _isPlainValue: Bool { !isLarge }

    /// Returns a blob, or the UTF-8 of a text.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Data? {
        switch dbValue.storage {
        case .blob(let value): value
        case .string(let value): Data(value.utf8)
        default: nil
        }
    }

    /// Binds the value to a parameter. Returns SQLite's result code.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        withUnsafeBytes { StatementParameter(sqliteStatement, index).bind(blob: $0) }
    }

    /// Creates the value of a column in the statement's current row.
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self = StatementColumn(sqliteStatement, index).withBlob { Data($0) }
    }
}

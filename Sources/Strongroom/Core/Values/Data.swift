import Foundation

extension Data: DatabaseValueConvertible, StatementColumnConvertible {
    /// A blob.
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .blob(self)) }

    public var _isPlainValue: Bool { !isLarge }

    /// A blob, or the UTF-8 of a text.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Data? {
        switch dbValue.storage {
        case .blob(let value): value
        case .string(let value): Data(value.utf8)
        default: nil
        }
    }

    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        withUnsafeBytes { StatementParameter(sqliteStatement, index).bind(blob: $0) }
    }

    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self = StatementColumn(sqliteStatement, index).withBlob { Data($0) }
    }

    /// A copy of SQLite's bytes.
    init(sqliteBytes: UnsafeRawPointer?, length: CInt) {
        self.init(UnsafeRawBufferPointer(start: sqliteBytes, count: Int(length)))
    }
}

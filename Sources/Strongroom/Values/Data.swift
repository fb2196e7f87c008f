import CSQLCipher
import CStrongroom
import Foundation

extension Data: DatabaseValueConvertible, StatementColumnConvertible {
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .blob(self)) }

    /// A blob, or the UTF-8 of a text.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Data? {
        switch dbValue.storage {
        case .blob(let value): value
        case .string(let value): Data(value.utf8)
        default: nil
        }
    }

    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        withUnsafeBytes { strongroom_bind_blob(sqliteStatement, index, $0.baseAddress, Int64($0.count)) }
    }

    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        let bytes = sqlite3_column_blob(sqliteStatement, index)
        self.init(sqliteBytes: bytes, length: sqlite3_column_bytes(sqliteStatement, index))
    }

    /// A copy of SQLite's bytes.
    init(sqliteBytes: UnsafeRawPointer?, length: CInt) {
        guard let sqliteBytes, length > 0 else {
            self.init()
            return
        }
        self.init(bytes: sqliteBytes, count: Int(length))
    }
}

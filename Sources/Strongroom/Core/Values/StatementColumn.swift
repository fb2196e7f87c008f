import CSQLCipher
import CStrongroom
import Foundation

// The functions of SQLite's C interface that the types of this folder need.

/// A column of a statement's current row.
///
/// Source: <https://www.sqlite.org/c3ref/column_blob.html>.
@usableFromInline
struct StatementColumn {
    @usableFromInline
    enum Kind {
        case null, integer, double, text, blob
    }

    @usableFromInline let statement: SQLiteStatement
    @usableFromInline let index: CInt

    @inlinable
    init(_ statement: SQLiteStatement, _ index: CInt) {
        self.statement = statement
        self.index = index
    }

    @inlinable var isNull: Bool { sqlite3_column_type(statement, index) == SQLITE_NULL }

    /// The storage class. Read it before the value, because reading the value may convert it.
    @inlinable var kind: Kind {
        switch sqlite3_column_type(statement, index) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .double
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    @inlinable var int64: Int64 { sqlite3_column_int64(statement, index) }

    @inlinable var double: Double { sqlite3_column_double(statement, index) }

    /// Calls `body` with SQLite's own bytes of a text or a blob, without the final NUL of a text. Numbers are formatted
    /// by SQLite.
    func withText<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
        // Reading a blob as text would convert it: the next read of the column would find a text.
        if sqlite3_column_type(statement, index) == SQLITE_BLOB {
            return try withBlob { try $0.withMemoryRebound(to: UInt8.self, body) }
        }
        // The text before the size: the other order may convert twice.
        let text = sqlite3_column_text(statement, index)
        return try body(UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, index))))
    }

    /// Calls `body` with SQLite's own bytes of a blob. The buffer of an empty blob has no address.
    func withBlob<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let bytes = sqlite3_column_blob(statement, index)
        return try body(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, index))))
    }
}

extension StatementColumn {
    /// SQLite's own bytes of a blob or a text, which are valid until the next step. Nil for other values.
    var bytes: UnsafeRawBufferPointer? {
        guard kind == .blob || kind == .text else { return nil }
        let bytes = sqlite3_column_blob(statement, index)
        return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, index)))
    }
}

/// A parameter of a statement. All functions return SQLite's result code. Bytes are copied.
///
/// Source: <https://www.sqlite.org/c3ref/bind_blob.html>.
@usableFromInline
struct StatementParameter {
    @usableFromInline let statement: SQLiteStatement
    @usableFromInline let index: CInt

    @inlinable
    init(_ statement: SQLiteStatement, _ index: CInt) {
        self.statement = statement
        self.index = index
    }

    @inlinable
    func bindNull() -> CInt { sqlite3_bind_null(statement, index) }

    @inlinable
    func bind(_ value: Int64) -> CInt { sqlite3_bind_int64(statement, index, value) }

    /// Binds a double. SQLite has no NaN, and binds NULL instead.
    @inlinable
    func bind(_ value: Double) -> CInt { sqlite3_bind_double(statement, index, value) }

    /// Binds UTF-8, including NUL.
    func bind(text: UnsafeBufferPointer<UInt8>) -> CInt {
        text.withMemoryRebound(to: CChar.self) {
            // An empty buffer may have no address. SQLite would bind NULL then.
            guard let start = $0.baseAddress else { return strongroom_bind_text(statement, index, "", 0) }
            return strongroom_bind_text(statement, index, start, Int64($0.count))
        }
    }

    func bind(blob: UnsafeRawBufferPointer) -> CInt {
        strongroom_bind_blob(statement, index, blob.baseAddress, Int64(blob.count))
    }
}

// MARK: - Functions that SQLite calls

extension DatabaseValue {
    /// Creates the value of an argument of an SQL function.
    init(sqliteValue: OpaquePointer) {
        switch sqlite3_value_type(sqliteValue) {
        case SQLITE_INTEGER:
            storage = .int64(sqlite3_value_int64(sqliteValue))
        case SQLITE_FLOAT:
            storage = .double(sqlite3_value_double(sqliteValue))
        case SQLITE_TEXT:
            let text = sqlite3_value_text(sqliteValue)
            storage = .string(String(sqliteText: text, length: sqlite3_value_bytes(sqliteValue)))
        case SQLITE_BLOB:
            let bytes = sqlite3_value_blob(sqliteValue)
            storage = .blob(Data(sqliteBytes: bytes, length: sqlite3_value_bytes(sqliteValue)))
        default:
            storage = .null
        }
    }

    /// Sets the value as the result of an SQL function.
    func setResult(of context: OpaquePointer) {
        switch storage {
        case .null:
            sqlite3_result_null(context)
        case .int64(let value):
            sqlite3_result_int64(context, value)
        case .double(let value):
            sqlite3_result_double(context, value)
        case .string(var value):
            value.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    // An empty buffer may have no address. SQLite would return NULL then.
                    guard let start = $0.baseAddress else { return strongroom_result_text(context, "", 0) }
                    strongroom_result_text(context, start, Int64($0.count))
                }
            }
        case .blob(let value):
            value.withUnsafeBytes { strongroom_result_blob(context, $0.baseAddress, Int64($0.count)) }
        }
    }
}

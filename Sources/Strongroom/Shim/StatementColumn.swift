import CSQLCipher
import CStrongroom

/// A column of a statement's current row.
///
/// Source: <https://www.sqlite.org/c3ref/column_blob.html>.
@usableFromInline
struct StatementColumn {
    @usableFromInline
    enum Kind {
        case null, integer, double, text, blob

        /// Creates the storage class of a number of <https://www.sqlite.org/c3ref/c_blob.html>.
        @inlinable @inline(__always)
        init(sqliteType: CInt) {
            switch sqliteType {
            case SQLITE_INTEGER: self = .integer
            case SQLITE_FLOAT: self = .double
            case SQLITE_TEXT: self = .text
            case SQLITE_BLOB: self = .blob
            default: self = .null
            }
        }
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
    @inlinable var kind: Kind { Kind(sqliteType: sqlite3_column_type(statement, index)) }

    @inlinable var int64: Int64 { sqlite3_column_int64(statement, index) }

    @inlinable var double: Double { sqlite3_column_double(statement, index) }

    /// Calls `body` with SQLite's own bytes of a text or a blob, without the final NUL of a text. Numbers are formatted
    /// by SQLite.
    ///
    /// - parameter kind: the storage class, which most callers know. Each question costs a call.
    func withText<R>(_ kind: Kind, _ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
        // Reading a blob as text would convert it: the next read of the column would find a text.
        if kind == .blob { return try withBlob { try $0.withMemoryRebound(to: UInt8.self, body) } }
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

    /// Binds the value of a column of another statement. Returns the size of a text or a blob in bytes, otherwise zero.
    func bind(_ column: StatementColumn) -> (code: CInt, byteCount: Int) {
        let value = sqlite3_column_value(column.statement, column.index), type = sqlite3_value_type(value)
        let code = sqlite3_bind_value(statement, index, value)
        // Reading the bytes of a number would convert it to text.
        let hasBytes = type == SQLITE_TEXT || type == SQLITE_BLOB
        return (code, code == SQLITE_OK && hasBytes ? Int(sqlite3_value_bytes(value)) : 0)
    }

    /// Binds UTF-8, including NUL.
    func bind(text: UnsafeBufferPointer<UInt8>) -> CInt {
        text.withMemoryRebound(to: CChar.self) {
            // An empty buffer may have no address. SQLite would bind NULL then.
            guard let start = $0.baseAddress else { return strongroom_bind_text(statement, index, "", 0) }
            return strongroom_bind_text(statement, index, start, Int64($0.count))
        }
    }

    /// Binds a text in the encoding with SQLite's number.
    func bind(text: UnsafeRawBufferPointer, encoding: Int) -> CInt {
        strongroom_bind_encoded_text(statement, index, text.baseAddress, Int64(text.count), CInt(encoding))
    }

    func bind(blob: UnsafeRawBufferPointer) -> CInt {
        strongroom_bind_blob(statement, index, blob.baseAddress, Int64(blob.count))
    }
}

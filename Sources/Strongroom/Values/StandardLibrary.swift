import CSQLCipher
import CStrongroom
import Foundation

// Integers, floats, booleans and strings. Reading from a column follows SQLite's own conversions
// (https://www.sqlite.org/c3ref/column_blob.html); reading from a database value is stricter. Neither ever wraps.

// MARK: - Integers

extension Int64: DatabaseValueConvertible, StatementColumnConvertible {
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(self)) }

    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Int64? {
        switch dbValue.storage {
        case .int64(let value): value
        case .double(let value): Int64(truncatingInRange: value)
        default: nil
        }
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        sqlite3_bind_int64(sqliteStatement, index, self)
    }

    @inlinable
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self = sqlite3_column_int64(sqliteStatement, index)
    }

    /// Most integers are not zero, and a NULL reads as zero: only a zero needs the second call that tells which.
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Int64? {
        let value = sqlite3_column_int64(sqliteStatement, index)
        if value == 0, sqlite3_column_type(sqliteStatement, index) == SQLITE_NULL { return nil }
        return value
    }

    /// The double without its fraction; nil when it is not a number or out of range.
    init?(truncatingInRange value: Double) {
        guard value >= -0x1p63, value < 0x1p63 else { return nil }
        self.init(value)
    }
}

/// Integers other than `Int64` are stored through it, and read back when they fit.
public protocol DatabaseInteger: DatabaseValueConvertible, StatementColumnConvertible, FixedWidthInteger {}

extension DatabaseInteger {
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self? {
        guard let value = Int64.fromStatement(sqliteStatement, atUncheckedIndex: index) else { return nil }
        return Self(exactly: value)
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        self.init(exactly: sqlite3_column_int64(sqliteStatement, index))
    }

    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        Int64.fromDatabaseValue(dbValue).flatMap { Self(exactly: $0) }
    }
}

/// Integers that always fit in 64 signed bits.
public protocol DatabaseSmallInteger: DatabaseInteger {}

extension DatabaseSmallInteger {
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(Int64(self))) }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        sqlite3_bind_int64(sqliteStatement, index, Int64(self))
    }
}

extension Int: DatabaseSmallInteger {}
extension Int8: DatabaseSmallInteger {}
extension Int16: DatabaseSmallInteger {}
extension Int32: DatabaseSmallInteger {}
extension UInt8: DatabaseSmallInteger {}
extension UInt16: DatabaseSmallInteger {}
extension UInt32: DatabaseSmallInteger {}

/// Unsigned integers that may exceed what SQLite stores.
public protocol DatabaseLargeInteger: DatabaseInteger {}

extension DatabaseLargeInteger {
    /// - Precondition: at most `Int64.max`, SQLite's largest integer.
    public var databaseValue: DatabaseValue {
        guard let value = Int64(exactly: self) else {
            fatalError("\(self) does not fit in SQLite's 64-bit signed integers: store it as text or as data.")
        }
        return DatabaseValue(storage: .int64(value))
    }

    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        databaseValue.bind(to: sqliteStatement, at: index)
    }
}

extension UInt: DatabaseLargeInteger {}
extension UInt64: DatabaseLargeInteger {}

// MARK: - Bool

extension Bool: DatabaseValueConvertible, StatementColumnConvertible {
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(self ? 1 : 0)) }

    /// Numbers other than zero are true, as in SQLite; text and blobs are neither.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Bool? {
        switch dbValue.storage {
        case .int64(let value): value != 0
        case .double(let value): value != 0
        default: nil
        }
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        sqlite3_bind_int64(sqliteStatement, index, self ? 1 : 0)
    }

    @inlinable
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        // As a double, so that 0.5 is true.
        self = sqlite3_column_double(sqliteStatement, index) != 0
    }
}

// MARK: - Floating point

extension Double: DatabaseValueConvertible, StatementColumnConvertible {
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .double(self)) }

    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Double? {
        switch dbValue.storage {
        case .int64(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        sqlite3_bind_double(sqliteStatement, index, self)
    }

    @inlinable
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self = sqlite3_column_double(sqliteStatement, index)
    }
}

extension Float: DatabaseValueConvertible, StatementColumnConvertible {
    public var databaseValue: DatabaseValue { Double(self).databaseValue }

    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Float? {
        Double.fromDatabaseValue(dbValue).map { Float($0) }
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        sqlite3_bind_double(sqliteStatement, index, Double(self))
    }

    @inlinable
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self = Float(sqlite3_column_double(sqliteStatement, index))
    }
}

// MARK: - String

extension String: DatabaseValueConvertible, StatementColumnConvertible {
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .string(self)) }

    /// Text, or the UTF-8 in a blob; numbers are not turned into text.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> String? {
        switch dbValue.storage {
        case .string(let value): value
        case .blob(let value): String(data: value, encoding: .utf8)
        default: nil
        }
    }

    /// Binds every byte, NUL characters included.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        var text = self
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                // An empty buffer may have no address, and a NULL address would bind NULL.
                guard let start = $0.baseAddress else { return strongroom_bind_text(sqliteStatement, index, "", 0) }
                return strongroom_bind_text(sqliteStatement, index, start, Int64($0.count))
            }
        }
    }

    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        // Text first, size second: the other order may convert twice (https://www.sqlite.org/c3ref/column_blob.html).
        let text = sqlite3_column_text(sqliteStatement, index)
        self.init(sqliteText: text, length: sqlite3_column_bytes(sqliteStatement, index))
    }

    /// SQLite's text, whole even where it contains NUL; invalid UTF-8 is repaired with U+FFFD.
    init(sqliteText: UnsafePointer<UInt8>?, length: CInt) {
        self.init(decoding: UnsafeBufferPointer(start: sqliteText, count: Int(length)), as: UTF8.self)
    }

    /// The string as an SQL identifier, in double quotes.
    public var quotedDatabaseIdentifier: String {
        "\"" + replacing("\"", with: "\"\"") + "\""
    }

    private func replacing(_ target: String, with replacement: String) -> String {
        replacingOccurrences(of: target, with: replacement)
    }
}

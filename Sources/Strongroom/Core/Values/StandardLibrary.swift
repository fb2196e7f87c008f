import Foundation

// Integers, floats, booleans and strings. Reading from a column follows SQLite's own conversions
// (https://www.sqlite.org/c3ref/column_blob.html); reading from a database value is stricter. Neither ever wraps.

// MARK: - Integers

extension Int64: DatabaseValueConvertible, StatementColumnConvertible {
    @inlinable public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(self)) }

    public var _isPlainValue: Bool { true }

    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Int64? {
        switch dbValue.storage {
        case .int64(let value): value
        case .double(let value): Int64(truncatingInRange: value)
        default: nil
        }
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementParameter(sqliteStatement, index).bind(self)
    }

    @inlinable
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self = StatementColumn(sqliteStatement, index).int64
    }

    /// Most integers are neither zero, which a NULL reads as, nor the least or greatest, which larger numbers read as:
    /// only these need the second call that tells.
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Int64? {
        let column = StatementColumn(sqliteStatement, index)
        let value = column.int64
        if value == 0 { return column.isNull ? nil : 0 }
        if value == .max || value == .min { return inRange(column, value) }
        return value
    }

    /// Returns the integer; nil when SQLite moved the value into the range of integers.
    @usableFromInline
    static func inRange(_ column: StatementColumn, _ value: Int64) -> Int64? {
        switch column.kind {
        case .integer: value
        case .double: Int64(truncatingInRange: column.double)
        case .text, .blob: Int64(column.withText { String(decoding: $0, as: UTF8.self) })
        case .null: nil
        }
    }

    /// The double without its fraction; nil when it is not a number or out of range.
    init?(truncatingInRange value: Double) {
        guard value >= -0x1p63, value < 0x1p63 else { return nil }
        self.init(value)
    }
}

// All other integers go through Int64, and must fit on both ways. (The constraint on Codable only ranks these
// functions above those of Codable values, which integers are, too.)

extension DatabaseValueConvertible where Self: FixedWidthInteger & Codable {
    /// - Precondition: at most `Int64.max`, SQLite's largest integer.
    @inlinable public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(sqliteInteger)) }

    public var _isPlainValue: Bool { self <= Int64.max }

    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        Int64.fromDatabaseValue(dbValue).flatMap { Self(exactly: $0) }
    }

    /// - Precondition: at most `Int64.max`, SQLite's largest integer.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementParameter(sqliteStatement, index).bind(sqliteInteger)
    }

    @inlinable
    var sqliteInteger: Int64 {
        guard let value = Int64(exactly: self) else {
            fatalError(
                "\(Self.self) \(self) does not fit in SQLite's 64-bit signed integers: store it as text or as data.")
        }
        return value
    }
}

extension StatementColumnConvertible where Self: FixedWidthInteger {
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self? {
        guard let value = Int64.fromStatement(sqliteStatement, atUncheckedIndex: index) else { return nil }
        return Self(exactly: value)
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = Self.fromStatement(sqliteStatement, atUncheckedIndex: index) else { return nil }
        self = value
    }
}

extension Int: DatabaseValueConvertible, StatementColumnConvertible {}
extension Int8: DatabaseValueConvertible, StatementColumnConvertible {}
extension Int16: DatabaseValueConvertible, StatementColumnConvertible {}
extension Int32: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt8: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt16: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt32: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt64: DatabaseValueConvertible, StatementColumnConvertible {}

// MARK: - Bool

extension Bool: DatabaseValueConvertible, StatementColumnConvertible {
    @inlinable public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(self ? 1 : 0)) }

    public var _isPlainValue: Bool { true }

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
        StatementParameter(sqliteStatement, index).bind(self ? 1 as Int64 : 0)
    }

    @inlinable
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        // As a double, so that 0.5 is true.
        self = StatementColumn(sqliteStatement, index).double != 0
    }
}

// MARK: - Floating point

extension Double: DatabaseValueConvertible, StatementColumnConvertible {
    /// Infinities and the negative zero are stored as they are. SQLite has no NaN: it stores NULL instead.
    @inlinable public var databaseValue: DatabaseValue { isNaN ? .null : DatabaseValue(storage: .double(self)) }

    public var _isPlainValue: Bool { true }

    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Double? {
        switch dbValue.storage {
        case .int64(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementParameter(sqliteStatement, index).bind(self)
    }

    @inlinable
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self = StatementColumn(sqliteStatement, index).double
    }
}

extension Float: DatabaseValueConvertible, StatementColumnConvertible {
    @inlinable public var databaseValue: DatabaseValue { Double(self).databaseValue }

    public var _isPlainValue: Bool { true }

    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Float? {
        Double.fromDatabaseValue(dbValue).map { Float($0) }
    }

    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementParameter(sqliteStatement, index).bind(Double(self))
    }

    @inlinable
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self = Float(StatementColumn(sqliteStatement, index).double)
    }
}

// MARK: - String

extension String: DatabaseValueConvertible, StatementColumnConvertible {
    @inlinable public var databaseValue: DatabaseValue { DatabaseValue(storage: .string(self)) }

    public var _isPlainValue: Bool { !isLarge }

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
        return text.withUTF8 { StatementParameter(sqliteStatement, index).bind(text: $0) }
    }

    /// The text, whole even where it contains NUL; invalid UTF-8 is repaired with U+FFFD.
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self = StatementColumn(sqliteStatement, index).withText { String(decoding: $0, as: UTF8.self) }
    }

    /// SQLite's text, whole even where it contains NUL; invalid UTF-8 is repaired with U+FFFD.
    init(sqliteText: UnsafePointer<UInt8>?, length: CInt) {
        self.init(decoding: UnsafeBufferPointer(start: sqliteText, count: Int(length)), as: UTF8.self)
    }

    /// The string as an SQL identifier, in double quotes.
    public var quotedDatabaseIdentifier: String {
        "\"" + replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }
}

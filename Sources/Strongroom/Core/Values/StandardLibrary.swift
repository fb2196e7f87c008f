import Foundation

// Integers, floats, booleans and strings. Columns are read with SQLite's own conversions
// (https://www.sqlite.org/c3ref/column_blob.html). Database values are read more strictly. No conversion ever wraps
// around.

// MARK: - Integers

extension Int64: DatabaseValueConvertible, StatementColumnConvertible {
    /// The integer.
    @inlinable public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(self)) }

    /// True if an argument list can hold the value itself.
    public var _isPlainValue: Bool { true }

    /// Returns the value of a database value. Nil if it can't be converted.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Int64? {
        switch dbValue.storage {
        case .int64(let value): value
        case .double(let value): Int64(truncatingInRange: value)
        default: nil
        }
    }

    /// Binds the value to a parameter. Returns SQLite's result code.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementParameter(sqliteStatement, index).bind(self)
    }

    /// Creates the value of a column in the statement's current row.
    @inlinable
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self = StatementColumn(sqliteStatement, index).int64
    }

    /// Returns the integer. SQLite reads NULL as zero, and larger numbers as the least or greatest integer: only these
    /// values need a second call.
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Int64? {
        let column = StatementColumn(sqliteStatement, index)
        let value = column.int64
        if value == 0 { return column.isNull ? nil : 0 }
        if value == .max || value == .min { return inRange(column, value) }
        return value
    }

    /// Returns the integer. Nil if SQLite has clamped the value.
    @usableFromInline
    static func inRange(_ column: StatementColumn, _ value: Int64) -> Int64? {
        let kind = column.kind
        return switch kind {
        case .integer: value
        case .double: Int64(truncatingInRange: column.double)
        case .text, .blob: Int64(column.withText(kind) { String(decoding: $0, as: UTF8.self) })
        case .null: nil
        }
    }

    /// Creates an integer from a double without its fraction. Nil if it is not a number or out of range.
    init?(truncatingInRange value: Double) {
        guard value >= -0x1p63, value < 0x1p63 else { return nil }
        self.init(value)
    }
}

// All other integers are converted from and to Int64, and have to fit. (The constraint on Codable only ranks these
// functions above those of Codable values, which integers are, too.)

extension DatabaseValueConvertible where Self: FixedWidthInteger & Codable {
    /// The integer.
    ///
    /// - precondition: it is at most `Int64.max`, SQLite's largest integer.
    @inlinable public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(sqliteInteger)) }

    /// True if an argument list can hold the value itself.
    public var _isPlainValue: Bool { self <= Int64.max }

    /// Returns the value of a database value. Nil if it can't be converted.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        Int64.fromDatabaseValue(dbValue).flatMap { Self(exactly: $0) }
    }

    /// Binds the integer.
    ///
    /// - precondition: it is at most `Int64.max`, SQLite's largest integer.
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
    /// Returns the value of a column in the statement's current row. Nil if it is NULL or can't be converted.
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self? {
        guard let value = Int64.fromStatement(sqliteStatement, atUncheckedIndex: index) else { return nil }
        return Self(exactly: value)
    }

    /// Creates the value of a column in the statement's current row. Nil if it can't be converted.
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
    /// 1 for true, 0 for false.
    @inlinable public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(self ? 1 : 0)) }

    /// True if an argument list can hold the value itself.
    public var _isPlainValue: Bool { true }

    /// Returns true for numbers other than zero, as SQLite does. Nil for text and blobs.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Bool? {
        switch dbValue.storage {
        case .int64(let value): value != 0
        case .double(let value): value != 0
        default: nil
        }
    }

    /// Binds the value to a parameter. Returns SQLite's result code.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementParameter(sqliteStatement, index).bind(self ? 1 as Int64 : 0)
    }

    /// Creates the value of a column in the statement's current row.
    @inlinable
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        // Read as a double, so that 0.5 is true.
        self = StatementColumn(sqliteStatement, index).double != 0
    }
}

// MARK: - Floating point

extension Double: DatabaseValueConvertible, StatementColumnConvertible {
    /// The double. Infinities and the negative zero are stored as they are. NaN is stored as NULL, because SQLite has
    /// no NaN.
    @inlinable public var databaseValue: DatabaseValue { isNaN ? .null : DatabaseValue(storage: .double(self)) }

    /// True if an argument list can hold the value itself.
    public var _isPlainValue: Bool { true }

    /// Returns the value of a database value. Nil if it can't be converted.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Double? {
        switch dbValue.storage {
        case .int64(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// Binds the value to a parameter. Returns SQLite's result code.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementParameter(sqliteStatement, index).bind(self)
    }

    /// Creates the value of a column in the statement's current row.
    @inlinable
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self = StatementColumn(sqliteStatement, index).double
    }
}

extension Float: DatabaseValueConvertible, StatementColumnConvertible {
    /// The number as a double.
    @inlinable public var databaseValue: DatabaseValue { Double(self).databaseValue }

    /// True if an argument list can hold the value itself.
    public var _isPlainValue: Bool { true }

    /// Returns the value of a database value. Nil if it can't be converted.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Float? {
        Double.fromDatabaseValue(dbValue).map { Float($0) }
    }

    /// Binds the value to a parameter. Returns SQLite's result code.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementParameter(sqliteStatement, index).bind(Double(self))
    }

    /// Creates the value of a column in the statement's current row.
    @inlinable
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self = Float(StatementColumn(sqliteStatement, index).double)
    }
}

// MARK: - String

extension String: DatabaseValueConvertible, StatementColumnConvertible {
    /// The string as text.
    @inlinable public var databaseValue: DatabaseValue { DatabaseValue(storage: .string(self)) }

    /// True if an argument list can hold the value itself.
    public var _isPlainValue: Bool { !isLarge }

    /// Returns a text, or the UTF-8 in a blob. Numbers are not converted to text.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> String? {
        switch dbValue.storage {
        case .string(let value): value
        case .blob(let value): String(data: value, encoding: .utf8)
        default: nil
        }
    }

    /// Binds every byte, including NUL.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        var text = self
        return text.withUTF8 { StatementParameter(sqliteStatement, index).bind(text: $0) }
    }

    /// Returns the whole text, including NUL. Nil if the column is NULL. Invalid UTF-8 is replaced by U+FFFD.
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> String? {
        let column = StatementColumn(sqliteStatement, index), kind = column.kind
        return kind == .null ? nil : column.withText(kind) { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads the whole text, including NUL. Invalid UTF-8 is replaced by U+FFFD.
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = StatementColumn(sqliteStatement, index)
        self = column.withText(column.kind) { String(decoding: $0, as: UTF8.self) }
    }
}

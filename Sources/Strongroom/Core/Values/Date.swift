import Foundation

// Dates are stored as "YYYY-MM-DD HH:MM:SS.SSS" in UTC: they are in order, can be compared with CURRENT_TIMESTAMP, and
// SQLite's date functions accept them.

extension Date: DatabaseValueConvertible, StatementColumnConvertible {
    /// The date as `YYYY-MM-DD HH:MM:SS.SSS` in UTC, to the nearest millisecond.
    ///
    /// Dates outside of the years 0000 to 9999 have no such text. They are stored as the seconds since 1970, which can
    /// be read back, but sort before all texts. A date that is not a number is NULL.
    public var databaseValue: DatabaseValue {
        if let fields = DateFields(self) {
            return fields.withText { DatabaseValue(storage: .string(String(decoding: $0, as: UTF8.self))) }
        }
        return timeIntervalSince1970.isNaN ? .null : timeIntervalSince1970.databaseValue
    }

    /// True if an argument list can hold the value itself.
    public var _isPlainValue: Bool { true }

    /// Returns the date of a text in a format of SQLite's date functions, in UTC unless it has a time zone, or of a
    /// number, in seconds since 1970.
    ///
    /// Text without a date, `now` and Julian days are not dates: see ``DatabaseDateComponents`` and `Date(julianDay:)`.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Date? {
        switch dbValue.storage {
        case .int64(let seconds): Date(timeIntervalSince1970: Double(seconds))
        case .double(let seconds): Date(timeIntervalSince1970: seconds)
        case .string(var text): text.withUTF8 { Date(sqliteText: $0) }
        case .blob(let bytes): bytes.withUnsafeBytes { $0.withMemoryRebound(to: UInt8.self) { Date(sqliteText: $0) } }
        case .null: nil
        }
    }

    /// Binds the value to a parameter. Returns SQLite's result code.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        let parameter = StatementParameter(sqliteStatement, index)
        guard let fields = DateFields(self) else { return parameter.bind(timeIntervalSince1970) }
        return fields.withText { parameter.bind(text: $0) }
    }

    /// Returns the value of a column in the statement's current row. Nil if it is NULL or can't be converted.
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Date? {
        Date(sqliteStatement: sqliteStatement, index: index)
    }

    /// Creates the value of a column in the statement's current row. Nil if it can't be converted.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = StatementColumn(sqliteStatement, index), kind = column.kind
        switch kind {
        case .integer, .double:
            self.init(timeIntervalSince1970: column.double)
        case .text, .blob:
            guard let date = column.withText(kind, { Date(sqliteText: $0) }) else { return nil }
            self = date
        case .null:
            return nil
        }
    }

    private init?(sqliteText: UnsafeBufferPointer<UInt8>) {
        guard let (fields, format) = DateFields.parse(sqliteText), format.hasDate, let date = fields.date
        else { return nil }
        self = date
    }

    /// Creates the date of a Julian day, to the nearest millisecond, in SQLite's range: from 24 November 4714 BC to the
    /// end of the year 9999. Nil for other days.
    ///
    /// Source: <https://www.sqlite.org/lang_datefunc.html#jday>.
    public init?(julianDay: Double) {
        guard julianDay >= 0, julianDay < 5_373_484.5 else { return nil }
        // In milliseconds, as in SQLite: a double has few digits for the fraction of a Julian day.
        let milliseconds = (julianDay * 86_400_000).rounded() - 210_866_760_000_000
        self.init(timeIntervalSince1970: milliseconds / 1000)
    }
}

import Foundation

extension Decimal: DatabaseValueConvertible, StatementColumnConvertible {
    /// The decimal as text with all its digits and a point, regardless of the locale: a double would lose digits.
    ///
    /// SQLite compares text by its characters, so `ORDER BY` and sums need `CAST(… AS REAL)`.
    public var databaseValue: DatabaseValue { description.databaseValue }

    /// Returns the decimal of a text such as `"-12.50"` or `"1e3"`, or of a finite number.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Decimal? {
        switch dbValue.storage {
        case .int64(let value): Decimal(value)
        case .double(let value): Decimal(sqliteDouble: value)
        case .string(let text): Decimal(sqliteText: text)
        default: nil
        }
    }

    /// Creates the value of a column in the statement's current row. Nil if it can't be converted.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = StatementColumn(sqliteStatement, index)
        switch column.kind {
        case .integer:
            self.init(column.int64)
        case .double:
            self.init(sqliteDouble: column.double)
        case .text:
            self.init(sqliteText: column.withText(.text) { String(decoding: $0, as: UTF8.self) })
        case .null, .blob:
            return nil
        }
    }

    /// Creates a decimal from a number. Nil if it is out of range.
    private init?(sqliteDouble value: Double) {
        guard value.isFinite else { return nil }
        self.init(value)
        if isNaN { return nil }
    }

    /// Creates a decimal from a text. Nil unless the whole text is a number: Foundation reads `"1.5 apples"` as 1.5.
    private init?(sqliteText text: String) {
        if text == "NaN" {
            self = .nan
            return
        }
        guard Self.isNumber(text) else { return nil }
        self.init(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }

    /// Returns true if the text is a number such as `-1`, `+.5`, `1.` or `1.5e-3`.
    private static func isNumber(_ text: String) -> Bool {
        var rest = text.utf8[...]
        skipSign(&rest)
        let whole = skipDigits(&rest)
        var fraction = 0
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            fraction = skipDigits(&rest)
        }
        guard whole + fraction > 0 else { return false }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            skipSign(&rest)
            guard skipDigits(&rest) > 0 else { return false }
        }
        return rest.isEmpty
    }

    private static func skipSign(_ text: inout Substring.UTF8View) {
        if text.first == UInt8(ascii: "-") || text.first == UInt8(ascii: "+") { text.removeFirst() }
    }

    private static func skipDigits(_ text: inout Substring.UTF8View) -> Int {
        let count = text.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }.count
        text.removeFirst(count)
        return count
    }
}

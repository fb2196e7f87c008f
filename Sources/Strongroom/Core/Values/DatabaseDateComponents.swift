import Foundation

/// Date components and the format in which they are stored.
///
/// ```swift
/// let birthday = DateComponents(year: 1815, month: 12, day: 10)
/// try db.execute(
///     sql: "UPDATE player SET birthday = ?",
///     arguments: [DatabaseDateComponents(birthday, format: .YMD)])
/// ```
///
/// Source: <https://www.sqlite.org/lang_datefunc.html#time_values>.
public struct DatabaseDateComponents: Sendable {
    /// The formats of SQLite's date functions.
    public enum Format: String, Sendable {
        /// `YYYY-MM-DD`
        case YMD = "yyyy-MM-dd"

        /// `YYYY-MM-DD HH:MM`
        case YMD_HM = "yyyy-MM-dd HH:mm"

        /// `YYYY-MM-DD HH:MM:SS`
        case YMD_HMS = "yyyy-MM-dd HH:mm:ss"

        /// `YYYY-MM-DD HH:MM:SS.SSS`
        case YMD_HMSS = "yyyy-MM-dd HH:mm:ss.SSS"

        /// `HH:MM`
        case HM = "HH:mm"

        /// `HH:MM:SS`
        case HMS = "HH:mm:ss"

        /// `HH:MM:SS.SSS`
        case HMSS = "HH:mm:ss.SSS"

        var hasDate: Bool {
            switch self {
            case .YMD, .YMD_HM, .YMD_HMS, .YMD_HMSS: true
            case .HM, .HMS, .HMSS: false
            }
        }

        var hasTime: Bool { self != .YMD }

        var hasSeconds: Bool {
            switch self {
            case .YMD_HMS, .YMD_HMSS, .HMS, .HMSS: true
            case .YMD, .YMD_HM, .HM: false
            }
        }

        var hasFraction: Bool { self == .YMD_HMSS || self == .HMSS }
    }

    /// The components. They are not validated: 25:00 is stored as it is.
    public let dateComponents: DateComponents

    /// The format in which the components are stored.
    public let format: Format

    /// Creates a value.
    ///
    /// - parameters:
    ///   - dateComponents: the components. Missing years are stored as 0000, missing months and days as 01, and other
    ///     missing components as zero. The time zone is not stored.
    ///   - format: the components that are stored.
    public init(_ dateComponents: DateComponents, format: Format) {
        self.dateComponents = dateComponents
        self.format = format
    }

    private init?(sqliteText: UnsafeBufferPointer<UInt8>) {
        guard let (fields, format) = DateFields.parse(sqliteText) else { return nil }
        var components = DateComponents()
        if format.hasDate {
            components.year = fields.year
            components.month = fields.month
            components.day = fields.day
        }
        if format.hasTime {
            components.hour = fields.hour
            components.minute = fields.minute
        }
        if format.hasSeconds { components.second = fields.second }
        if format.hasFraction { components.nanosecond = fields.nanosecond }
        components.timeZone = fields.offset.flatMap { TimeZone(secondsFromGMT: $0) }
        self.init(components, format: format)
    }

    private var text: String {
        var text = ""
        if format.hasDate {
            let (year, month, day) = (dateComponents.year ?? 0, dateComponents.month ?? 1, dateComponents.day ?? 1)
            text += "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(day, 2))"
        }
        if format.hasDate, format.hasTime { text += " " }
        if format.hasTime {
            text += "\(Self.digits(dateComponents.hour ?? 0, 2)):\(Self.digits(dateComponents.minute ?? 0, 2))"
        }
        if format.hasSeconds { text += ":\(Self.digits(dateComponents.second ?? 0, 2))" }
        if format.hasFraction {
            // Rounded, but never up to the next second.
            let milliseconds = min((Double(dateComponents.nanosecond ?? 0) / 1e6).rounded(), 999)
            text += ".\(Self.digits(Int(milliseconds), 3))"
        }
        return text
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let digits = String(number.magnitude)
        let sign = number < 0 ? "-" : ""
        return sign + String(repeating: "0", count: max(0, count - digits.utf8.count - sign.utf8.count)) + digits
    }
}

extension DatabaseDateComponents: DatabaseValueConvertible, StatementColumnConvertible {
    /// The value as a database value.
    public var databaseValue: DatabaseValue { text.databaseValue }

    /// Returns the components of a text in a format of SQLite's date functions, except `now` and Julian days.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> DatabaseDateComponents? {
        guard var text = String.fromDatabaseValue(dbValue) else { return nil }
        return text.withUTF8 { DatabaseDateComponents(sqliteText: $0) }
    }

    /// Creates the value of a column in the statement's current row. Nil if it can't be converted.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = StatementColumn(sqliteStatement, index), kind = column.kind
        guard kind == .text || kind == .blob,
            let components = column.withText(kind, { DatabaseDateComponents(sqliteText: $0) })
        else { return nil }
        self = components
    }
}

extension DatabaseDateComponents: Codable {
    /// Decodes the text that represents the components in a database.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        var text = try container.decode(String.self)
        guard let components = text.withUTF8({ DatabaseDateComponents(sqliteText: $0) }) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\(text.debugDescription) is not a date or a time as SQLite writes them")
        }
        self = components
    }

    /// Encodes the text that represents the components in a database.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

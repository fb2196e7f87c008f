import Foundation

/// The numbers of a date, of a time of day, or of both, in the formats of SQLite's date functions.
///
/// Days are those of the Gregorian calendar, also before its introduction in 1582, as in SQLite. Foundation's calendars
/// are Julian before.
///
/// Source: <https://www.sqlite.org/lang_datefunc.html#time_values>.
struct DateFields {
    var year = 0
    var month = 1
    var day = 1
    var hour = 0
    var minute = 0
    var second = 0
    var nanosecond = 0

    /// The seconds east of UTC. Nil if the text has no time zone.
    var offset: Int?
}

// MARK: - Conversion

extension DateFields {
    /// The years with four digits, 0000 to 9999, in milliseconds since Foundation's reference date.
    private static let writable = -63_145_526_400_000.0..<252_423_993_600_000.0

    /// Creates the fields of a date in UTC, to the nearest millisecond. Nil if its year does not have four digits.
    init?(_ date: Date) {
        let interval = date.timeIntervalSinceReferenceDate
        let wholeSeconds = interval.rounded(.down)
        let total = wholeSeconds * 1000 + ((interval - wholeSeconds) * 1000).rounded()
        guard Self.writable.contains(total) else { return nil }
        let (days, milliseconds) = Self.divide(Int(total), by: 86_400_000)
        (year, month, day) = Self.date(fromDays: days + Self.referenceDay)
        hour = milliseconds / 3_600_000
        minute = milliseconds / 60_000 % 60
        second = milliseconds / 1000 % 60
        nanosecond = milliseconds % 1000 * 1_000_000
    }

    /// The date, in UTC unless the text has an offset. Nil if a field is out of SQLite's range.
    ///
    /// Days beyond the end of a month are in the next month: 30 February is 1 or 2 March, as in SQLite.
    var date: Date? {
        guard 1...12 ~= month, 1...31 ~= day, 0...24 ~= hour, 0...59 ~= minute, 0...60 ~= second else { return nil }
        let days = Self.days(year: year, month: month, day: day) - Self.referenceDay
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - (offset ?? 0)
        return Date(timeIntervalSinceReferenceDate: Double(seconds) + Double(nanosecond) / 1e9)
    }
}

// MARK: - Days

// Years begin in March, so that leap days come last: the months have the same lengths in every year.

extension DateFields {
    /// 2001-01-01 in days since 1970-01-01.
    private static let referenceDay = 11_323

    /// Days since 1970-01-01.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let leapDays = divide(year, by: 4).quotient - divide(year, by: 100).quotient + divide(year, by: 400).quotient
        return 365 * year + leapDays + dayOfYear - 719_468
    }

    private static func date(fromDays days: Int) -> (year: Int, month: Int, day: Int) {
        // Each 400 years have the same number of days. With a leap day at the end of each century, all have the same
        // years.
        let (era, dayOfEra) = divide(days + 719_468, by: 146_097)
        let evened = dayOfEra + min(dayOfEra / 36_524, 3)
        let yearOfEra = (4 * evened + 3) / 1461
        let dayOfYear = evened - 365 * yearOfEra - yearOfEra / 4
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let year = era * 400 + yearOfEra
        return month < 10 ? (year, month + 3, day) : (year + 1, month - 9, day)
    }

    /// Divides and rounds down, for years and days before the epoch.
    private static func divide(_ dividend: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

import Foundation

/// A rule for the backups to keep: the newest ones, and the newest one of each of the last hours, days, weeks, months
/// and years that have a backup.
///
/// The rule is that of restic. As text it is a list of parts such as `3,7d,4w,12m,5y`: the 3 newest backups, and one
/// for each of 7 days, 4 weeks, 12 months and 5 years. `h` stands for hours. A backup that several parts keep counts
/// for each of them. All periods are those of UTC, and weeks begin on Monday. Periods without a backup do not count. A
/// part that finds fewer backups than its number also keeps the oldest backup.
///
/// Source: <https://restic.readthedocs.io/en/stable/060_forget.html>.
public struct BackupRetention: Sendable, Equatable, LosslessStringConvertible {
    /// A part of a rule.
    public enum Period: String, Sendable, CaseIterable {
        /// The newest backups, however old they are.
        case newest
        /// The newest backup of each hour.
        case hourly
        /// The newest backup of each day.
        case daily
        /// The newest backup of each week.
        case weekly
        /// The newest backup of each month.
        case monthly
        /// The newest backup of each year.
        case yearly

        /// The letter after the number. Empty for the newest ones.
        fileprivate var letter: String { self == .newest ? "" : String(rawValue.first!) }

        /// Returns a number that two times share if they are in the same period.
        fileprivate func place(of date: Date, _ index: Int) -> [Int] {
            let components: Set<Calendar.Component> =
                switch self {
                case .newest: []
                case .hourly: [.year, .month, .day, .hour]
                case .daily: [.year, .month, .day]
                case .weekly: [.yearForWeekOfYear, .weekOfYear]
                case .monthly: [.year, .month]
                case .yearly: [.year]
                }
            if self == .newest { return [index] }
            let parts = BackupRetention.calendar.dateComponents(components, from: date)
            return [parts.year, parts.yearForWeekOfYear, parts.month, parts.weekOfYear, parts.day, parts.hour]
                .compactMap {
                    $0
                }
        }
    }

    /// The number of backups that each part keeps. Parts that keep none are left out.
    public let counts: [Period: Int]

    private static let calendar: Calendar = {
        // The weeks of ISO 8601.
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = TimeZone(secondsFromGMT: 0)!
        return calendar
    }()

    /// Creates a rule. Nil if it keeps nothing, and if a number is negative or greater than 999,999.
    public init?(counts: [Period: Int]) {
        self.counts = counts.filter { $0.value > 0 }
        guard !self.counts.isEmpty, counts.values.allSatisfy({ (0..<1_000_000).contains($0) }) else { return nil }
    }

    /// Creates a rule from a text such as `3,7d,4w,12m,5y`. Nil for any other text, if a part occurs twice, and for
    /// numbers that ``init(counts:)`` refuses.
    public init?(_ text: String) {
        var counts: [Period: Int] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = part.prefix { $0.isASCII && $0.isNumber }
            guard let period = Period.allCases.first(where: { $0.letter == part.dropFirst(digits.count) }),
                let count = Int(digits), counts.updateValue(count, forKey: period) == nil
            else { return nil }
        }
        self.init(counts: counts)
    }

    /// The rule as text.
    public var description: String {
        Period.allCases.compactMap { period in counts[period].map { "\($0)\(period.letter)" } }.joined(separator: ",")
    }

    /// Returns, for each date in the given order, the parts of the rule that keep it. A backup whose date has no part
    /// is not kept.
    public func periods(keeping dates: [Date]) -> [Set<Period>] {
        let newestFirst = dates.indices.sorted { (dates[$0], $1) > (dates[$1], $0) }
        var kept = [Set<Period>](repeating: [], count: dates.count)
        for (period, count) in counts {
            var left = count, latest: [Int]?
            for (number, index) in newestFirst.enumerated() where left > 0 {
                let place = period.place(of: dates[index], number)
                guard place != latest || number == newestFirst.count - 1 else { continue }
                (latest, left) = (place, left - 1)
                kept[index].insert(period)
            }
        }
        return kept
    }
}

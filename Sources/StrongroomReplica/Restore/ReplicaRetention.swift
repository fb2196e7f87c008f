/// The restore points that ``DatabaseReplica/prune(_:keeping:isDryRun:reading:)`` keeps: the newest point of each of
/// the last hours, days, weeks, months and years that have one, and the newest point of all.
///
/// Days begin at midnight UTC, weeks on Monday. Points that are dated in the future stay, and are not counted.
public struct ReplicaRetention: Hashable, Sendable {
    /// A length of time, of which one point is kept.
    public enum Period: Character, CaseIterable, Sendable {
        /// An hour.
        case hour = "h"
        /// A day.
        case day = "d"
        /// A week, from Monday.
        case week = "w"
        /// A month.
        case month = "m"
        /// A year.
        case year = "y"
    }

    /// The number of periods of each length, of those that have a point. Default: none.
    public var counts: [Period: Int]
    /// The time before now, in milliseconds, of which all restore points are kept, and the newest one before it.
    /// Default: 0, for none.
    public var within: Int64

    /// Creates a retention.
    public init(_ counts: [Period: Int] = [:], within: Int64 = 0) {
        self.counts = counts
        self.within = within
    }

    /// Creates a retention from a text such as `7d,4w,12m`. Returns `nil` for any other text, for a number of 0, and if
    /// a letter occurs twice.
    public init?(_ text: String) {
        self.init()
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let unit = word.last.flatMap(Period.init), counts[unit] == nil, let count = Int(word.dropLast()),
                count > 0
            else { return nil }
            counts[unit] = count
        }
    }

    /// Returns the points to keep, of those in any order. Points that are dated in the future stay, and don't count: a
    /// clock was wrong.
    func kept(_ points: [PointName], now: Int64) -> Set<PointName> {
        let newestFirst = points.filter { $0.time <= now }.sorted { ($0.time, $0.position) > ($1.time, $1.position) }
        var kept = Set(points.filter { $0.time > now }).union(newestFirst.prefix(1))
        if within > 0 { kept.formUnion(newestFirst.filter { $0.time >= now - within }) }
        // The state at the beginning of that time is that of the point before it.
        if within > 0, let first = newestFirst.first(where: { $0.time < now - within }) { kept.insert(first) }
        for (period, count) in counts {
            var seen: Set<Int64> = []
            for point in newestFirst where seen.insert(period.number(of: point.time)).inserted {
                guard seen.count <= count else { break }
                kept.insert(point)
            }
        }
        return kept
    }
}

extension ReplicaRetention.Period {
    /// Returns the number of the period that contains a time. Numbers ascend.
    func number(of milliseconds: Int64) -> Int64 {
        let hours = milliseconds / 3_600_000, days = hours / 24
        switch self {
        case .hour: return hours
        case .day: return days
        // 1970 began with a Thursday.
        case .week: return (days + 3) / 7
        case .month, .year:
            var clock = time_t(milliseconds / 1000), parts = tm()
            gmtime_r(&clock, &parts)
            return self == .year ? Int64(parts.tm_year) : Int64(parts.tm_year) * 12 + Int64(parts.tm_mon)
        }
    }
}

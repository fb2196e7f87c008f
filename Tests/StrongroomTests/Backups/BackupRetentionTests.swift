import Foundation
import Testing

@testable import Strongroom

@Suite("A rule for keeping backups")
struct BackupRetentionTests {
    private func dates(_ texts: [String]) throws -> [Date] {
        try texts.map { try Date($0 + (($0.count == 10) ? "T12:00:00Z" : "Z"), strategy: .iso8601) }
    }

    private func kept(_ rule: String, _ texts: [String]) throws -> [String] {
        let retention = try #require(BackupRetention(rule))
        return try zip(texts, retention.periods(keeping: dates(texts))).filter { !$1.isEmpty }.map(\.0)
    }

    @Test("is a list of numbers with letters", arguments: ["3", "24h", "3,24h,7d,4w,12m,5y"])
    func text(rule: String) {
        #expect(BackupRetention(rule)?.description == rule)
    }

    @Test(
        "is no other text, and never one that keeps nothing",
        arguments: ["", "0", "0d", "d", "7", "7d,7d", "7d,", "-1d", "7 d", "7x", "1000000d", "1.5d", "７d"])
    func otherTexts(rule: String) {
        #expect((BackupRetention(rule) == nil) == (rule != "7"))
    }

    @Test("keeps the newest backup of each of the last days with one, as restic does")
    func daily() throws {
        let all = [
            "2026-03-01T08:00:00", "2026-03-01T20:00:00", "2026-03-03T08:00:00", "2026-03-09T08:00:00",
            "2026-03-09T09:00:00", "2026-03-10T08:00:00",
        ]
        #expect(
            try kept("3d", all) == ["2026-03-03T08:00:00", "2026-03-09T09:00:00", "2026-03-10T08:00:00"])
    }

    @Test("keeps the oldest backup, too, while it has not found as many as it names")
    func oldest() throws {
        let all = ["2026-03-01T08:00:00", "2026-03-01T20:00:00"]
        #expect(try kept("2d", all) == all)
        #expect(try kept("1d", all) == ["2026-03-01T20:00:00"])
    }

    @Test("counts weeks from Monday to Sunday, across the end of a year")
    func weekly() throws {
        let all = ["2025-12-28", "2025-12-29", "2025-12-31", "2026-01-04", "2026-01-05"]
        #expect(try kept("2w", all) == ["2026-01-04", "2026-01-05"])
        #expect(try kept("3w", all) == ["2025-12-28", "2026-01-04", "2026-01-05"])
    }

    @Test("distinguishes the same month and hour of different years and days")
    func years() throws {
        #expect(try kept("2m", ["2024-03-10", "2025-03-10", "2026-03-10"]) == ["2025-03-10", "2026-03-10"])
        #expect(
            try kept("5y", ["2024-03-09", "2024-03-10", "2026-03-10"]) == ["2024-03-09", "2024-03-10", "2026-03-10"])
        #expect(
            try kept("1h", ["2026-03-09T08:00:00", "2026-03-10T08:00:00", "2026-03-10T08:59:59"])
                == ["2026-03-10T08:59:59"])
    }

    @Test("names the parts that keep a backup, whatever the order of the dates")
    func parts() throws {
        let retention = try #require(BackupRetention("1,2d,1m"))
        let all = try dates(["2026-03-10", "2026-02-01", "2026-03-09"])
        #expect(retention.periods(keeping: all) == [[.newest, .daily, .monthly], [], [.daily]])
        #expect(retention.periods(keeping: []) == [])
    }

    @Test("keeps of a daily backup for 400 days seven days, four weeks and twelve months")
    func year() throws {
        let start = try Date("2025-01-01T03:00:00Z", strategy: .iso8601)
        let retention = try #require(BackupRetention("7d,4w,12m"))
        var all: [Date] = []
        for day in 0..<400 {
            all.append(start.addingTimeInterval(Double(day) * 86_400))
            all = zip(all, retention.periods(keeping: all)).filter { !$1.isEmpty }.map(\.0)
        }
        #expect(all.last == start.addingTimeInterval(399 * 86_400))
        let kept = all.map { $0.formatted(.iso8601).prefix(10) }
        #expect(kept.suffix(7).first == "2026-01-29")
        #expect(Set(kept.map { $0.prefix(7) }).count == 12)
        #expect(kept.first == "2025-03-31")
        #expect((18...22).contains(all.count))
    }
}

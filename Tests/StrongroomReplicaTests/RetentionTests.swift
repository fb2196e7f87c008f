import Foundation
import Testing

@testable import StrongroomReplica

@Suite("The retention of restore points")
struct RetentionTests {
    /// Points every six hours, the last one at noon of 2026-03-15. Each tenth is full.
    private static func points(_ count: Int) throws -> [PointName] {
        let id = Lineage.ID(bytes: [UInt8](repeating: 1, count: 16)), noon: Int64 = 1_773_576_000_000
        return try (1...count).map { number in
            let folder = number % 10 == 1 ? "full" : "points", time = noon - Int64(count - number) * 21_600_000
            let name =
                "\(id)/\(folder)/\(ObjectNames.digits(UInt64(number))).\(time).1.\(String(repeating: "0", count: 32))"
            return try #require(PointName(name))
        }
    }

    private static func kept(_ retention: String, of points: [PointName]) throws -> [UInt64] {
        try #require(ReplicaRetention(retention)).kept(points, now: points.last!.time).map(\.position).sorted()
    }

    @Test("keeps the newest restore point of each of the last days, weeks and months")
    func periods() throws {
        let points = try Self.points(400)
        // A day ends with the point at 18:00, today with the one at noon.
        #expect(try Self.kept("3d", of: points) == [393, 397, 400])
        // 2026-03-15 is a Sunday.
        #expect(try Self.kept("2w", of: points) == [373, 400])
        #expect(try Self.kept("2m", of: points) == [341, 400])
        #expect(try Self.kept("3d,2w,2m", of: points) == [341, 373, 393, 397, 400])
    }

    @Test("counts only periods that have a restore point")
    func absent() throws {
        let points = try Self.points(400).filter { $0.position <= 10 || $0.position > 396 }
        #expect(try Self.kept("3d", of: points) == [10, 397, 400])
    }

    @Test("keeps each restore point of a time, and the one before it")
    func within() throws {
        let points = try Self.points(40)
        let kept = ReplicaRetention(within: 86_400_000).kept(points, now: points.last!.time)
        #expect(kept.map(\.position).sorted() == [35, 36, 37, 38, 39, 40])
    }

    @Test("always keeps the newest restore point")
    func newest() throws {
        let points = try Self.points(5)
        #expect(ReplicaRetention().kept(points, now: points.last!.time + 1 << 50).map(\.position) == [5])
    }

    @Test("keeps restore points that are dated in the future, and counts the others")
    func future() throws {
        let points = try Self.points(20), now = points[15].time
        let kept = try #require(ReplicaRetention("1h")).kept(points, now: now)
        #expect(kept.map(\.position).sorted() == [16, 17, 18, 19, 20])
    }

    @Test("is written with numbers and units", arguments: ["", "7", "d", "7x", "0d", "-1d", "7d,", "7d,7d", "7 d"])
    func invalid(text: String) {
        #expect(ReplicaRetention(text) == nil)
    }

    @Test("removes what no kept restore point needs, and the others restore as before")
    func removal() async throws {
        let (scratch, db) = try Scratch.withDatabase(rows: 100)
        for round in 0..<3 {
            // A full point, and three that follow it.
            let replica = try scratch.replica { $0.beginsWithFullPoint = round > 0 }
            try await replica.sync()
            for _ in 0..<3 {
                try db.insert(10)
                try await replica.sync()
            }
            try await replica.stop()
        }
        let points = try DatabaseReplica.histories(in: scratch.destination)[0].points
        let full = try scratch.objects("/full/").compactMap { PointName($0)?.position }
        #expect(full.count == 3)
        // All are of one hour.
        let archive = Archive(destination: try FolderDestination(scratch.destination), signer: nil)
        let removed = try Pruning(archive: archive).removePoints(
            notKeptBy: ReplicaRetention([.hour: 1]), now: points.last!.milliseconds, isDryRun: false)
        #expect(removed == Int(full[2]) - 1)
        #expect(try scratch.restoredRows() == ["190", "190"])
        let verification = try DatabaseReplica.verify(scratch.destination)
        #expect(verification.problems.isEmpty)
        #expect(verification.provedCount == points.count - removed)
        try await scratch.replica().stop()
        #expect(try DatabaseReplica.histories(in: scratch.destination).count == 1)
    }
}

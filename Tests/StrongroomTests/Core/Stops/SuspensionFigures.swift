import Foundation
import Testing

@testable import Strongroom

/// The size of the database whose long work is suspended; 0 for no database. See `scripts/campaign suspension`.
private let megabytes = ProcessInfo.processInfo.environment["STRONGROOM_SUSPENDED_MEGABYTES"].flatMap { Int($0) } ?? 0

@Suite("The duration of locks after a suspension", .serialized, .enabled(if: megabytes > 0), .timeLimit(.minutes(30)))
struct SuspensionFigures {
    /// The work to suspend. The first function goes before the work, and is not suspended.
    struct Work: Sendable, CustomTestStringConvertible {
        let name: String
        var prepare: @Sendable (DatabaseQueue) throws -> Void = { _ in }
        let run: @Sendable (DatabaseQueue) throws -> Void

        var testDescription: String { name }

        static func statement(_ sql: String) -> Work {
            Work(name: sql) { queue in try queue.writeWithoutTransaction { try $0.execute(sql: sql) } }
        }

        private static let update = "UPDATE wine SET name = hex(randomblob(450))"

        static let all = [
            statement("DELETE FROM wine"), statement("VACUUM"), statement(update),
            Work(name: "backup") { try SuspensionFigures.source.backup(to: $0) },
            Work(name: "rotation") { try $0.rotateKey(to: .passphrase("battery staple")) },
            Work(
                name: "checkpoint",
                prepare: { queue in
                    try queue.writeWithoutTransaction {
                        try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0; \(update)")
                    }
                }, run: { queue in try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }),
        ]
    }

    private static let template = try! LargeDatabase.template(rowCount: megabytes * 1000)
    private static let source = try! LargeDatabase(template, .encrypted()).queue

    @Test("at ten moments", arguments: Work.all, ["wal", "delete"])
    func figures(work: Work, mode: String) throws {
        guard work.name != "checkpoint" || mode == "wal" else { return }
        let whole = try run(work, mode, suspendedAfter: .infinity).took
        let latencies = try [0.01, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95, 0.99].map { part in
            try run(work, mode, suspendedAfter: whole * part).latency
        }
        print("\(mode): \(work.name): \(milliseconds(whole)) ms; suspended, ", terminator: "")
        print("it keeps its locks for \(latencies.map(milliseconds).joined(separator: " ")) ms")
        #expect(latencies.max()! < 0.1)
    }

    private func milliseconds(_ seconds: Double) -> String { String(format: "%.0f", seconds * 1000) }

    private func run(
        _ work: Work, _ mode: String, suspendedAfter delay: Double
    ) throws -> (took: Double, latency: Double) {
        let database = try LargeDatabase(Self.template, mode == "wal" ? walConfiguration() : .encrypted())
        try work.prepare(database.queue)
        let (took, latency, error) = try database.suspend(
            at: { start, _ in -start.timeIntervalSinceNow > delay }, during: work.run)
        #expect(
            error.map { ($0 as? DatabaseError)?.isInterruptionError == true } ?? true, "\(String(describing: error))")
        #expect(try database.queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        return (took, latency)
    }
}

import CStrongroomFaults
import Foundation
import Testing

@testable import Strongroom

@Suite("A lock that is held while a file is synced", .timeLimit(.minutes(5)), .serialized)
struct SyncPortionTests {
    struct Work: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable (DatabaseQueue) throws -> Void

        static let all = [
            Work(testDescription: "rotation") { _ = try $0.rotateKey(to: .passphrase("battery staple")) },
            Work(testDescription: "backup") { try SyncPortionTests.source.backup(to: $0) },
            Work(testDescription: "update") { queue in
                try queue.write { try $0.execute(sql: "UPDATE wine SET name = hex(randomblob(450))") }
            },
        ]
    }

    /// About 40 MB.
    private static let template = try! LargeDatabase.template(rowCount: 40_000)
    private static let source = try! LargeDatabase(template, .encrypted()).queue

    private func largestSync(
        _ work: Work, _ mode: String, setup: String, _ prepare: (Database) throws -> Void = { _ in }
    ) throws -> Int {
        strongroom_faults_install()
        let large = try LargeDatabase(Self.template, mode == "wal" ? walConfiguration() : .encrypted())
        try large.queue.writeWithoutTransaction { db in
            try db.execute(sql: setup)
            try prepare(db)
        }
        strongroom_faults_measure_syncs(large.path)
        try work.run(large.queue)
        return Int(strongroom_faults_largest_sync())
    }

    @Test("is released soon, because at most 9 MB are synced in one call", arguments: Work.all, ["wal", "delete"])
    func portions(work: Work, mode: String) throws {
        // With FULL, a commit syncs the log, and with this cache it syncs the whole journal.
        let largest = try largestSync(work, mode, setup: "PRAGMA synchronous = FULL; PRAGMA cache_size = -200000")
        #expect(largest > 0)
        #expect(largest < 9 << 20)
    }

    @Test("is released soon after a pragma that would turn syncs off, and was refused")
    func refusedPragma() throws {
        let largest = try largestSync(Work.all[2], "delete", setup: "PRAGMA cache_size = -200000") { db in
            try db.inTransaction {
                #expect(throws: DatabaseError.self) { try db.execute(sql: "PRAGMA synchronous = OFF") }
                return .rollback
            }
        }
        #expect(largest > 0)
        #expect(largest < 9 << 20)
    }

    @Test("is no reason for a sync if syncs are turned off", arguments: ["OFF", "0", "no", "7"], ["wal", "delete"])
    func off(value: String, mode: String) throws {
        #expect(try largestSync(Work.all[2], mode, setup: "PRAGMA synchronous = \(value)") == 0)
    }
}

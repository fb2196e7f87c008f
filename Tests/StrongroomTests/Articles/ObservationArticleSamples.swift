import Foundation
import Strongroom
import TestSupport
import Testing

// The samples of the articles on observation and sharing, as they stand there: `ArticleTextTests` compares.

@Suite("Samples of the articles on observation and sharing", .timeLimit(.minutes(2)))
struct ObservationArticleSamples {
    struct Player: Codable, FetchableRecord, PersistableRecord {
        var name: String
    }

    @Test("Values in a loop")
    func values() async throws {
        let pool = try SampleDatabase.pool()
        var counts: [Int] = []
        let writer = Task {
            for name in ["Arthur", "Barbara"] { try await pool.write { try Player(name: name).insert($0) } }
        }
        let observation =
            ValueObservation
            .tracking { db in try Player.fetchCount(db) }
            .removeDuplicates()
        for try await count in observation.values(in: pool) {
            counts.append(count)
            if count == 2 { break }
        }
        try await writer.value
        #expect(counts == counts.sorted() && counts.last == 2)
    }

    @MainActor
    @Test("Values for the screen")
    func screen() async throws {
        let pool = try SampleDatabase.pool()
        var failure: (any Error)?, latest: Int?
        let observation = ValueObservation.tracking { db in try Player.fetchCount(db) }
        let cancellable = observation.start(in: pool) { error in
            failure = error
        } onChange: { count in
            latest = count
        }
        try await pool.write { try Player(name: "Arthur").insert($0) }
        let end = Date().addingTimeInterval(20)
        while latest != 1, failure == nil, Date() < end { try await Task.sleep(nanoseconds: 1_000_000) }
        #expect(latest == 1)
        cancellable.cancel()
    }

    @Test("Regions")
    func regions() throws {
        let pool = try SampleDatabase.pool()
        nonisolated(unsafe) var failure: (any Error)?
        let changeCount = Shared(0)
        let cancellable = DatabaseRegionObservation(tracking: Player.all()).start(in: pool) { error in
            failure = error
        } onChange: { db in
            changeCount.update { $0 += 1 }
        }
        try pool.write { try Player(name: "Arthur").insert($0) }
        #expect(changeCount.value == 1)
        #expect(failure == nil)
        cancellable.cancel()
    }

    final class Deletions: TransactionObserver {
        private var pending: [Int64] = []
        private(set) var committed: [Int64] = []

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
            if case .delete(tableName: "player") = eventKind { true } else { false }
        }

        func databaseDidChange(with event: DatabaseEvent) {
            pending.append(event.rowID)
        }

        func databaseDidCommit(_ db: Database) {
            committed += pending
            pending = []
        }

        func databaseDidRollback(_ db: Database) {
            pending = []
        }
    }

    @Test("Transactions")
    func transactions() throws {
        let queue = try SampleDatabase.queue()
        let observer = Deletions()
        queue.add(transactionObserver: observer)
        try queue.write { try Player(name: "Arthur").insert($0) }
        try queue.writeWithoutTransaction { db in
            try db.inTransaction {
                try Player.deleteAll(db)
                return .rollback
            }
        }
        #expect(observer.committed == [])
        try queue.write { _ = try Player.deleteAll($0) }
        #expect(observer.committed == [1])
    }

    @Test("Sharing: opening, waiting, telling the others")
    func sharing() throws {
        let folder = try TemporaryFolder(), path = folder.path("shared.sqlite")
        var migrator = DatabaseMigrator()
        migrator.registerMigration("players") { db in try db.create(table: "player") { t in t.column("name", .text) } }
        try openAndWrite(path, .encrypted(), migrator)
        var count: Int?
        try read(path, .encrypted(), migrator) { count = try Player.fetchCount($0) }
        #expect(count == 1)
    }

    private func openAndWrite(_ path: String, _ configuration: Configuration, _ migrator: DatabaseMigrator) throws {
        var configuration = configuration
        configuration.busyMode = .timeout(10)
        let pool = try DatabasePool.openShared(path: path, configuration: configuration, migrator: migrator)

        nonisolated(unsafe) var failure: (any Error)?
        let calls = Shared(0)
        @Sendable func tellOtherProcesses() { calls.update { $0 += 1 } }
        let observation = DatabaseRegionObservation(tracking: .fullDatabase)
        let cancellable = observation.start(in: pool) { error in
            failure = error
        } onChange: { _ in
            tellOtherProcesses()
        }
        do {
            try pool.write { db in try Player(name: "Arthur").insert(db) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            // Another process writes for longer than ten seconds.
        }
        #expect(calls.value == 1)
        #expect(failure == nil)
        cancellable.cancel()
    }

    private func read(
        _ path: String, _ configuration: Configuration, _ migrator: DatabaseMigrator,
        _ body: (Database) throws -> Void
    ) throws {
        guard
            let reader = try DatabasePool.openSharedReadOnly(
                path: path, configuration: configuration, migrator: migrator)
        else {
            // There is no database yet, or its schema is not the one that this program knows.
            return
        }
        try reader.read(body)
    }
}

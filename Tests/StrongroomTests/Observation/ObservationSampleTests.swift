import Foundation
import Strongroom
import Testing

// The observation samples of the guides, as they stand there, but for what a fragment leaves open.

private struct SamplePlayer: Codable, Identifiable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "player"

    var id: Int64
    var name: String
}

private struct Team: TableRecord {}

private func makePool() throws -> (DatabasePool, TemporaryFolder) {
    let folder = try TemporaryFolder()
    folder.keep()
    let dbPool = try DatabasePool(path: folder.path("db.sqlite"), configuration: .encrypted())
    try dbPool.write { db in
        try db.execute(sql: """
            CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE team (id INTEGER PRIMARY KEY);
            """)
    }
    return (dbPool, folder)
}

@Suite("Observation samples of the guides")
struct ObservationSampleTests {
    @Test("Observing the database in a loop")
    func swiftConcurrency() async throws {
        let (writer, _) = try makePool()
        var counts: [Int] = []

        // Observe the database
        let observation = ValueObservation.tracking { db in
            try SamplePlayer.fetchAll(db)
        }
        for try await players in observation.values(in: writer) {
            counts.append(players.count)
            if players.count == 1 { break }
            try await writer.write { try $0.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        }
        #expect(counts == [0, 1])
    }

    @MainActor
    @Test("Observing instead of polling")
    func observeDoNotPoll() async throws {
        let (dbQueue, _) = try makePool()
        var shown: [Int] = []
        func updateUI(_ count: Int) { shown.append(count) }

        let observation = ValueObservation.tracking { db in
            try SamplePlayer.fetchCount(db)
        }
        let cancellable = observation.start(in: dbQueue) { error in
            Issue.record(error)
        } onChange: { count in
            updateUI(count)
        }
        try await dbQueue.write { try $0.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        let end = Date().addingTimeInterval(20)
        while shown.last != 1, Date() < end { try await Task.sleep(nanoseconds: 1_000_000) }
        #expect(shown.last == 1)
        cancellable.cancel()
    }

    @Test("Telling other processes of changes")
    func crossProcess() throws {
        let (dbPool, _) = try makePool()
        let notifications = Shared<[String]>([])

        do {
            // Notify all changes made to the "player" and "team" database tables
            let observation = DatabaseRegionObservation(tracking: SamplePlayer.all(), Team.all())
            let observer = try observation.start(in: dbPool) { (db: Database) in
                // Notify other processes
                notifications.update { $0.append("players or teams") }
            }
            try dbPool.write { try $0.execute(sql: "INSERT INTO team DEFAULT VALUES") }
            observer.cancel()
        }
        do {
            // Notify all changes made to the database
            let observation = DatabaseRegionObservation(tracking: DatabaseRegion.fullDatabase)
            let observer = try observation.start(in: dbPool) { (db: Database) in
                // Notify other processes
                notifications.update { $0.append("database") }
            }
            try dbPool.write { try $0.execute(sql: "CREATE TABLE other (id INTEGER PRIMARY KEY)") }
            observer.cancel()
        }
        #expect(notifications.value == ["players or teams", "database"])
    }
}

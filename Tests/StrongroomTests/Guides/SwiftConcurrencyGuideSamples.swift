import Foundation
import Strongroom
import Testing

// The samples of the guide on Swift concurrency that compile. What must not compile is in the integration tests.

@Suite("Samples of the guide on Swift concurrency", .timeLimit(.minutes(2)))
struct SwiftConcurrencyGuideSamples {
    @Test("Reading, writing, observing", arguments: ["queue", "pool"])
    func overview(kind: String) async throws {
        let writer: any DatabaseWriter = kind == "queue" ? try SampleDatabase.queue() : try SampleDatabase.pool()
        try await writer.write { try Player(id: 42, name: "Barbara", score: 1).insert($0) }

        // Read
        let player = try await writer.read { db in
            try Player.find(db, id: 42)
        }

        // Write
        let newPlayerCount = try await writer.write { db in
            try Newcomer(name: "Arthur").insert(db)
            return try Newcomer.fetchCount(db)
        }

        // Observe the database
        let observation = ValueObservation.tracking { db in
            try Player.fetchAll(db)
        }
        var counts: [Int] = []
        for try await players in observation.values(in: writer) {
            counts.append(players.count)
            if players.isEmpty { break }
            try await writer.write { _ = try Player.deleteAll($0) }
        }
        #expect(player.name == "Barbara")
        #expect(newPlayerCount == 2)
        #expect(counts == [2, 0])
    }

    @Test("Records that are Sendable cross from task to task")
    func sendableRecords() async throws {
        let writer = try SampleDatabase.pool()

        let player = Player(id: 42, name: "Arthur", score: 7)
        try await writer.write { db in
            try player.insert(db)
        }

        let fetched = try await writer.read { db in
            try Player.fetchOne(db, id: 42)
        }
        #expect(fetched?.score == 7)

        let observation = ValueObservation.tracking { db in
            try Player.fetchAll(db)
        }
        for try await players in observation.values(in: writer) {
            #expect(players.map(\.name) == ["Arthur"])
            break
        }
    }

    @Test("Shorthand closure notation")
    func shorthand() async throws {
        let writer = try SampleDatabase.queue()
        try await writer.write { try Player(id: 1, name: "Arthur", score: 7).insert($0) }

        // Standard closure:
        let standard = try await writer.read { db in
            try Player.fetchCount(db)
        }

        // Shorthand notation:
        let count = try await writer.read(Player.fetchCount)
        #expect(standard == 1)
        #expect(count == 1)
    }

    @Test("A selection as a computed property")
    func databaseSelection() throws {
        let writer = try SampleDatabase.queue()
        try writer.write { db in
            var sql: [String] = []
            db.trace { sql.append($0.description) }
            let players = try SelectingPlayer.fetchAll(db)
            db.trace(nil)
            #expect(players.isEmpty)
            #expect(sql.contains { $0.hasPrefix(#"SELECT "id", "name", "score" FROM "player""#) })
        }
    }

    @Test("Synchronous and asynchronous accesses")
    func choosing() async throws {
        let writer = try SampleDatabase.queue()
        func synchronously() throws {
            // Synchronous database access
            try writer.write { try $0.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        }
        try synchronously()

        // Asynchronous database access. The guide has `await try`, which Swift wants the other way round.
        try await writer.write { try $0.execute(sql: "INSERT INTO player (name) VALUES ('Barbara')") }

        func fetchPlayers() async throws -> [Player] {
            try await writer.read(Player.fetchAll)
        }
        let players = try await fetchPlayers()
        #expect(players.count == 2)
    }

    @Test("Accesses in a task, with and without await")
    func tasks() async throws {
        let writer = try SampleDatabase.queue()
        try await writer.write { try $0.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }

        let task = Task {
            // NOT RECOMMENDED
            // The compiler does not spot the missing `await`. (This one does: a closure hides it.)
            let blocking = { try writer.read(Player.fetchAll) }

            // RECOMMENDED
            let players = try await writer.read(Player.fetchAll)
            return try blocking().count + players.count
        }
        #expect(try await task.value == 2)
    }
}

extension SwiftConcurrencyGuideSamples {
    // This struct is Sendable
    struct Player: Codable, Identifiable {
        var id: Int64
        var name: String
        var score: Int
    }

    /// The record of the overview has a name only; its id is found when it is inserted.
    struct Newcomer: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "player"

        var name: String
    }

    struct SelectingPlayer: Codable {
        static let databaseTableName = "player"

        var id: Int64?
        var name: String
        var score: Int
    }
}

extension SwiftConcurrencyGuideSamples.Player: FetchableRecord, PersistableRecord {}

extension SwiftConcurrencyGuideSamples.SelectingPlayer: FetchableRecord, MutablePersistableRecord {
    static var databaseSelection: [any SQLSelectable] {
        [Column("id"), Column("name"), Column("score")]
    }
}

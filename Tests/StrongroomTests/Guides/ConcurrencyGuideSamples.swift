import Foundation
import Strongroom
import Testing

// The samples of the guide on concurrency, word for word: only `...` is filled in, and results are looked at.

@Suite("Samples of the guide on concurrency", .timeLimit(.minutes(2)))
struct ConcurrencyGuideSamples {
    struct Player: Codable, FetchableRecord, PersistableRecord {
        var name: String
    }

    struct Cookie: TableRecord {}

    @Test("Mind your transactions")
    func transactions() throws {
        let dbQueue = try SampleDatabase.queue()

        try dbQueue.write { db in
            // Inside a transaction
            #expect(db.isInsideTransaction)
        }

        // The guide forgets the `in`.
        try dbQueue.read { db in
            // Inside a transaction
            #expect(db.isInsideTransaction)
        }
    }

    @Test("Synchronous accesses")
    func synchronousAccesses() throws {
        let dbQueue = try SampleDatabase.queue()

        let playerCount = try dbQueue.read { db in
            try Player.fetchCount(db)
        }

        let newPlayerCount = try dbQueue.write { db -> Int in
            try Player(name: "Arthur").insert(db)
            return try Player.fetchCount(db)
        }
        #expect(playerCount == 0)
        #expect(newPlayerCount == 1)
    }

    @Test("A synchronous access inside of another")
    func reentrancy() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let dbQueue = try SampleDatabase.queue()
            try await dbQueue.write { db in
                // Fatal Error: Database methods are not reentrant.
                try dbQueue.write { db in _ = db }
            }
        }
        let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(words.contains("Database methods are not reentrant"))
    }

    @Test("Swift concurrency")
    func swiftConcurrency() async throws {
        let dbQueue = try SampleDatabase.queue()

        let playerCount = try await dbQueue.read { db in
            try Player.fetchCount(db)
        }

        let newPlayerCount = try await dbQueue.write { db -> Int in
            try Player(name: "Arthur").insert(db)
            return try Player.fetchCount(db)
        }
        #expect(playerCount == 0)
        #expect(newPlayerCount == 1)
    }

    @Test("Operations of one asynchronous access")
    func groupedOperations() async throws {
        let dbQueue = try SampleDatabase.queue()
        let names = Shared<[String]>([])

        // One asynchronous access...
        try await dbQueue.write { db in
            // ... always performs synchronous database operations:
            try Player(name: "Arthur").insert(db)
            try Player(name: "Barbara").insert(db)
            let players = try Player.fetchAll(db)
            names.update { $0 = players.map(\.name) }
        }
        #expect(names.value == ["Arthur", "Barbara"])
    }

    @Test("A guarantee restored by an explicit transaction")
    func restoredTransaction() throws {
        let dbQueue = try SampleDatabase.queue()

        try dbQueue.writeWithoutTransaction { db in
            #expect(!db.isInsideTransaction)
            try db.inTransaction {
                try Player(name: "Arthur").insert(db)
                return .rollback
            }
        }
        #expect(try dbQueue.read(Player.fetchCount) == 0)
    }

    @Test("Extracted values are stale")
    func staleValues() throws {
        let dbPool = try SampleDatabase.pool()
        try dbPool.write { try $0.execute(sql: "INSERT INTO cookie DEFAULT VALUES") }

        // or dbQueue.write, for that matter. The guide forgets the `try`.
        let cookieCount = try dbPool.read { db in
            try Cookie.fetchCount(db)
        }
        try dbPool.write { _ = try Cookie.deleteAll($0) }

        // At this point, the number of cookies on disk
        // may have already changed.
        #expect(cookieCount == 1)
        #expect(try dbPool.read(Cookie.fetchCount) == 0)
    }

    @Test("Writing, then reading what was written")
    func readInsideWrite() throws {
        let dbPool = try SampleDatabase.pool()

        let newPlayerCount = try dbPool.write { db in
            // Increment the number of players
            try Player(name: "Arthur").insert(db)

            // Read the number of players. Concurrent writes are blocked :-(
            return try Player.fetchCount(db)
        }
        #expect(newPlayerCount == 1)
    }

    @Test("Writing, then reading without blocking other writes")
    func asyncConcurrentRead() throws {
        let dbPool = try SampleDatabase.pool()
        let found = Shared<Result<Int, any Error>?>(nil)
        let isDone = Gate()

        try dbPool.writeWithoutTransaction { db in
            // Increment the number of players
            try db.inTransaction {
                try Player(name: "Arthur").insert(db)
                return .commit
            }

            // <- Not in a transaction here
            dbPool.asyncConcurrentRead { dbResult in
                do {
                    // Handle the new player count - guaranteed greater than zero
                    let db = try dbResult.get()
                    let newPlayerCount = try Player.fetchCount(db)
                    found.update { $0 = .success(newPlayerCount) }
                } catch {
                    // Handle error
                    found.update { $0 = .failure(error) }
                }
                isDone.open()
            }
            try Player.deleteAll(db)
        }
        isDone.pass()
        #expect(try found.value?.get() == 1)
    }
}

#if OpenCombine
import OpenCombine

extension ConcurrencyGuideSamples {
    @Test("Publishers")
    func publishers() async throws {
        let dbQueue = try SampleDatabase.queue()

        let playerCountPublisher = dbQueue.readPublisher { db in
            try Player.fetchCount(db)
        }

        let newPlayerCountPublisher = dbQueue.writePublisher { db -> Int in
            try Player(name: "Arthur").insert(db)
            return try Player.fetchCount(db)
        }
        // Nothing happens before a subscription.
        #expect(try await dbQueue.read(Player.fetchCount) == 0)
        #expect(await Self.first(of: newPlayerCountPublisher) == 1)
        #expect(await Self.first(of: playerCountPublisher) == 1)
    }

    private static func first<P: Publisher>(of publisher: P) async -> P.Output? where P.Output: Sendable {
        let subscription = Shared<AnyCancellable?>(nil)
        let value = Shared<P.Output?>(nil)
        return await withCheckedContinuation { continuation in
            let cancellable = publisher.sink { _ in
                continuation.resume(returning: value.value)
            } receiveValue: { output in
                value.update { $0 = output }
            }
            subscription.update { $0 = cancellable }
        }
    }
}
#endif

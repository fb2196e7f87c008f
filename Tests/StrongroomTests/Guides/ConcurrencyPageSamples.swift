import Dispatch
import Foundation
import Strongroom
import Testing

// The samples of the shorter page on concurrency, one connection or several. `...` and placeholders are filled in.

@Suite("Samples of the page on concurrency", .timeLimit(.minutes(2)))
struct ConcurrencyPageSamples {
    struct Player: Codable, Identifiable, FetchableRecord, PersistableRecord {
        var id: Int64?
        var name: String
        var score = 0
    }

    struct Cookie: TableRecord {}

    /// The accounts of the sample: a debit and a credit keep the sum.
    enum Account {
        static func debit(_ db: Database, amount: Int) throws {
            try db.execute(sql: "UPDATE account SET balance = balance - ? WHERE id = 1", arguments: [amount])
        }

        static func credit(_ db: Database, amount: Int) throws {
            try db.execute(sql: "UPDATE account SET balance = balance + ? WHERE id = 2", arguments: [amount])
        }

        static func balances(_ db: Database) throws -> [Int] {
            try Int.fetchAll(db, sql: "SELECT balance FROM account ORDER BY id")
        }
    }

    // Application setup. The page's class has no key: here it has that of the other samples. Swift 6 wants it final.
    final class AppDatabase: Sendable {
        static let shared = AppDatabase()
        let dbQueue: DatabaseQueue

        private init() {
            let dbPath = try! SampleDatabase.path()
            dbQueue = try! DatabaseQueue(path: dbPath, configuration: .encrypted())
        }
    }

    @Test("Connecting once")
    func connectOnce() throws {
        // Use throughout app
        let players = try AppDatabase.shared.dbQueue.read { db in
            try Player.fetchAll(db)
        }
        #expect(players.isEmpty)
    }

    @Test("Transactions keep invariants, separate writes don't")
    func transactions() throws {
        let dbQueue = try SampleDatabase.queue()

        // CORRECT: Transaction ensures both operations complete together
        try dbQueue.write { db in
            try Account.debit(db, amount: 100)
            try Account.credit(db, amount: 100)
        }
        #expect(try dbQueue.read(Account.balances) == [50, 100])

        // The second debit is more than there is: the credit before it goes, too.
        #expect(throws: DatabaseError.self) {
            try dbQueue.write { db in
                try Account.credit(db, amount: 100)
                try Account.debit(db, amount: 100)
            }
        }
        #expect(try dbQueue.read(Account.balances) == [50, 100])

        // INCORRECT: Operations could be interleaved with other writes
        try dbQueue.writeWithoutTransaction { db in
            try Account.debit(db, amount: 50)
        }
        let between = try dbQueue.read(Account.balances)
        try dbQueue.writeWithoutTransaction { db in
            try Account.credit(db, amount: 50)  // Another thread could write here!
        }
        #expect(between == [0, 100])
    }

    @Test("Opening a queue and a pool")
    func opening() throws {
        let path = try SampleDatabase.path()
        let dbQueue = try DatabaseQueue(path: path, configuration: .encrypted())
        #expect(try dbQueue.read(Player.fetchCount) == 0)
        try dbQueue.close()
        let dbPool = try DatabasePool(path: path, configuration: .encrypted())
        #expect(try dbPool.read(Player.fetchCount) == 0)
    }

    @Test("Synchronous accesses")
    func synchronousAccesses() throws {
        let dbQueue = try SampleDatabase.queue()

        // Read access
        let playerCount = try dbQueue.read { db in
            try Player.fetchCount(db)
        }

        // Write access
        let newPlayerCount = try dbQueue.write { db -> Int in
            try Player(name: "Alice").insert(db)
            return try Player.fetchCount(db)
        }
        #expect(playerCount == 0)
        #expect(newPlayerCount == 1)
    }

    @Test("Nested accesses")
    func nested() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let dbQueue = try SampleDatabase.queue()
            try await dbQueue.write { db in
                // Fatal Error: Database methods are not reentrant
                try dbQueue.write { db in _ = db }
            }
        }
        let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(words.contains("Database methods are not reentrant"))
    }

    @Test("Asynchronous accesses")
    func asynchronousAccesses() async throws {
        let dbQueue = try SampleDatabase.queue()

        // Async read
        let playerCount = try await dbQueue.read { db in
            try Player.fetchCount(db)
        }

        // Async write
        let newPlayerCount = try await dbQueue.write { db -> Int in
            try Player(name: "Alice").insert(db)
            return try Player.fetchCount(db)
        }
        #expect(playerCount == 0)
        #expect(newPlayerCount == 1)
    }

    @Test("Completion handlers")
    func completionHandlers() throws {
        let dbQueue = try SampleDatabase.queue()
        let printed = Shared<[String]>([])
        let hasRead = Gate(), hasWritten = Gate()
        @Sendable func print(_ text: String) { printed.update { $0.append(text) } }

        dbQueue.asyncRead { result in
            switch result {
            case .success(let db):
                let count = try! Player.fetchCount(db)
                print("Players: \(count)")
            case .failure(let error):
                print("Error: \(error)")
            }
            hasRead.open()
        }
        hasRead.pass()

        dbQueue.asyncWrite({ db in
            try Player(name: "Bob").insert(db)
        }, completion: { result in
            switch result {
            case .success:
                print("Player inserted")
            case .failure(let error):
                print("Error: \(error)")
            }
            hasWritten.open()
        })
        hasWritten.pass()
        #expect(printed.value == ["Players: 0", "Player inserted"])
    }

    @Test("Unsafe accesses")
    func unsafeAccesses() throws {
        let dbQueue = try SampleDatabase.queue()
        func processPlayers(_ db: Database) throws {
            try dbQueue.unsafeReentrantWrite { same in
                #expect(same === db)
                try same.execute(sql: "UPDATE player SET score = score + 1")
            }
        }

        // Write without transaction
        try dbQueue.writeWithoutTransaction { db in
            // Multiple statements, not atomic
            try Player(name: "Arthur").insert(db)
            try Player(name: "Barbara").insert(db)
        }

        // Reentrant write (no transaction, reentrant)
        try dbQueue.unsafeReentrantWrite { db in
            // Can call other database methods
            try processPlayers(db)
        }

        // Read without transaction (can see partial updates)
        try dbQueue.unsafeRead { db in
            // Not isolated from concurrent writes
            let count = try Player.fetchCount(db)
            #expect(count == 2)
            #expect(!db.isInsideTransaction)
        }

        // Reentrant read
        try dbQueue.unsafeReentrantRead { db in
            // Can call other database methods
            let scores = try dbQueue.unsafeReentrantRead { try Int.fetchAll($0, sql: "SELECT score FROM player") }
            #expect(scores == [1, 1])
        }
    }
}

// MARK: - Pools

extension ConcurrencyPageSamples {
    @Test("Reading during a long write")
    func readsDuringWrite() throws {
        let dbPool = try SampleDatabase.pool()
        let largeDataset = (1...100).map { Player(name: "\($0)") }
        let isHalfWay = Gate(), hasRead = Gate()

        // Thread 1: Long-running write
        let isWritten = start {
            try! dbPool.write { db in
                // Import large dataset
                for record in largeDataset {
                    try record.insert(db)
                }
                isHalfWay.open()
                hasRead.pass()
            }
        }
        isHalfWay.pass()

        // Thread 2: Read can run concurrently
        let players = try dbPool.read { db in
            try Player.fetchAll(db)  // Sees stable snapshot
        }
        hasRead.open()
        isWritten.pass()
        #expect(players.isEmpty)
        #expect(try dbPool.read(Player.fetchCount) == 100)
    }

    @Test("Writing, then reading without blocking writers")
    func asyncConcurrentRead() throws {
        let dbPool = try SampleDatabase.pool()
        let printed = Shared<[String]>([])
        let isDone = Gate()
        @Sendable func print(_ text: String) { printed.update { $0.append(text) } }

        try dbPool.writeWithoutTransaction { db in
            // Write in transaction
            try db.inTransaction {
                try Player(name: "Arthur").insert(db)
                return .commit
            }

            // Read the new state without blocking writers
            dbPool.asyncConcurrentRead { result in
                do {
                    let db = try result.get()
                    let count = try Player.fetchCount(db)
                    print("New count: \(count)")
                } catch {
                    print("Error: \(error)")
                }
                isDone.open()
            }
        }
        isDone.pass()
        #expect(printed.value == ["New count: 1"])
    }

    @Test("Fetched values are stale")
    func staleValues() throws {
        let dbPool = try SampleDatabase.pool()
        // The page forgets the `try`.
        let cookieCount = try dbPool.read { db in
            try Cookie.fetchCount(db)
        }
        try dbPool.write { try $0.execute(sql: "INSERT INTO cookie DEFAULT VALUES") }
        // At this point, the actual count may have already changed!
        #expect(cookieCount == 0)
        #expect(try dbPool.read(Cookie.fetchCount) == 1)
    }

    @Test("Two fetches of one read agree")
    func isolation() throws {
        let dbPool = try SampleDatabase.pool()
        try dbPool.read { db in
            let count1 = try Player.fetchCount(db)
            // Another thread modifies players, which takes no `sleep(1)` here.
            start { try! dbPool.write { try Player(name: "Arthur").insert($0) } }.pass()
            let count2 = try Player.fetchCount(db)
            // count1 == count2 (isolated transaction)
            #expect(count1 == count2)
        }
        #expect(try dbPool.read(Player.fetchCount) == 1)
    }

    @Test("Configuring readers")
    func configuration() throws {
        let dbPath = try SampleDatabase.path()
        #expect(Configuration().maximumReaderCount == 5)

        var config = Configuration.encrypted()
        config.maximumReaderCount = 10  // Default: 5

        let dbPool = try DatabasePool(path: dbPath, configuration: config)
        #expect(dbPool.configuration.maximumReaderCount == 10)
    }

    @Test("Preparing connections")
    func performanceTuning() throws {
        let dbPath = try SampleDatabase.path()
        var config = Configuration.encrypted()

        // Increase reader pool for read-heavy workloads
        config.maximumReaderCount = 20

        // Enable extended result codes
        config.prepareDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL")
        }

        let dbPool = try DatabasePool(path: dbPath, configuration: config)
        #expect(try dbPool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
    }
}

// MARK: - Practices

extension ConcurrencyPageSamples {
    @Test("Dependent operations in one transaction")
    func groupedOperations() throws {
        let dbQueue = try SampleDatabase.queue()
        try dbQueue.write { try Player(id: 1, name: "Arthur", score: 7).insert($0) }

        // CORRECT: Atomic operation. The page forgets that there may be no such player, and that players are structs.
        try dbQueue.write { db in
            var player = try Player.find(db, id: 1)
            player.score += 100
            try player.update(db)
        }
        #expect(try dbQueue.read { try Player.fetchOne($0, id: 1)?.score } == 107)
    }

    @Test("A database that was kept is no use")
    func keptDatabase() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let dbQueue = try SampleDatabase.queue()
            func keep() throws {
                var savedDB: Database?  // DON'T DO THIS

                try dbQueue.read { db in
                    savedDB = db  // WRONG: db is only valid here
                }

                // savedDB is now invalid and dangerous to use
                _ = try savedDB.map(Player.fetchCount)
            }
            try keep()
        }
        let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(words.contains("was used outside of its database access"))
    }

    @MainActor
    @Test("Observing instead of polling")
    func observing() async throws {
        let dbQueue = try SampleDatabase.queue()
        var shown: [Int] = []
        func updateUI(_ count: Int) { shown.append(count) }

        // WRONG: Polling
        let timer = Timer(timeInterval: 1.0, repeats: true) { _ in
            _ = try! dbQueue.read { try Player.fetchCount($0) }
        }
        timer.invalidate()

        // CORRECT: Observing
        let observation = ValueObservation.tracking { db in
            try Player.fetchCount(db)
        }
        // The page leaves out what to do with an error, which nobody should.
        let cancellable = observation.start(in: dbQueue) { error in
            Issue.record(error)
        } onChange: { count in
            updateUI(count)
        }
        try await dbQueue.write { try Player(name: "Arthur").insert($0) }
        #expect(try await comesTrue { shown.last == 1 })
        cancellable.cancel()
    }

    @Test("Importing in the background")
    func backgroundImport() async throws {
        let dbPool = try SampleDatabase.pool()
        let importData = (1...10).map { Player(name: "\($0)") }

        let task = Task.detached {
            try await dbPool.write { db in
                for item in importData {
                    try item.insert(db)
                }
            }
        }
        try await task.value
        #expect(try await dbPool.read(Player.fetchCount) == 10)
    }

    @MainActor
    @Test("A long write does not keep the screen waiting")
    func responsiveUI() async throws {
        let dbPool = try SampleDatabase.pool()
        var shown: [Int] = []
        func updateUI(_ players: [Player]) { shown.append(players.count) }
        let isWriting = Gate(), isShown = Gate()

        // Long write doesn't block UI updates
        let task = Task.detached {
            try await dbPool.write { db in
                // Import large dataset
                try Player(name: "Arthur").insert(db)
                isWriting.open()
                isShown.pass()
            }
        }

        // UI can still read concurrently
        let observation = ValueObservation.tracking { db in
            try Player.fetchAll(db)
        }
        #expect(try await comesTrue { isWriting.opens(within: 0) })
        let cancellable = observation.start(in: dbPool) { error in
            Issue.record(error)
        } onChange: { players in
            updateUI(players)
        }
        #expect(try await comesTrue { shown == [0] })
        isShown.open()
        try await task.value
        #expect(try await comesTrue { shown.last == 1 })
        cancellable.cancel()
    }

    @Test("A long conversion that tells how far it is")
    func progress() async throws {
        struct OldRecord: Decodable, FetchableRecord, TableRecord {
            static let databaseTableName = "cookie"
            var id: Int64
        }
        struct NewRecord: Encodable, PersistableRecord {
            static let databaseTableName = "team"
            var id: Int64
            init(from old: OldRecord) { id = old.id }
        }
        let dbPool = try SampleDatabase.pool()
        try await dbPool.write { try $0.execute(sql: "INSERT INTO cookie VALUES (1), (2)") }
        let (progress, report) = AsyncStream<Double>.makeStream()

        let task = Task {
            try await dbPool.write { db in
                let total = try OldRecord.fetchCount(db)
                var processed = 0

                for oldRecord in try OldRecord.fetchAll(db) {
                    try NewRecord(from: oldRecord).insert(db)
                    processed += 1
                    // The page awaits the main actor here, where nothing can be awaited: a database access is synchronous.
                    report.yield(Double(processed) / Double(total))
                }
            }
            report.finish()
        }
        var shown: [Double] = []
        for await fraction in progress { shown.append(fraction) }
        try await task.value
        #expect(shown == [0.5, 1])
        #expect(try await dbPool.read { try Int.fetchAll($0, sql: "SELECT id FROM team") } == [1, 2])
    }
}

/// Awaits what happens on the main actor.
@MainActor
private func comesTrue(within seconds: TimeInterval = 20, _ condition: @MainActor () -> Bool) async throws -> Bool {
    let end = Date().addingTimeInterval(seconds)
    while !condition() {
        if Date() > end { return false }
        try await Task.sleep(nanoseconds: 1_000_000)
    }
    return true
}

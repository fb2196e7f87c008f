import Dispatch
import Foundation
import Strongroom
import Testing

// The samples of the shorter page on concurrency, one connection or several. `...` and placeholders are filled in.
// Those that it shares with the guide, on accesses that block, nested accesses and accesses with `await`, are in
// ConcurrencyGuideSamples.

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

        dbQueue.asyncWrite(
            { db in
                try Player(name: "Bob").insert(db)
            },
            completion: { result in
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

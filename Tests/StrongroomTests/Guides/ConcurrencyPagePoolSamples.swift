import Dispatch
import Foundation
import Strongroom
import Testing

// The samples on pools of the page on concurrency: see `ConcurrencyPageSamples`.

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

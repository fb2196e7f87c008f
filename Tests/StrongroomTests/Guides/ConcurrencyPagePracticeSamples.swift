import Dispatch
import Foundation
import Strongroom
import Testing

// The samples on practices of the page on concurrency: see `ConcurrencyPageSamples`.

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
        // The page leaves out what to do with an error; a program should not.
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

    @Test("A long conversion that reports its progress")
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
                    // The page awaits the main actor here, where nothing can be awaited: a database access is
                    // synchronous.
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

import Testing

@testable import Strongroom

@Suite("Statements that no observer observes")
struct IgnoredStatementTests {
    private static let insertion = "INSERT INTO wine (name) VALUES ('Chinon')"

    private let fixture: QueueFixture
    private let noteChanges = Shared(0)
    private let cancellable: AnyDatabaseCancellable

    /// Observes the notes, and lets all parts ignore the insertion of a wine.
    init() throws {
        fixture = try QueueFixture()
        try fixture.queue.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY)") }
        cancellable = try DatabaseRegionObservation(tracking: Table("note")).start(in: fixture.queue) {
            [noteChanges] _ in noteChanges.update { $0 += 1 }
        }
        try insertWine()
        try fixture.queue.inDatabase { db in
            let statement = try db.cachedStatement(sql: Self.insertion)
            #expect(db.parts.ignore(statement))
        }
        #expect(noteChanges.value == 0)
    }

    private func insertWine() throws {
        try fixture.queue.write { db in
            for _ in 0..<2 { try db.cachedStatement(sql: Self.insertion).execute() }
        }
    }

    @Test("are notified to an observation that starts later")
    func laterObservation() throws {
        let changes = Shared(0)
        let later = try DatabaseRegionObservation(tracking: Table("wine")).start(in: fixture.queue) { _ in
            changes.update { $0 += 1 }
        }
        try insertWine()
        #expect(changes.value == 1)
        #expect(noteChanges.value == 0)
        later.cancel()
        cancellable.cancel()
    }

    @Test("are notified to an observer of transactions that is added later, in the middle of a transaction")
    func laterObserver() throws {
        let recorder = TransactionRecorder()
        try fixture.queue.write { db in
            db.add(transactionObserver: recorder)
            try db.cachedStatement(sql: Self.insertion).execute()
        }
        #expect(recorder.take().first == "insert main.wine 3")
        cancellable.cancel()
    }

    @Test("are notified for the table that a new trigger changes", arguments: ["same", "other"])
    func trigger(connection: String) throws {
        let trigger = "CREATE TRIGGER t AFTER INSERT ON wine BEGIN INSERT INTO note (id) VALUES (NULL); END"
        if connection == "same" {
            try fixture.queue.write { try $0.execute(sql: trigger) }
        } else {
            let other = try DatabaseQueue(path: fixture.queue.path, configuration: fixture.queue.configuration)
            try other.write { try $0.execute(sql: trigger) }
            try other.close()
        }
        noteChanges.update { $0 = 0 }
        try insertWine()
        #expect(noteChanges.value == 1)
        cancellable.cancel()
    }

    @Test("are not ignored while a region is recorded")
    func recording() throws {
        try fixture.queue.write { db in
            let statement = try db.cachedStatement(sql: Self.insertion)
            #expect(db.parts.ignore(statement))
            _ = try db.recordingRegion { #expect(!db.parts.ignore(statement)) }
        }
        cancellable.cancel()
    }

    @Test("are notified inside of an observed one only with its own rows")
    func nested() throws {
        let changes = Shared(0)
        let wines = try DatabaseRegionObservation(tracking: SQLRequest<Row>("SELECT * FROM note WHERE id = 7"))
            .start(in: fixture.queue) { _ in changes.update { $0 += 1 } }
        try fixture.queue.write { db in
            nonisolated(unsafe) let connection = db
            db.add(
                function: DatabaseFunction("pour", argumentCount: 1) { values in
                    try connection.cachedStatement(sql: Self.insertion).execute()
                    return values[0]
                })
            try db.execute(sql: "INSERT INTO note (id) SELECT pour(7) UNION ALL SELECT pour(8)")
            #expect(try db.countWines() == 4)
        }
        #expect(changes.value == 1)
        #expect(noteChanges.value == 1)
        wines.cancel()
        cancellable.cancel()
    }
}

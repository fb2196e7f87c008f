import Strongroom
import Testing

@Suite("Events of savepoints")
struct SavepointEventTests {
    private func events(_ steps: [String]) throws -> [[String]] {
        try withDatabase { db throws in
            try db.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY)")
            let recorder = TransactionRecorder()
            db.add(transactionObserver: recorder)
            return try steps.map { step in
                try db.execute(sql: step)
                return recorder.take()
            }
        }
    }

    @Test("A savepoint that is rolled back is still there, and may be rolled back again")
    func rolledBackTwice() throws {
        let events = try events([
            "BEGIN", "SAVEPOINT a", "INSERT INTO wine VALUES (1)", "ROLLBACK TO a", "INSERT INTO wine VALUES (2)",
            "ROLLBACK TO a",
            "INSERT INTO wine VALUES (3)", "RELEASE a", "COMMIT",
        ])
        #expect(events == [[], [], [], [], [], [], [], ["insert main.wine 3"], ["will commit", "commit"]])
    }

    @Test("The end of a savepoint is the end of those inside")
    func releasedWithinOuter() throws {
        let events = try events([
            "BEGIN", "SAVEPOINT a", "SAVEPOINT b", "INSERT INTO wine VALUES (1)", "RELEASE a",
            "INSERT INTO wine VALUES (2)", "ROLLBACK",
        ])
        #expect(events == [[], [], [], [], ["insert main.wine 1"], ["insert main.wine 2"], ["rollback"]])
    }

    @Test("A name means the latest of two savepoints, in upper and lower case")
    func namesakes() throws {
        let events = try events([
            "BEGIN", "SAVEPOINT a", "INSERT INTO wine VALUES (1)", "SAVEPOINT A", "INSERT INTO wine VALUES (2)",
            "ROLLBACK TO a",
            "RELEASE A", "RELEASE a", "COMMIT",
        ])
        #expect(events == [[], [], [], [], [], [], [], ["insert main.wine 1"], ["will commit", "commit"]])
    }
}

import Strongroom
import Testing

private func withTables(_ body: (Database, TransactionRecorder) throws -> Void) throws {
    try withDatabase { db in
        try db.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT)")
        let recorder = TransactionRecorder()
        db.add(transactionObserver: recorder)
        try body(db, recorder)
    }
}

@Suite("Transactions without changes")
struct EmptyTransactionTests {
    @Test(
        "are notified to observers where writes are allowed",
        arguments: [
            "BEGIN; COMMIT", "BEGIN; SELECT * FROM wine; COMMIT", "BEGIN IMMEDIATE; COMMIT", "SAVEPOINT s; RELEASE s",
        ])
    func emptyTransactions(_ sql: String) throws {
        try withTables { db, recorder in
            try db.execute(sql: sql)
            #expect(recorder.take() == ["will commit", "commit"])
            try db.readOnly { try db.inTransaction(.deferred) { .commit } }
            try db.readOnly { try db.inTransaction(.deferred) { .rollback } }
            #expect(recorder.take() == [])
        }
    }

    @Test(
        "can be refused, and are rolled back then",
        arguments: [
            "BEGIN; COMMIT", "BEGIN; SELECT * FROM wine; COMMIT", "BEGIN IMMEDIATE; COMMIT", "SAVEPOINT s; RELEASE s",
        ])
    func refusal(_ sql: String) throws {
        struct Refusal: Error {}
        try withTables { db, recorder in
            recorder.refusal = Refusal()
            #expect(throws: Refusal.self) { try db.execute(sql: sql) }
            #expect(recorder.take() == ["will commit", "rollback"])
            #expect(!db.isInsideTransaction)
            #expect(throws: Refusal.self) { try db.inTransaction(.deferred) { .commit } }
            #expect(recorder.take() == ["will commit", "rollback"])
            recorder.refusal = nil
            try db.execute(sql: sql)
            #expect(recorder.take() == ["will commit", "commit"])
        }
    }

    @Test("An observer is to be removed as often as it was added")
    func addedTwice() throws {
        try withTables { db, recorder in
            db.add(transactionObserver: recorder)
            db.remove(transactionObserver: recorder)
            try db.inTransaction { .commit }
            #expect(recorder.take() == ["will commit", "commit"])
            db.remove(transactionObserver: recorder)
            try db.inTransaction { .commit }
            #expect(recorder.take() == [])
        }
    }
}

import Foundation
import Strongroom
import Testing

@Suite("A transaction")
struct TransactionTests {
    private struct Refusal: Error {}

    private func withTable<T>(
        _ configuration: Configuration = .encrypted(), _ body: (Database) throws -> T
    ) throws -> T {
        try withEncryptedQueue(configuration) { queue throws in
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "CREATE TABLE t (a UNIQUE)")
                return try body(db)
            }
        }
    }

    private func values(_ db: Database) throws -> [Int] {
        try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY a")
    }

    @Test(
        "A transaction is committed or rolled back as its block answers",
        arguments: [Database.TransactionCompletion.commit, .rollback])
    func completion(completion: Database.TransactionCompletion) throws {
        try withTable { db throws in
            try db.inTransaction {
                #expect(db.isInsideTransaction)
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                return completion
            }
            #expect(!db.isInsideTransaction)
            #expect(try values(db) == (completion == .commit ? [1] : []))
        }
    }

    @Test("A transaction is rolled back when its block throws")
    func failure() throws {
        try withTable { db throws in
            #expect(throws: Refusal.self) {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                    throw Refusal()
                }
            }
            #expect(!db.isInsideTransaction)
            #expect(try values(db) == [])
        }
    }

    @Test("A transaction survives a statement that fails")
    func failingStatement() throws {
        try withTable { db throws in
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (1)") }
                try db.execute(sql: "INSERT INTO t VALUES (2)")
                return .commit
            }
            #expect(try values(db) == [1, 2])
        }
    }

    @Test("A transaction that SQLite rolled back refuses all that follows in its block, and is not committed")
    func aborted() throws {
        try withTable { db throws in
            func useAbortedTransaction() throws {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                    #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1)") }
                    for sql in ["INSERT INTO t VALUES (2)", "SELECT * FROM t", "BEGIN", "ROLLBACK"] {
                        let refusal = try #require(throws: DatabaseError.self) { try db.execute(sql: sql) }
                        #expect(refusal.resultCode == .SQLITE_ABORT)
                        #expect(refusal.message == "Transaction was aborted")
                        #expect(refusal.sql == sql)
                    }
                    return .commit
                }
            }
            let failure = try #require(throws: DatabaseError.self) { try useAbortedTransaction() }
            #expect(failure.resultCode == .SQLITE_ABORT)
            #expect(failure.isInterruptionError)
            #expect(try values(db) == [])
        }
    }

    @Test("A transaction that SQLite rolled back can be rolled back once more")
    func abortedAndRolledBack() throws {
        try withTable { db throws in
            try db.inTransaction {
                #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1), (1)") }
                try db.rollback()
                return .rollback
            }
        }
    }

    @Test("A transaction does not go into another")
    func nested() throws {
        try withTable { db throws in
            let failure = try #require(throws: DatabaseError.self) {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                    try db.inTransaction { .commit }
                    return .commit
                }
            }
            #expect(failure.message == "cannot start a transaction within a transaction")
            #expect(try values(db) == [])
        }
    }

    @Test(
        "A transaction is immediate when nothing else is said, and deferred where only reads are allowed",
        arguments: [
            (nil, "BEGIN IMMEDIATE TRANSACTION"), (.deferred, "BEGIN DEFERRED TRANSACTION"),
            (.immediate, "BEGIN IMMEDIATE TRANSACTION"), (.exclusive, "BEGIN EXCLUSIVE TRANSACTION"),
        ] as [(Database.TransactionKind?, String)])
    func kinds(kind: Database.TransactionKind?, sql: String) throws {
        try withTable { db throws in
            var seen: [String] = []
            db.trace { seen.append("\($0)") }
            try db.inTransaction(kind) { .commit }
            #expect(seen.first == sql)
            seen = []
            try db.readOnly { try db.inTransaction { .commit } }
            #expect(seen.first == "BEGIN DEFERRED TRANSACTION")
            try db.execute(sql: "PRAGMA query_only = 1")
            seen = []
            try db.inTransaction { .commit }
            #expect(seen.contains("BEGIN DEFERRED TRANSACTION"))
            #expect(throws: DatabaseError.self) { try db.inTransaction(.immediate) { .commit } }
        }
    }

    @Test("A transaction that can't be committed is rolled back")
    func failingCommit() throws {
        try withTable { db throws in
            try db.execute(sql: "CREATE TABLE child (a REFERENCES t (a) DEFERRABLE INITIALLY DEFERRED)")
            let failure = try #require(throws: DatabaseError.self) {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO child VALUES (1)")
                    return .commit
                }
            }
            #expect(failure.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            #expect(!db.isInsideTransaction)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM child") == 0)
        }
    }

    @Test("A transaction that is not open can be rolled back, but not committed")
    func notOpen() throws {
        try withTable { db throws in
            try db.rollback()
            #expect(throws: DatabaseError.self) { try db.commit() }
        }
    }

    @Test("A transaction left open at the end of an access stops the program")
    func leftOpen() async {
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            try queue.inDatabase { try $0.beginTransaction() }
        }
    }

    @Test("A transaction may stay open where the configuration allows it")
    func unsafe() throws {
        var configuration = Configuration.encrypted()
        configuration.allowsUnsafeTransactions = true
        try withEncryptedQueue(configuration) { queue throws in
            try queue.inDatabase { try $0.beginTransaction() }
            try queue.inDatabase { try $0.commit() }
        }
    }

    @Test("A transaction is rolled back although an interruption still lasts")
    func interrupted() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
                let failure = try #require(throws: DatabaseError.self) {
                    try db.inTransaction {
                        try db.execute(sql: "INSERT INTO t VALUES (4)")
                        let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
                        _ = try cursor.next()
                        // As long as the cursor is alive, SQLite interrupts whatever runs.
                        queue.interrupt()
                        try withExtendedLifetime(cursor) { try db.execute(sql: "INSERT INTO t VALUES (5)") }
                        return .commit
                    }
                }
                #expect(failure.isInterruptionError)
                #expect(!db.isInsideTransaction)
                #expect(try values(db) == [1, 2, 3])
            }
        }
    }
}

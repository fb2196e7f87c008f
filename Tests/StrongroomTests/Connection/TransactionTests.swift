import Foundation
import Strongroom
import Testing

@Suite("A transaction")
struct TransactionTests {
    private struct Refusal: Error {}

    private func withTable<T>(_ configuration: Configuration = .encrypted(), _ body: (Database) throws -> T) throws -> T {
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

    @Test("is committed or rolled back as its block answers", arguments: [Database.TransactionCompletion.commit, .rollback])
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

    @Test("is rolled back when its block throws")
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

    @Test("survives a statement that fails")
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

    @Test("that SQLite rolled back refuses all that follows in its block, and is not committed")
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

    @Test("that SQLite rolled back can be rolled back once more")
    func abortedAndRolledBack() throws {
        try withTable { db throws in
            try db.inTransaction {
                #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1), (1)") }
                try db.rollback()
                return .rollback
            }
        }
    }

    @Test("does not go into another")
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

    @Test("is immediate when nothing else is said, and deferred where only reads are allowed", arguments: [
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

    @Test("that can't be committed is rolled back")
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

    @Test("that is not open can be rolled back, but not committed")
    func notOpen() throws {
        try withTable { db throws in
            try db.rollback()
            #expect(throws: DatabaseError.self) { try db.commit() }
        }
    }

    @Test("left open at the end of an access stops the program")
    func leftOpen() async {
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            try queue.inDatabase { try $0.beginTransaction() }
        }
    }

    @Test("may stay open where the configuration allows it")
    func unsafe() throws {
        var configuration = Configuration.encrypted()
        configuration.allowsUnsafeTransactions = true
        try withEncryptedQueue(configuration) { queue throws in
            try queue.inDatabase { try $0.beginTransaction() }
            try queue.inDatabase { try $0.commit() }
        }
    }

    @Test("is rolled back although an interruption still lasts")
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

@Suite("A savepoint")
struct SavepointTests {
    private struct Refusal: Error {}

    private func withTable<T>(_ body: (Database) throws -> T) throws -> T {
        try withEncryptedQueue { queue throws in
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "CREATE TABLE t (a UNIQUE)")
                return try body(db)
            }
        }
    }

    private func insert(_ value: Int, _ db: Database) throws {
        try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [value])
    }

    @Test("undoes its own changes only, at any depth")
    func nested() throws {
        try withTable { db throws in
            try db.inTransaction {
                try insert(1, db)
                try db.inSavepoint {
                    try insert(2, db)
                    try db.inSavepoint {
                        try insert(3, db)
                        try db.inSavepoint {
                            try insert(4, db)
                            return .commit
                        }
                        return .rollback
                    }
                    #expect(throws: Refusal.self) {
                        try db.inSavepoint {
                            try insert(5, db)
                            throw Refusal()
                        }
                    }
                    return .commit
                }
                #expect(db.isInsideTransaction)
                return .commit
            }
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1, 2])
        }
    }

    @Test("is a transaction where none is open")
    func alone() throws {
        try withTable { db throws in
            try db.inSavepoint {
                #expect(db.isInsideTransaction)
                try insert(1, db)
                return .rollback
            }
            #expect(!db.isInsideTransaction)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t") == 0)
        }
    }

    @Test("of a transaction that SQLite rolled back takes the transaction with it")
    func aborted() throws {
        try withTable { db throws in
            let failure = try #require(throws: DatabaseError.self) {
                try db.inTransaction {
                    try insert(1, db)
                    try db.inSavepoint {
                        try? db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1)")
                        return .commit
                    }
                    return .commit
                }
            }
            #expect(failure.resultCode == .SQLITE_ABORT)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t") == 0)
        }
    }
}

@Suite("What follows a transaction")
struct AfterTransactionTests {
    /// What was called, in order.
    private final class Calls: @unchecked Sendable {
        var names: [String] = []
    }

    private func calls(_ body: (Database, Calls) throws -> Void) throws -> [String] {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                try db.execute(sql: "CREATE TABLE t (a UNIQUE)")
                let calls = Calls()
                try body(db, calls)
                return calls.names
            }
        }
    }

    private func register(_ db: Database, _ calls: Calls, as name: String = "") {
        db.afterNextTransaction(
            onCommit: { db in
                #expect(!db.isInsideTransaction)
                calls.names.append(name + "commit")
            },
            onRollback: { db in
                #expect(!db.isInsideTransaction)
                calls.names.append(name + "rollback")
            })
    }

    @Test("is told how it ended, once", arguments: [
        ("BEGIN; INSERT INTO t VALUES (1); COMMIT", "commit"),
        ("BEGIN; INSERT INTO t VALUES (1); ROLLBACK", "rollback"),
        ("BEGIN DEFERRED; COMMIT", "commit"),
        ("BEGIN IMMEDIATE; COMMIT", "commit"),
        ("BEGIN; SELECT * FROM t; COMMIT", "commit"),
        ("BEGIN; ROLLBACK", "rollback"),
        ("INSERT INTO t VALUES (1)", "commit"),
        ("SAVEPOINT a; INSERT INTO t VALUES (1); RELEASE a", "commit"),
        ("SAVEPOINT a; INSERT INTO t VALUES (1); ROLLBACK TO a; RELEASE a", "commit"),
        ("BEGIN; INSERT INTO t VALUES (1); INSERT OR ROLLBACK INTO t VALUES (1)", "rollback"),
        ("BEGIN; INSERT INTO t VALUES (1), (1)", nil),
        ("INSERT INTO t VALUES (1), (1)", nil),
        ("SELECT 1", nil),
        ("SAVEPOINT a; INSERT INTO t VALUES (1); ROLLBACK TO a", nil),
    ] as [(String, String?)])
    func endings(sql: String, name: String?) throws {
        let names = try calls { db, calls in
            register(db, calls)
            try? db.execute(sql: sql)
            #expect(calls.names == (name.map { [$0] } ?? []))
            try db.rollback()
            let count = calls.names.count
            try db.execute(sql: "INSERT INTO t VALUES (9)")
            // What was told is not told again.
            if count == 1 { #expect(calls.names.count == 1) }
        }
        #expect(names.count == 1)
    }

    @Test("waits for the end of the transaction, not of the savepoint")
    func savepoint() throws {
        let names = try calls { db, calls in
            try db.inTransaction {
                register(db, calls, as: "outer ")
                try db.inSavepoint {
                    register(db, calls, as: "inner ")
                    return .rollback
                }
                #expect(calls.names == [])
                return .commit
            }
        }
        #expect(names == ["outer commit", "inner commit"])
    }

    @Test("waits while a commit fails and the transaction stays open")
    func failingCommit() throws {
        let names = try calls { db, calls in
            try db.execute(sql: "CREATE TABLE child (a REFERENCES t (a) DEFERRABLE INITIALLY DEFERRED)")
            register(db, calls)
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO child VALUES (1)")
            #expect(throws: DatabaseError.self) { try db.commit() }
            #expect(calls.names == [])
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            try db.commit()
        }
        #expect(names == ["commit"])
    }

    @Test("can use the database, and register for the time after")
    func reenters() throws {
        let names = try calls { db, calls in
            db.afterNextTransaction { db in
                calls.names.append("first")
                db.afterNextTransaction { _ in calls.names.append("second") }
                do {
                    try db.inTransaction {
                        try db.execute(sql: "INSERT INTO t VALUES (2)")
                        return .commit
                    }
                } catch {
                    Issue.record(error)
                }
            }
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                return .commit
            }
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") == [1, 2])
        }
        #expect(names == ["first", "second"])
    }

    @Test("is told of reads too")
    func reads() throws {
        let calls = Calls()
        try withEncryptedQueue { queue throws in
            try queue.read { register($0, calls) }
        }
        #expect(calls.names == ["commit"])
    }
}

@Suite("The date of a transaction")
struct TransactionDateTests {
    private final class Clock: TransactionClock, @unchecked Sendable {
        var count = 0
        func now(_ db: Database) throws -> Date {
            count += 1
            return Date(timeIntervalSince1970: Double(count))
        }
    }

    @Test("is that of its beginning, and the same until its end")
    func date() throws {
        let clock = Clock()
        var configuration = Configuration.encrypted()
        configuration.transactionClock = clock
        try withEncryptedQueue(configuration) { queue throws in
            try queue.inDatabase { db throws in
                clock.count = 0
                try db.inTransaction {
                    #expect(clock.count == 1)
                    #expect(try db.transactionDate == Date(timeIntervalSince1970: 1))
                    try db.inSavepoint {
                        let date = try db.transactionDate
                        #expect(date == Date(timeIntervalSince1970: 1))
                        return .commit
                    }
                    return .commit
                }
                #expect(try db.transactionDate == Date(timeIntervalSince1970: 2))
                #expect(try db.transactionDate == Date(timeIntervalSince1970: 3))
                try db.inTransaction {
                    let date = try db.transactionDate
                    #expect(date == Date(timeIntervalSince1970: 4))
                    return .rollback
                }
                try db.execute(sql: "SAVEPOINT a")
                #expect(try db.transactionDate == Date(timeIntervalSince1970: 5))
                try db.execute(sql: "RELEASE a")
            }
        }
    }

    @Test("is not known when the clock throws")
    func failure() throws {
        struct Stopped: Error {}
        var configuration = Configuration.encrypted()
        configuration.transactionClock = .custom { _ in throw Stopped() }
        try withEncryptedQueue(configuration) { queue throws in
            try queue.write { db throws in
                try db.execute(sql: "CREATE TABLE t (a)")
                #expect(throws: Stopped.self) { try db.transactionDate }
            }
        }
    }
}

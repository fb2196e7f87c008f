import Foundation
import Strongroom
import Testing

@Suite("Callbacks after a transaction")
struct AfterTransactionTests {
    /// The calls, in order.
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

    @Test(
        "A callback after a transaction is called once, with its outcome",
        arguments: [
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
            // A completion is not called again.
            if count == 1 { #expect(calls.names.count == 1) }
        }
        #expect(names.count == 1)
    }

    @Test("A completion waits for the end of the transaction, not of the savepoint")
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

    @Test("A completion waits while a commit fails and the transaction stays open")
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

    @Test("A completion can use the database, and register another one")
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

    @Test("A callback after a transaction is also called for reads")
    func reads() throws {
        let calls = Calls()
        try withEncryptedQueue { queue throws in
            try queue.read { register($0, calls) }
        }
        #expect(calls.names == ["commit"])
    }
}

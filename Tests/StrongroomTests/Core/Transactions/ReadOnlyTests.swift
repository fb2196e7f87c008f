import Foundation
import Strongroom
import Testing

@Suite("A block that only reads")
struct ReadOnlyTests {
    @Test(
        "refuses each kind of write",
        arguments: [
            "INSERT INTO t VALUES (1)", "DELETE FROM t", "CREATE TABLE u (a)", "CREATE TEMP TABLE u (a)",
            "DROP TABLE t",
            "PRAGMA user_version = 3", "BEGIN IMMEDIATE", "VACUUM", "PRAGMA journal_mode = WAL", "PRAGMA optimize",
            "SELECT sqlcipher_export('main')", "ANALYZE", "INSERT INTO t VALUES (1) RETURNING a",
        ])
    func refuses(sql: String) throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                try db.execute(sql: "CREATE TABLE t (a)")
                let failure = try #require(throws: DatabaseError.self) { try db.readOnly { try db.execute(sql: sql) } }
                #expect(failure.resultCode == .SQLITE_READONLY)
                #expect(failure.message == "attempt to write a readonly database")
                #expect(failure.sql == sql)
            }
        }
    }

    @Test("refuses statements that would write while they are compiled")
    func refusesCompilation() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                let failure = try #require(throws: DatabaseError.self) {
                    try db.readOnly { _ = try db.makeStatement(sql: "PRAGMA cipher_migrate") }
                }
                #expect(failure.resultCode == .SQLITE_READONLY)
            }
        }
    }

    @Test(
        "lets statements ask",
        arguments: ["PRAGMA journal_mode", "PRAGMA user_version", "SELECT count(*) FROM t", "EXPLAIN DELETE FROM t"])
    func allows(sql: String) throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                try db.execute(sql: "CREATE TABLE t (a)")
                #expect(try db.readOnly { try Row.fetchOne(db, sql: sql) } != nil)
            }
        }
    }

    @Test("permits writes when it is over, after errors, too")
    func over() throws {
        struct Refusal: Error {}
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                #expect(throws: Refusal.self) { try db.readOnly { try db.readOnly { throw Refusal() } } }
                try db.execute(sql: "CREATE TABLE t (a)")
                #expect(try db.readOnly { try db.readOnly { 1 } } == 1)
                try db.execute(sql: "INSERT INTO t VALUES (1)")
            }
        }
    }
}

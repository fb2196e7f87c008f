import Foundation
import Strongroom
import Testing

@Suite("A block that only reads")
struct ReadOnlyTests {
    @Test("refuses whatever writes", arguments: [
        "INSERT INTO t VALUES (1)", "DELETE FROM t", "CREATE TABLE u (a)", "CREATE TEMP TABLE u (a)", "DROP TABLE t",
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

    @Test("refuses what would write while it is compiled")
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

    @Test("lets writes through when it is over, whatever happened inside")
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

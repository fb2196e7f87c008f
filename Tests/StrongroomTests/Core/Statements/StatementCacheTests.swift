import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("The statement cache")
struct StatementCacheTests {
    @Test("gives the same statement for the same SQL")
    func sameStatement() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                #expect(try db.cachedStatement(sql: "SELECT 1") === db.cachedStatement(sql: "SELECT 1"))
                #expect(try db.cachedStatement(sql: "SELECT 1") !== db.cachedStatement(sql: "SELECT 2"))
                // A convenience call lends a statement to one user at a time.
                let first = try ObjectIdentifier(db.reusableStatement(sql: "SELECT 1"))
                #expect(try ObjectIdentifier(db.reusableStatement(sql: "SELECT 1")) == first)
                let held = try db.reusableStatement(sql: "SELECT 1")
                #expect(try db.reusableStatement(sql: "SELECT 1") !== held)
            }
        }
    }

    @Test("tells SQL apart that looks alike, and has other bytes")
    func bytes() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                let texts = ["\u{e9}", "e\u{301}"]
                try #require(texts[0] == texts[1])
                for text in texts + texts {
                    #expect(try Data.fetchOne(db, sql: "SELECT CAST('\(text)' AS BLOB)") == Data(text.utf8))
                    let statement = try db.cachedStatement(sql: "SELECT length('\(text)')")
                    #expect(try Int.fetchOne(statement) == text.unicodeScalars.count)
                }
            }
        }
    }

    @Test("keeps the program's statements apart from those of convenience calls")
    func apart() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                try db.execute(sql: "CREATE TABLE t (a)")
                let sql = "INSERT INTO t VALUES (?)"
                let statement = try db.cachedStatement(sql: sql)
                statement.arguments = [1]
                try db.execute(sql: sql, arguments: [2])
                try statement.execute()
                #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [2, 1])
            }
        }
    }

    @Test("is bounded, and keeps used statements")
    func bounded() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                weak var first = try db.cachedStatement(sql: "SELECT 0")
                weak var second = try db.cachedStatement(sql: "SELECT -1")
                for number in 1...StatementCache.limit * 4 {
                    _ = try db.cachedStatement(sql: "SELECT \(number)")
                    _ = try db.cachedStatement(sql: "SELECT 0")
                }
                #expect(first != nil)
                #expect(second == nil)
                first = nil
                second = nil
                #expect(try Int.fetchOne(db.cachedStatement(sql: "SELECT -1")) == -1)
            }
        }
    }

    @Test("finds a statement by its place, and no other one, whatever has become of the cache")
    func places() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                func idle(_ place: StatementCache.Place) -> String? { db.reusableStatement(at: place)?.sql }
                func place(_ sql: String) throws -> StatementCache.Place {
                    _ = try db.reusableStatement(sql: sql)
                    return try #require(db.place(ofStatement: sql))
                }
                let first = try place("SELECT 1"), second = try place("SELECT 2")
                #expect(idle(first) == "SELECT 1")
                #expect(idle(second) == "SELECT 2")
                // In use: it is replaced by another statement, which has a place of its own.
                let held = try db.reusableStatement(sql: "SELECT 1")
                #expect(idle(first) == nil)
                let replacement = try place("SELECT 1")
                #expect(replacement != first)
                withExtendedLifetime(held) { #expect(idle(first) == nil) }
                #expect(idle(replacement) == "SELECT 1")
                // Another cache, whose statements have the same positions.
                var others = StatementCaches()
                swap(&db.statements, &others)
                _ = try (place("SELECT 3"), place("SELECT 4"))
                #expect(idle(replacement) == nil)
                #expect(idle(second) == nil)
                swap(&db.statements, &others)
                #expect(idle(second) == "SELECT 2")
                // A cache that was sorted, and one that was cleared.
                for number in 3...StatementCache.limit * 2 { _ = try place("SELECT \(number)") }
                #expect(idle(second) == nil)
                let last = try place("SELECT 1000")
                #expect(idle(last) == "SELECT 1000")
                db.clearSchemaCache()
                _ = try place("SELECT 5")
                #expect([replacement, second, last].allSatisfy { idle($0) == nil })
            }
        }
    }

    @Test("lets a query run within itself")
    func nested() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                let sql = "SELECT value FROM (SELECT 1 AS value UNION SELECT 2 UNION SELECT 3)"
                var pairs: [[Int]] = []
                let outer = try Int.fetchCursor(db, sql: sql)
                while let a = try outer.next() {
                    let inner = try Int.fetchCursor(db, sql: sql)
                    while let b = try inner.next() { pairs.append([a, b]) }
                }
                #expect(pairs == [[1, 1], [1, 2], [1, 3], [2, 1], [2, 2], [2, 3], [3, 1], [3, 2], [3, 3]])
            }
        }
    }

    @Test("serves new columns after this connection has changed the schema")
    func schemaChange() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
                let kept = try db.makeStatement(sql: "SELECT * FROM t")
                #expect(try Row.fetchOne(db, sql: "SELECT * FROM t") == ["a": 1])
                try db.execute(sql: "ALTER TABLE t ADD COLUMN b DEFAULT 2")
                #expect(try Row.fetchOne(db, sql: "SELECT * FROM t") == ["a": 1, "b": 2])
                #expect(try Row.fetchOne(kept) == ["a": 1, "b": 2])
                try db.execute(sql: "DROP TABLE t")
                #expect(throws: DatabaseError.self) { try Row.fetchOne(db, sql: "SELECT * FROM t") }
                #expect(throws: DatabaseError.self) { try Row.fetchOne(kept) }
            }
        }
    }

    @Test("serves new columns after another connection has changed the schema")
    func foreignSchemaChange() throws {
        let folder = try TemporaryFolder()
        let one = try DatabaseQueue(path: folder.path("db"), configuration: .encrypted())
        let other = try DatabaseQueue(path: folder.path("db"), configuration: .encrypted())
        try one.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        #expect(try one.read { try Row.fetchOne($0, sql: "SELECT * FROM t") } == ["a": 1])
        try other.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN b DEFAULT 2") }
        #expect(try one.read { try Row.fetchOne($0, sql: "SELECT * FROM t") } == ["a": 1, "b": 2])
        try one.close()
        try other.close()
    }

    @Test("serves the databases that are attached now", arguments: [true, false])
    func attach(detaching: Bool) throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                try db.execute(sql: "ATTACH ':memory:' AS a; CREATE TABLE a.t AS SELECT 1 AS x")
                #expect(try Int.fetchOne(db, sql: "SELECT x FROM t") == 1)
                if detaching {
                    try db.execute(sql: "DETACH a; ATTACH ':memory:' AS a; CREATE TABLE a.t AS SELECT 2 AS x")
                    #expect(try Int.fetchOne(db, sql: "SELECT x FROM t") == 2)
                } else {
                    // The main schema comes first.
                    try db.execute(sql: "CREATE TABLE main.t AS SELECT 3 AS x")
                    #expect(try Int.fetchOne(db, sql: "SELECT x FROM t") == 3)
                }
            }
        }
    }

    @Test("sees a schema that was rolled back")
    func rollback() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                try db.inTransaction {
                    try db.execute(sql: "CREATE TABLE t (a)")
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                    return .rollback
                }
                #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (1)") }
            }
        }
    }

    @Test("keeps no large argument")
    func largeArguments() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                try db.execute(sql: "CREATE TABLE t (a)")
                for _ in 1...3 {
                    try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [Data(count: 1_000_000)])
                    #expect(try db.reusableStatement(sql: "INSERT INTO t VALUES (?)").arguments.isEmpty)
                }
                #expect(try Int.fetchOne(db, sql: "SELECT sum(length(a)) FROM t") == 3_000_000)
            }
        }
    }
}

import Strongroom
import TestSupport
import Testing

@Suite("A database cursor")
struct DatabaseCursorTests {
    private struct Number: FetchableRecord, Equatable {
        var n: Int
        init(row: Row) throws { n = try row.decode(forColumn: "n") }
    }

    private let threeNumbers = "SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3"

    @Test("reports its statement's SQL, arguments, columns and region")
    func properties() throws {
        try withDatabase { db in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
            let sql = "SELECT id, name FROM player WHERE id = ?"
            let cursor = try Row.fetchCursor(db, sql: sql, arguments: [1], adapter: SuffixRowAdapter(fromIndex: 1))
            #expect(cursor.sql == sql)
            #expect(cursor.arguments == [1])
            #expect(cursor.columnNames == ["id", "name"])
            #expect(cursor.columnCount == 2)
            #expect(cursor.databaseRegion.description == "player(id,name)")
        }
    }

    @Test("gives nil at its end, and from then on")
    func end() throws {
        try withDatabase { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT 1")
            let values = try Int.fetchCursor(db, sql: "SELECT 1")
            let slowValues = try DatabaseValue?.fetchCursor(db, sql: "SELECT 1")
            let records = try Number.fetchCursor(db, sql: "SELECT 1 AS n")
            #expect(try rows.next() != nil)
            #expect(try values.next() != nil)
            #expect(try slowValues.next() != nil)
            #expect(try records.next() != nil)
            for _ in 0..<3 {
                #expect(try rows.next() == nil)
                #expect(try values.next() == nil)
                #expect(try slowValues.next() == nil)
                #expect(try records.next() == nil)
            }
        }
    }

    @Test("fails again after an error of SQLite")
    func errorMidway() throws {
        try withDatabase { db in
            let sql = "SELECT abs(column1) FROM (VALUES (1), (-9223372036854775808), (3))"
            let cursor = try Int.fetchCursor(db, sql: sql)
            #expect(try cursor.next() == 1)
            let error = #expect(throws: DatabaseError.self) { try cursor.next() }
            #expect(error?.message == "integer overflow")
            #expect(error?.sql == sql)
            #expect(throws: DatabaseError.self) { try cursor.next() }
        }
    }

    @Test("can be used after a value that can't be decoded")
    func decodingErrorMidway() throws {
        try withDatabase { db in
            let sql = "SELECT 1 AS n UNION ALL SELECT NULL UNION ALL SELECT 3"
            let values = try Int.fetchCursor(db, sql: sql)
            #expect(try values.next() == 1)
            #expect(throws: RowDecodingError.self) { try values.next() }
            #expect(try values.next() == 3)
            let records = try Number.fetchCursor(db, sql: sql)
            #expect(try records.next()?.n == 1)
            #expect(throws: RowDecodingError.self) { try records.next() }
            #expect(try records.next()?.n == 3)
            #expect(throws: RowDecodingError.self) { try Int.fetchAll(db, sql: sql) }
        }
    }

    @Test("does not disturb others of the same SQL")
    func sameSQL() throws {
        try withDatabase { db in
            var pairs: [Int] = []
            let outer = try Int.fetchCursor(db, sql: threeNumbers)
            while let a = try outer.next() {
                let inner = try Int.fetchCursor(db, sql: threeNumbers)
                while let b = try inner.next() { pairs.append(10 * a + b) }
            }
            #expect(pairs == [11, 12, 13, 21, 22, 23, 31, 32, 33])
        }
    }

    @Test("that is abandoned half way releases its statement and its locks")
    func abandoned() throws {
        try withDatabase { db in
            try db.execute(sql: "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2), (3)")
            do {
                let cursor = try Int.fetchCursor(db, sql: "SELECT n FROM t")
                #expect(try cursor.next() == 1)
                // A table that is being read can't be dropped.
                #expect(throws: DatabaseError.self) { try db.execute(sql: "DROP TABLE t") }
            }
            try db.execute(sql: "DROP TABLE t")
        }
    }

    @Test("that is abandoned half way through a statement that writes leaves all its changes")
    func abandonedWrite() throws {
        try withDatabase { db in
            try db.execute(sql: "CREATE TABLE t (n)")
            _ = try Int.fetchCursor(db, sql: "INSERT INTO t VALUES (1), (2), (3) RETURNING n").next()
            #expect(try Int.fetchAll(db, sql: "SELECT n FROM t") == [1, 2, 3])
            #expect(try Int.fetchOne(db, sql: "INSERT INTO t VALUES (4), (5) RETURNING n") == 4)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 5)
            #expect(!db.isInsideTransaction)
        }
    }

    @Test("for one result of a statement that writes throws errors after the first row")
    func errorAfterFirstRow() throws {
        try withDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY);
                    CREATE TABLE child (parentId INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)
                    """)
            let insert = "INSERT INTO child VALUES (1) RETURNING parentId"
            #expect(throws: DatabaseError.self) { try Int.fetchOne(db, sql: insert) }
            #expect(throws: DatabaseError.self) { try Row.fetchOne(db, sql: insert) }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM child") == 0)
        }
    }

    @Test("sees the columns of a schema that changed between two uses of its SQL")
    func schemaChange() throws {
        try withDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            let sql = "SELECT * FROM t"
            let statement = try db.makeStatement(sql: sql)
            #expect(try Row.fetchAll(statement) == [["a": 1]])
            #expect(try Row.fetchAll(db, sql: sql) == [["a": 1]])
            try db.execute(sql: "ALTER TABLE t ADD COLUMN b DEFAULT 2")
            #expect(try Row.fetchAll(db, sql: sql) == [["a": 1, "b": 2]])
            // Compiled before, recompiled by SQLite at the first step.
            #expect(try Row.fetchAll(statement) == [["a": 1, "b": 2]])
            let cursor = try Row.fetchCursor(statement)
            #expect(try cursor.next()?["b"] == 2)
            try db.execute(sql: "ALTER TABLE t RENAME COLUMN a TO x")
            #expect(try Row.fetchOne(statement) == ["x": 1, "b": 2])
            try db.execute(sql: "ALTER TABLE t DROP COLUMN x")
            #expect(try Row.fetchAll(statement, adapter: ColumnMapping(["y": "b"])) == [["y": 2]])
            #expect(try Int.fetchAll(statement, adapter: ColumnMapping(["y": "b"])) == [2])
        }
    }

    @Test("sees a schema that another connection changed")
    func schemaChangeElsewhere() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("db.sqlite")
        let (one, other) = (
            try DatabaseQueue(path: path, configuration: .encrypted()),
            try DatabaseQueue(path: path, configuration: .encrypted())
        )
        let sql = "SELECT * FROM t"
        try one.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        #expect(try one.read { try Row.fetchAll($0, sql: sql) } == [["a": 1]])
        try other.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN b DEFAULT 2") }
        #expect(try one.read { try Row.fetchAll($0, sql: sql) } == [["a": 1, "b": 2]])
        #expect(try one.read { try Row.fetchAll($0, sql: sql, adapter: SuffixRowAdapter(fromIndex: 1)) } == [["b": 2]])
        try one.close()
        try other.close()
    }

    @Test("can't be made after the access")
    func outlivingAccess() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = try DatabaseQueue()
            var leaked: Statement?
            try queue.inDatabase { leaked = try $0.makeStatement(sql: "SELECT 1") }
            _ = try Int.fetchCursor(leaked!)
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("outside of its database access"))
    }

    @Test("gives rows that can't be read after the access")
    func outlivingRow() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = try DatabaseQueue()
            var leaked: Row?
            try queue.inDatabase { leaked = try Row.fetchCursor($0, sql: "SELECT 1").next() }
            let value: Int = leaked![0]
            print(value)
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("outside of its database access"))
    }

    @Test("gives nothing in a later access")
    func laterAccess() throws {
        try withEncryptedQueue { queue in
            var leaked: FastDatabaseValueCursor<Int>?
            try queue.inDatabase { db in
                leaked = try Int.fetchCursor(db, sql: threeNumbers)
                #expect(try leaked?.next() == 1)
            }
            let value = try queue.inDatabase { _ in try leaked?.next() }
            #expect(value == nil)
        }
    }
}

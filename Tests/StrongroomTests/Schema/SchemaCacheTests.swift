import CSQLCipher
import Foundation
import Strongroom
import TestSupport
import Testing

private final class RunStatements {
    var sql: [String] = []
}

private func noteStatement(
    _ event: UInt32, _ context: UnsafeMutableRawPointer?, _ statement: UnsafeMutableRawPointer?,
    _ text: UnsafeMutableRawPointer?
) -> CInt {
    let statements = Unmanaged<RunStatements>.fromOpaque(context!).takeUnretainedValue()
    statements.sql.append(String(cString: sqlite3_sql(OpaquePointer(statement!))))
    return 0
}

@Suite("The schema cache")
struct SchemaCacheTests {
    /// Two connections to one encrypted file, in WAL mode or not.
    private func withTwoQueues(wal: Bool = true, _ body: (DatabaseQueue, DatabaseQueue) throws -> Void) throws {
        let folder = try TemporaryFolder()
        let first = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
        try first.writeWithoutTransaction { (db) throws in
            if wal { _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") }
            try db.execute(sql: "CREATE TABLE t (a)")
        }
        let second = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
        try body(first, second)
        try first.close()
        try second.close()
    }

    private func names(_ db: Database, _ table: String = "t") throws -> [String] {
        try db.columns(in: table).map(\.name)
    }

    /// The statements that `body` makes the connection run, those of the library included, which `trace` leaves out.
    private func statements(_ db: Database, _ body: () throws -> Void) throws -> [String] {
        let statements = RunStatements()
        sqlite3_trace_v2(
            db.sqliteConnection, UInt32(SQLITE_TRACE_STMT), noteStatement,
            Unmanaged.passUnretained(statements).toOpaque())
        defer { sqlite3_trace_v2(db.sqliteConnection, 0, nil, nil) }
        try body()
        return statements.sql
    }

    @Test("is read once")
    func once() throws {
        try withSchema("CREATE TABLE t (id INTEGER PRIMARY KEY, a REFERENCES t)") { (db) throws in
            func ask() throws {
                _ = try db.columns(in: "t")
                _ = try db.primaryKey("t")
                _ = try db.indexes(on: "t")
                _ = try db.foreignKeys(on: "t")
                _ = try db.tableExists("t")
                _ = try db.table("t", hasUniqueKey: ["id"])
            }
            let first = try statements(db, ask)
            #expect(first.contains { $0.contains("table_xinfo") })
            let second = try statements(db, ask)
            #expect(second.allSatisfy { $0.contains("schema_version") })
        }
    }

    @Test("needs no statement at all inside a transaction that reads")
    func insideTransaction() throws {
        try withSchema("CREATE TABLE t (id INTEGER PRIMARY KEY)") { (db) throws in
            try db.inTransaction(.deferred) {
                _ = try db.primaryKey("t")
                #expect(try statements(db) { _ = try db.primaryKey("t") } == [])
                return .commit
            }
        }
    }

    @Test("follows the connection's own changes")
    func ownChanges() throws {
        try withSchema("CREATE TABLE t (a)") { (db) throws in
            #expect(try names(db) == ["a"])
            try db.execute(sql: "ALTER TABLE t ADD COLUMN b")
            #expect(try names(db) == ["a", "b"])
            try db.execute(sql: "ALTER TABLE t RENAME COLUMN b TO c")
            #expect(try names(db) == ["a", "c"])
            try db.execute(sql: "ALTER TABLE t DROP COLUMN a")
            #expect(try names(db) == ["c"])
            #expect(try db.indexes(on: "t").isEmpty)
            try db.execute(sql: "CREATE INDEX i ON t(c)")
            #expect(try db.indexes(on: "t").map(\.name) == ["i"])
            try db.execute(sql: "ALTER TABLE t RENAME TO u")
            #expect(try !db.tableExists("t"))
            #expect(try names(db, "u") == ["c"])
            try db.execute(sql: "DROP TABLE u")
            #expect(try !db.tableExists("u"))
        }
    }

    @Test("follows tables of temp that come before those of main")
    func temp() throws {
        try withSchema("CREATE TABLE t (a)") { (db) throws in
            #expect(try names(db) == ["a"])
            try db.execute(sql: "CREATE TEMP TABLE t (b)")
            #expect(try names(db) == ["b"])
            try db.execute(sql: "DROP TABLE temp.t")
            #expect(try names(db) == ["a"])
        }
    }

    @Test("follows databases that are attached and detached")
    func attached() throws {
        try withSchema("CREATE TABLE t (a)") { (db) throws in
            #expect(try !db.tableExists("x"))
            try db.execute(sql: "ATTACH ':memory:' AS other KEY ''; CREATE TABLE other.x (a)")
            #expect(try db.tableExists("x"))
            try db.execute(sql: "DETACH other")
            #expect(try !db.tableExists("x"))
            try expectError("no such schema: other") { try db.tableExists("x", in: "other") }
        }
    }

    @Test("forgets changes that a transaction rolled back")
    func rollback() throws {
        try withSchema("CREATE TABLE t (a)") { (db) throws in
            try db.inTransaction {
                try db.execute(sql: "ALTER TABLE t ADD COLUMN b")
                #expect(try names(db) == ["a", "b"])
                return .rollback
            }
            #expect(try names(db) == ["a"])
        }
    }

    @Test("forgets changes that a savepoint rolled back")
    func savepoint() throws {
        try withSchema("CREATE TABLE t (a)") { (db) throws in
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: "ALTER TABLE t ADD COLUMN b")
                    #expect(try names(db) == ["a", "b"])
                    return .rollback
                }
                #expect(try names(db) == ["a"])
                return .commit
            }
            #expect(try names(db) == ["a"])
        }
    }

    @Test("forgets changes that a failure rolled back")
    func failure() throws {
        try withSchema("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)") { (db) throws in
            try db.beginTransaction()
            try db.execute(sql: "ALTER TABLE t ADD COLUMN b")
            #expect(try names(db) == ["a", "b"])
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT OR ROLLBACK INTO t (a) VALUES (1)") }
            #expect(!db.isInsideTransaction)
            #expect(try names(db) == ["a"])
        }
    }

    @Test("is not confused by a change that takes the place of one that was taken back")
    func sameVersion() throws {
        try withTwoQueues { first, second in
            try first.writeWithoutTransaction { (db) throws in
                try db.inTransaction {
                    try db.execute(sql: "ALTER TABLE t ADD COLUMN mine")
                    #expect(try names(db) == ["a", "mine"])
                    return .rollback
                }
                // The schema version of the change that was rolled back.
                try second.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN theirs") }
                #expect(try names(db) == ["a", "theirs"])
            }
        }
    }

    @Test("follows other connections' changes, in every journal mode", arguments: [true, false])
    func otherConnection(wal: Bool) throws {
        try withTwoQueues(wal: wal) { first, second in
            #expect(try first.read { try names($0) } == ["a"])
            #expect(try first.writeWithoutTransaction { try names($0) } == ["a"])
            try second.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN b; CREATE TABLE u (x)") }
            #expect(try first.writeWithoutTransaction { try names($0) } == ["a", "b"])
            #expect(try first.read { try $0.tableExists("u") })
            try second.write { try $0.execute(sql: "DROP TABLE u") }
            #expect(try first.read { try $0.tableExists("u") } == false)
            #expect(try first.writeWithoutTransaction { try $0.tableExists("u") } == false)
        }
    }

    @Test("does not change inside a transaction")
    func isolation() throws {
        try withTwoQueues { first, second in
            try first.read { (db) throws in
                #expect(try names(db) == ["a"])
                try second.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN b") }
                #expect(try names(db) == ["a"])
                #expect(try Row.fetchAll(db, sql: "SELECT * FROM t").isEmpty)
            }
            try first.read { (db) throws in
                #expect(try names(db) == ["a", "b"])
            }
        }
    }

    @Test("is up to date in a transaction that has not read yet")
    func lateSnapshot() throws {
        try withTwoQueues { first, second in
            try first.writeWithoutTransaction { (db) throws in
                #expect(try names(db) == ["a"])
                try db.inTransaction(.deferred) {
                    try second.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN b") }
                    #expect(try names(db) == ["a", "b"])
                    return .commit
                }
            }
        }
    }

    @Test("survives other connections' changes of rows")
    func rowsOnly() throws {
        try withTwoQueues { first, second in
            try first.writeWithoutTransaction { (db) throws in
                _ = try names(db)
                try second.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
                #expect(try statements(db) { _ = try names(db) }.allSatisfy { $0.contains("schema_version") })
            }
        }
    }

    @Test("follows changes in an attached file")
    func attachedFile() throws {
        let folder = try TemporaryFolder()
        let other = try DatabaseQueue(path: folder.path("other.sqlite"))
        try other.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try withSchema("CREATE TABLE u (a)") { (db) throws in
            try db.execute(sql: "ATTACH ? AS other KEY ''", arguments: [folder.path("other.sqlite")])
            #expect(try names(db) == ["a"])
            try other.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN b") }
            #expect(try names(db) == ["a", "b"])
            #expect(try db.columns(in: "t", in: "other").count == 2)
        }
        try other.close()
    }

    @Test("can be forgotten")
    func clear() throws {
        try withSchema("CREATE TABLE t (a)") { (db) throws in
            _ = try names(db)
            db.clearSchemaCache()
            #expect(try statements(db) { _ = try names(db) }.contains { $0.contains("table_xinfo") })
        }
    }

    @Test("A created table is removed when a failure rolls its transaction back")
    func rolledBackByFailure() throws {
        try withSchema("CREATE TABLE team (id INTEGER PRIMARY KEY); INSERT INTO team VALUES (1)") { (db) throws in
            try db.execute(sql: "BEGIN; CREATE TABLE player (id INTEGER PRIMARY KEY)")
            #expect(try db.tableExists("player"))
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT OR ROLLBACK INTO team VALUES (1)") }
            #expect(!db.isInsideTransaction)
            #expect(try !db.tableExists("player"))
        }
    }
}

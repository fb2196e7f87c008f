import Foundation
import Strongroom
import Testing

@Suite("While a database is suspended", .timeLimit(.minutes(2)))
struct SuspensionRuleTests {
    /// A queue on a file in that journal mode.
    private func make(_ mode: String, _ configuration: Configuration = .encrypted()) throws -> QueueFixture {
        let fixture = try QueueFixture(configuration)
        let actual = try fixture.queue.inDatabase { try String.fetchOne($0, sql: "PRAGMA journal_mode = \(mode)") }
        #expect(actual == mode)
        return fixture
    }

    private func expectSuspended(
        _ sql: String, _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation, performing: body)
        #expect(error?.resultCode == .SQLITE_ABORT, sourceLocation: sourceLocation)
        #expect(error?.message == "Database is suspended", sourceLocation: sourceLocation)
        #expect(error?.sql == sql, sourceLocation: sourceLocation)
    }

    @Test(
        "a statement that runs is interrupted, in either journal mode, and reads go on where its transaction is",
        arguments: ["wal", "delete"])
    func runningRead(mode: String) async throws {
        let fixture = try make(mode), queue = fixture.queue
        let held = HeldStatement()
        queue.add(function: held.function)
        let access = StoppableAccess(queue) { db in
            try db.inTransaction { () throws in
                let error = #expect(throws: DatabaseError.self) { _ = try Row.fetchAll(db, sql: "SELECT hold()") }
                #expect(error?.resultCode == .SQLITE_INTERRUPT)
                #expect(error?.message == "interrupted")
                guard mode == "wal" else { return .commit }
                #expect(db.isInsideTransaction)
                #expect(try db.countWines() == 0)
                #expect(try Locks.exclusive(on: fixture.folder.path("db.sqlite")).isEmpty)
                // It has let go of its lock: it can't take it again as if nothing had been.
                queue.resume()
                #expect(throws: DatabaseError.self) { try db.insertWine() }
                queue.suspend()
                return .commit
            }
        }
        try await onThread { held.isRunning.pass() }
        queue.suspend()
        held.mayEnd.open()
        let error = try await access.error()
        #expect((error == nil) == (mode == "wal"), "\(String(describing: error))")
        #expect(try Locks.exclusive(on: fixture.folder.path("db.sqlite")).isEmpty)
        queue.resume()
        #expect(try await queue.read { try $0.countWines() } == 0)
    }

    @Test(
        "a read in a savepoint goes on, and the savepoint ends as it would have",
        arguments: ["BEGIN IMMEDIATE; SAVEPOINT one; SAVEPOINT \"a \"\"b\"", "BEGIN EXCLUSIVE; SAVEPOINT one"])
    func readInSavepoint(beginning: String) throws {
        let queue = try make("wal").queue
        try queue.inDatabase { db throws in
            try db.execute(sql: beginning)
            queue.suspend()
            #expect(try db.countWines() == 0)
            try db.execute(sql: "ROLLBACK TO one; RELEASE one")
            #expect(db.isInsideTransaction)
            try db.execute(sql: "COMMIT")
            queue.resume()
            try db.inTransaction(.immediate) { () throws in
                try db.inSavepoint { () throws in
                    queue.suspend()
                    #expect(try db.countWines() == 0)
                    return .commit
                }
                return .commit
            }
            #expect(!db.isInsideTransaction)
        }
        queue.resume()
        try queue.write { try $0.insertWine() }
    }

    @Test("only statements that take the lock of a writer are refused in WAL mode")
    func walRefusals() throws {
        let queue = try make("wal").queue
        queue.suspend()
        try queue.inDatabase { db throws in
            try db.execute(sql: "BEGIN TRANSACTION; ROLLBACK; SAVEPOINT one; RELEASE one")
            try db.inTransaction(.deferred) { () throws in
                #expect(try db.countWines() == 0)
                try db.inSavepoint { () throws in
                    #expect(try db.countWines() == 0)
                    return .rollback
                }
                expectSuspended("INSERT INTO wine (name) VALUES (?)") { try db.insertWine() }
                // It held no lock: nothing is lost but the statement.
                #expect(try db.countWines() == 0)
                return .commit
            }
            try db.execute(sql: "CREATE TEMP TABLE note (a); INSERT INTO note VALUES (1)")
            for kind in ["IMMEDIATE", "EXCLUSIVE"] {
                expectSuspended("BEGIN \(kind) TRANSACTION") { try db.execute(sql: "BEGIN \(kind) TRANSACTION") }
            }
        }
        expectSuspended("BEGIN IMMEDIATE TRANSACTION") { try queue.write { try $0.insertWine() } }
        #expect(try queue.read { try $0.countWines() } == 0)
        queue.resume()
    }

    @Test("reads are refused without a write-ahead log, and take no lock")
    func rollbackRefusals() throws {
        let fixture = try make("delete"), queue = fixture.queue
        queue.suspend()
        queue.inDatabase { db in
            for sql in ["BEGIN TRANSACTION", "SAVEPOINT one", "SELECT * FROM wine"] {
                expectSuspended(sql) { try db.execute(sql: sql) }
            }
        }
        #expect(try Locks.all(on: fixture.folder.path("db.sqlite")).isEmpty)
    }

    @Test("reads pass however the file came to be in WAL mode", arguments: ["pragma", "stock shell"])
    func laterWAL(by means: String) throws {
        let fixture = try make("delete"), queue = fixture.queue
        if means == "pragma" {
            try queue.inDatabase { _ = try String.fetchOne($0, sql: "PRAGMA journal_mode = WAL") }
        } else {
            #expect(try stockShell(fixture.folder.path("db.sqlite"), "PRAGMA journal_mode = WAL;") == ["wal"])
        }
        queue.suspend()
        #expect(try queue.read { try $0.countWines() } == 0)
        #expect(try Locks.exclusive(on: fixture.folder.path("db.sqlite")).isEmpty)
        queue.resume()
    }

    @Test("reads are refused once the file has left WAL mode")
    func formerWAL() throws {
        let fixture = try QueueFixture(walConfiguration())
        try fixture.queue.inDatabase { _ = try String.fetchOne($0, sql: "PRAGMA journal_mode = DELETE") }
        fixture.queue.suspend()
        expectSuspended("BEGIN DEFERRED TRANSACTION") { _ = try fixture.queue.read { try $0.countWines() } }
        #expect(try Locks.all(on: fixture.folder.path("db.sqlite")).isEmpty)
    }

    @Test(
        "reads of an attached file without a log are refused, and reads of others pass",
        arguments: [WriterKind.queue, .pool])
    func attached(to kind: WriterKind) throws {
        let encryption = Encryption(key: try .random())
        var keyed = Configuration()
        keyed.encryption = encryption
        let other = try make("delete", keyed), path = other.folder.path("db.sqlite")
        var configuration = walConfiguration()
        configuration.prepareDatabase { try $0.attach(path: path, as: "cellar", encryption: encryption) }
        let (writer, folder) = try kind.make(configuration)
        try writer.read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM cellar.wine") }
        writer.suspend()
        #expect(try writer.read { try $0.countWines() } == 0)
        let sql = "SELECT count(*) FROM cellar.wine"
        expectSuspended(sql) { try writer.read { _ = try Int.fetchOne($0, sql: sql) } }
        #expect(try Locks.all(on: path).isEmpty)
        writer.resume()
        _ = folder
    }

    @Test(
        "a transaction over several accesses that is rolled back is missed by the next one", arguments: [true, false])
    func spanningTransaction(isResumed: Bool) throws {
        var configuration = walConfiguration()
        configuration.allowsUnsafeTransactions = true
        let fixture = try QueueFixture(configuration), queue = fixture.queue
        try queue.inDatabase { db in
            try db.beginTransaction()
            try db.insertWine("first half")
        }
        queue.suspend()
        // Behind the rollback.
        queue.inDatabase { _ in }
        if isResumed { queue.resume() }
        for sql in ["INSERT INTO wine (name) VALUES ('second half')"] {
            let error = #expect(throws: DatabaseError.self) { try queue.inDatabase { try $0.execute(sql: sql) } }
            #expect(error?.isInterruptionError == true || error?.resultCode == .SQLITE_ERROR)
        }
        queue.resume()
        try queue.inDatabase { db throws in
            #expect(!db.isInsideTransaction)
            #expect(try db.countWines() == 0)
            try db.inTransaction {
                try db.insertWine()
                return .commit
            }
        }
    }

    @Test(
        "every statement passes in WAL mode that takes no lock of a writer",
        arguments: [
            "SELECT * FROM wine", "VALUES (1)", "EXPLAIN DELETE FROM wine", "EXPLAIN QUERY PLAN SELECT * FROM wine",
            "BEGIN DEFERRED; SELECT * FROM wine; COMMIT", "SAVEPOINT a; SELECT * FROM wine; ROLLBACK TO a; RELEASE a",
            "CREATE TEMP TABLE x(a); INSERT INTO x VALUES (1); DROP TABLE x",
            "CREATE TEMP VIEW v AS SELECT * FROM wine",
            "ATTACH ':memory:' AS m; DETACH m", "PRAGMA user_version", "PRAGMA journal_mode", "PRAGMA table_info(wine)",
            "PRAGMA integrity_check", "PRAGMA foreign_key_check", "PRAGMA cipher_integrity_check", "PRAGMA page_count",
            "PRAGMA cache_size = 100", "PRAGMA foreign_keys = ON", "PRAGMA query_only = 1",
            "PRAGMA wal_autocheckpoint = 100",
            "PRAGMA synchronous = FULL", "PRAGMA data_version", "PRAGMA freelist_count", "PRAGMA shrink_memory",
        ])
    func passingStatement(sql: String) throws {
        let queue = try make("wal").queue
        queue.suspend()
        try queue.inDatabase { db throws in
            try db.execute(sql: sql)
            #expect(try Locks.exclusive(on: queue.path).isEmpty)
        }
    }

    @Test(
        "every other statement is refused",
        arguments: [
            "INSERT INTO wine (name) VALUES ('a')", "INSERT INTO wine (name) VALUES ('a') RETURNING id",
            "REPLACE INTO wine VALUES (1, 'a')",
            "UPDATE wine SET name = 'a'", "DELETE FROM wine", "DELETE FROM wine WHERE 0", "CREATE TABLE a(b)",
            "DROP TABLE wine",
            "ALTER TABLE wine ADD COLUMN c", "CREATE INDEX i ON wine(name)", "CREATE VIRTUAL TABLE f USING fts5(a)",
            "VACUUM", "ANALYZE",
            "PRAGMA user_version = 1", "PRAGMA application_id = 3", "PRAGMA wal_checkpoint",
            "PRAGMA wal_checkpoint(TRUNCATE)",
            "PRAGMA journal_mode = DELETE", "PRAGMA incremental_vacuum", "PRAGMA optimize",
        ])
    func refusedStatement(sql: String) throws {
        let queue = try make("wal").queue
        queue.suspend()
        try queue.inDatabase { db throws in
            expectSuspended(sql) { try db.execute(sql: sql) }
            #expect(try Locks.exclusive(on: queue.path).isEmpty)
        }
    }
}

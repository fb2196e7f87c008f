import Foundation
import Testing

@testable import Strongroom

private struct Wines: DatabaseRegionConvertible {
    func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try SQLRequest<Row>(sql: "SELECT * FROM wine").databaseRegion(db)
    }
}

private struct NoRegion: DatabaseRegionConvertible {
    struct Failure: Error {}
    func databaseRegion(_ db: Database) throws -> DatabaseRegion { throw Failure() }
}

@Suite("Region observations")
struct RegionObservationTests {
    func observe(
        _ regions: any DatabaseRegionConvertible..., in writer: any DatabaseWriter
    ) -> (Shared<Int>, AnyDatabaseCancellable) {
        let changes = Shared(0)
        let cancellable = DatabaseRegionObservation(tracking: regions).start(in: writer) { error in
            Issue.record(error)
        } onChange: { _ in
            changes.update { $0 += 1 }
        }
        return (changes, cancellable)
    }

    @Test("Each transaction that changes the region is notified once", arguments: WriterKind.allCases)
    func changes(_ kind: WriterKind) throws {
        let (writer, _) = try kind.make()
        let (changes, cancellable) = observe(Wines(), in: writer)
        try writer.write { db in
            try db.insertWine()
            try db.insertWine()
        }
        #expect(changes.value == 1)
        try writer.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY)") }
        let afterCreation = changes.value
        try writer.write { try $0.execute(sql: "INSERT INTO note DEFAULT VALUES") }
        try writer.write { try $0.execute(sql: "UPDATE wine SET name = 'x' WHERE id = 99") }
        #expect(changes.value == afterCreation)
        try? writer.write { db in
            try db.insertWine()
            throw CancellationError()
        }
        #expect(changes.value == afterCreation)
        cancellable.cancel()
        try writer.write { try $0.insertWine() }
        #expect(changes.value == afterCreation)
    }

    @Test("A row that gets another rowid changes regions with the rowid, and not those of other columns")
    func movedRows() throws {
        let (writer, _) = try WriterKind.allCases[0].make()
        let first = try writer.write { db in
            try db.insertWine()
            return db.lastInsertedRowID
        }
        let (names, ofNames) = observe(SQLRequest<Row>(sql: "SELECT name FROM wine"), in: writer)
        let (rows, ofRows) = observe(SQLRequest<Row>(sql: "SELECT name FROM wine WHERE id = \(first)"), in: writer)
        try writer.write { try $0.execute(sql: "UPDATE wine SET id = id") }
        #expect((names.value, rows.value) == (0, 1))
        try writer.write { try $0.execute(sql: "UPDATE wine SET id = 1000 WHERE id = ?", arguments: [first]) }
        #expect((names.value, rows.value) == (0, 2))
        withExtendedLifetime((ofNames, ofRows)) {}
    }

    @Test("Objects that a cancelled observation releases can still use the database", arguments: WriterKind.allCases)
    func farewell(_ kind: WriterKind) throws {
        let (writer, _) = try kind.make()
        let observe = { (farewell: Farewell) in
            try DatabaseRegionObservation(tracking: Wines()).start(in: writer) { _ in withExtendedLifetime(farewell) {}
            }
        }
        let cancellable = try observe(Farewell { try! writer.write { try $0.insertWine() } })
        start { cancellable.cancel() }.pass()
        #expect(try writer.read { try $0.countWines() } == 1)
    }

    @Test("Rolled back changes are not notified with the next commit", arguments: WriterKind.allCases)
    func rollback(_ kind: WriterKind) throws {
        let (writer, _) = try kind.make()
        try writer.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY)") }
        let (changes, cancellable) = observe(Wines(), in: writer)
        try? writer.write { db in
            try db.insertWine()
            throw CancellationError()
        }
        try writer.write { try $0.execute(sql: "INSERT INTO note DEFAULT VALUES") }
        #expect(changes.value == 0)
        cancellable.cancel()
    }

    @Test("The change is notified with its connection, outside of the transaction, before the next access")
    func connection() throws {
        let fixture = try PoolFixture()
        let counts = Shared<[Int]>([])
        let cancellable = try DatabaseRegionObservation(tracking: Wines()).start(in: fixture.pool) { (db: Database) in
            #expect(!db.isInsideTransaction)
            counts.update { $0.append((try? db.countWines()) ?? -1) }
        }
        for _ in 1...3 { try fixture.pool.write { try $0.insertWine() } }
        #expect(counts.value == [1, 2, 3])
        cancellable.cancel()
    }

    @Test("The full database includes tables that are created later, and the schema itself")
    func fullDatabase() throws {
        let fixture = try QueueFixture()
        let (changes, cancellable) = observe(DatabaseRegion.fullDatabase, in: fixture.queue)
        try fixture.queue.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY)") }
        #expect(changes.value == 1)
        try fixture.queue.write { try $0.execute(sql: "INSERT INTO note DEFAULT VALUES") }
        #expect(changes.value == 2)
        cancellable.cancel()
    }

    @Test("An observation ends when its cancellable is released")
    func deinitialization() throws {
        let fixture = try QueueFixture()
        var (changes, cancellable): (Shared<Int>, AnyDatabaseCancellable?) = observe(Wines(), in: fixture.queue)
        try fixture.queue.write { try $0.insertWine() }
        #expect(cancellable != nil)
        cancellable = nil
        try fixture.queue.write { try $0.insertWine() }
        #expect(changes.value == 1)
        changes = Shared(0)
    }

    @Test("A region that can't be computed is an error", arguments: WriterKind.allCases)
    func failure(_ kind: WriterKind) throws {
        let (writer, _) = try kind.make()
        let hasFailed = Gate()
        let cancellable = DatabaseRegionObservation(tracking: NoRegion()).start(
            in: writer, onError: { if $0 is NoRegion.Failure { hasFailed.open() } }, onChange: { _ in })
        hasFailed.pass()
        cancellable.cancel()
        #expect(throws: NoRegion.Failure.self) {
            try DatabaseRegionObservation(tracking: NoRegion()).start(in: writer) { _ in }
        }
    }

    @Test("An observation that starts inside a write sees the rest of it")
    func startInsideWrite() throws {
        let fixture = try PoolFixture()
        let cancellable = Shared<AnyDatabaseCancellable?>(nil)
        let changes = Shared(0)
        try fixture.pool.write { db in
            let (counter, started) = observe(Wines(), in: fixture.pool)
            cancellable.update { $0 = started }
            try db.insertWine()
            changes.update { $0 = counter.value }
            db.afterNextTransaction { _ in changes.update { $0 = counter.value } }
        }
        #expect(changes.value == 1)
    }

    @Test(
        "Changes that SQLite does not report row by row count",
        arguments: [
            "INSERT INTO plain VALUES (2)",
            "REPLACE INTO wine (id, name) VALUES (5, 'Chinon')",
            "INSERT INTO replacing VALUES (3, 'Chinon')",
            "DROP TABLE wine",
            "ALTER TABLE wine ADD COLUMN score",
            "DELETE FROM wine",
        ])
    func unreported(_ sql: String) throws {
        let fixture = try QueueFixture()
        try fixture.queue.write { db in
            try db.execute(
                sql: """
                    CREATE UNIQUE INDEX names ON wine (name);
                    INSERT INTO wine (id, name) VALUES (1, 'Chinon');
                    CREATE TABLE plain (id INTEGER PRIMARY KEY) WITHOUT ROWID;
                    CREATE TABLE replacing (id INTEGER PRIMARY KEY, name UNIQUE ON CONFLICT REPLACE);
                    INSERT INTO replacing VALUES (1, 'Chinon');
                    """)
        }
        let (changes, cancellable) = observe(
            Wines(), SQLRequest<Row>(sql: "SELECT * FROM plain"), SQLRequest<Row>(sql: "SELECT * FROM replacing"),
            in: fixture.queue)
        try fixture.queue.write { try $0.execute(sql: sql) }
        #expect(changes.value == 1)
        cancellable.cancel()
    }

    /// A queue with tables in which writes meet conflicts: observed are rows 1 of `wine` and of `replacing`.
    private func observingFirstRows(_ body: (DatabaseQueue, Shared<Int>) throws -> Void) throws {
        let fixture = try QueueFixture()
        try fixture.queue.write { db in
            try db.execute(
                sql: """
                    CREATE UNIQUE INDEX names ON wine (name);
                    INSERT INTO wine (id, name) VALUES (1, 'Chinon'), (2, 'Bandol');
                    CREATE TABLE replacing (id INTEGER PRIMARY KEY, name UNIQUE ON CONFLICT REPLACE);
                    INSERT INTO replacing VALUES (1, 'Chinon'), (2, 'Bandol');
                    CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT DEFAULT 'replace me');
                    CREATE TABLE cause (id INTEGER PRIMARY KEY);
                    CREATE TRIGGER effect AFTER INSERT ON cause BEGIN
                        INSERT OR REPLACE INTO wine (id, name) VALUES (7, 'Chinon');
                    END;
                    CREATE VIEW cellar AS SELECT * FROM wine;
                    CREATE TRIGGER storage INSTEAD OF INSERT ON cellar BEGIN
                        REPLACE INTO wine VALUES (NEW.id, NEW.name);
                    END;
                    """)
        }
        let regions = ["wine", "replacing", "note"].map { table in
            AnyDatabaseRegionConvertible { try Table(table).filter(key: 1).databaseRegion($0) }
        }
        let (changes, cancellable) = observe(regions[0], regions[1], regions[2], in: fixture.queue)
        try body(fixture.queue, changes)
        cancellable.cancel()
    }

    @Test(
        "A row that another one replaces counts as a change",
        arguments: [
            "REPLACE INTO wine (id, name) VALUES (5, 'Chinon')",
            "INSERT OR/**/REPLACE INTO wine (name) VALUES ('Chinon')",
            "UPDATE OR REPLACE wine SET name = 'Chinon' WHERE id = 2",
            "INSERT INTO replacing VALUES (3, 'Chinon')",
            "INSERT INTO replacing (name) SELECT name FROM wine",
            "UPDATE replacing SET name = 'Chinon' WHERE id = 2",
            "INSERT INTO cause DEFAULT VALUES",
            "INSERT INTO cellar VALUES (5, 'Chinon')",
            "UPDATE wine SET id = 9 WHERE id = 1",
        ])
    func replacements(_ sql: String) throws {
        try observingFirstRows { queue, changes in
            try queue.write { db in
                let count = """
                    SELECT (SELECT COUNT(*) FROM wine WHERE id = 1) + (SELECT COUNT(*) FROM replacing WHERE id = 1)
                    """
                #expect(try Int.fetchOne(db, sql: count) == 2)
                try db.execute(sql: sql)
                #expect(try Int.fetchOne(db, sql: count) == 1)
            }
            #expect(changes.value == 1)
        }
    }

    @Test(
        "A statement that replaces no row of a table doesn't count, even with the word REPLACE",
        arguments: [
            "UPDATE wine SET name = replace(name, 'a', 'b') WHERE id = 2",
            "INSERT INTO wine (name) VALUES ('replace')",
            "INSERT INTO wine (name) VALUES ('Chinon') ON CONFLICT (name) DO NOTHING",
            "INSERT OR IGNORE INTO wine (name) VALUES ('Chinon')",
            "INSERT INTO note (id) VALUES (2)",
            "DELETE FROM wine WHERE id = 2",
            """
            WITH RECURSIVE n(i) AS (VALUES (2) UNION ALL SELECT i + 1 FROM n WHERE i < 5) INSERT INTO note (id) \
            SELECT i FROM n
            """,
        ])
    func harmlessStatements(_ sql: String) throws {
        try observingFirstRows { queue, changes in
            try queue.write { try $0.execute(sql: sql) }
            #expect(changes.value == 0)
        }
    }

    @Test("A compiled statement replaces rows once there is an index that makes it", arguments: [false, true])
    func laterIndex(isForeign: Bool) throws {
        try observingFirstRows { queue, changes in
            try queue.write { try $0.execute(sql: "INSERT INTO note VALUES (1, 'a')") }
            let sql = "INSERT OR REPLACE INTO note (id, text) VALUES (?, ?)"
            let former = changes.value
            try queue.write { try $0.execute(sql: sql, arguments: [2, "b"]) }
            #expect(changes.value == former)
            let creation = "CREATE UNIQUE INDEX texts ON note (text)"
            if isForeign {
                let other = try DatabaseQueue(path: queue.path, configuration: queue.configuration)
                try other.write { try $0.execute(sql: creation) }
                try other.close()
            } else {
                try queue.write { try $0.execute(sql: creation) }
            }
            let latest = changes.value
            try queue.write { try $0.execute(sql: sql, arguments: [3, "a"]) }
            #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT id FROM note ORDER BY id") } == [2, 3])
            #expect(changes.value == latest + 1)
        }
    }

    @Test("A subscription calls its function directly, also at repeated requests")
    func subscription() throws {
        let fixture = try QueueFixture(), changes = Shared(0)
        let subscription = RegionSubscription(
            onError: { Issue.record($0) }, onEvent: { _ in changes.update { $0 += 1 } })
        for _ in 0..<500_000 where !subscription.isActive { Issue.record("The subscription has ended.") }
        try fixture.queue.inDatabase { try subscription.begin([Table("wine")], on: $0) }
        try fixture.queue.write { try $0.insertWine() }
        #expect(changes.value == 1)
        fixture.queue.inDatabase(subscription.end)
    }

    @Test("Erasing a database, and restoring a backup into it, change everything", arguments: WriterKind.allCases)
    func newContent(_ kind: WriterKind) throws {
        let (writer, _) = try kind.make()
        let source = try QueueFixture()
        let (changes, cancellable) = observe(Wines(), in: writer)
        try writer.erase()
        #expect(changes.value == 1)
        try source.queue.backup(to: writer)
        #expect(changes.value == 2)
        cancellable.cancel()
    }

    @Test("A trigger that another connection creates makes its changes seen")
    func foreignTrigger() throws {
        let fixture = try PoolFixture()
        try fixture.pool.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY)") }
        try fixture.pool.write { try $0.insertWine() }
        let (changes, cancellable) = observe(SQLRequest<Row>(sql: "SELECT * FROM note"), in: fixture.pool)
        try fixture.pool.write { try $0.insertWine() }
        #expect(changes.value == 0)
        let other = try DatabaseQueue(path: fixture.path, configuration: .encrypted())
        try other.write {
            try $0.execute(sql: "CREATE TRIGGER t AFTER INSERT ON wine BEGIN INSERT INTO note VALUES (NULL); END")
        }
        try other.close()
        try fixture.pool.write { try $0.insertWine() }
        #expect(changes.value == 1)
        try fixture.pool.write { try $0.insertWine() }
        #expect(changes.value == 2)
        cancellable.cancel()
    }

    @Test("A cancellable cancels once, also through its wrappers")
    func cancelOnce() {
        let cancellations = Shared(0)
        let first = AnyDatabaseCancellable { cancellations.update { $0 += 1 } }
        let second = AnyDatabaseCancellable(first)
        second.cancel()
        second.cancel()
        first.cancel()
        #expect(cancellations.value == 1)
    }
}

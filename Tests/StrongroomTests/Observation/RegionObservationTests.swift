import Foundation
import Strongroom
import Testing

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
    private func observe(
        _ regions: any DatabaseRegionConvertible..., in writer: any DatabaseWriter) -> (Shared<Int>, AnyDatabaseCancellable)
    {
        let changes = Shared(0)
        let cancellable = DatabaseRegionObservation(tracking: regions).start(in: writer) { error in
            Issue.record(error)
        } onChange: { _ in
            changes.update { $0 += 1 }
        }
        return (changes, cancellable)
    }

    @Test("Each transaction that changes the region is told once", arguments: WriterKind.allCases)
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

    @Test("What goes away with a cancelled observation can still use the database", arguments: WriterKind.allCases)
    func farewell(_ kind: WriterKind) throws {
        let (writer, _) = try kind.make()
        let observe = { (farewell: Farewell) in
            try DatabaseRegionObservation(tracking: Wines()).start(in: writer) { _ in withExtendedLifetime(farewell) {} }
        }
        let cancellable = try observe(Farewell { try! writer.write { try $0.insertWine() } })
        start { cancellable.cancel() }.pass()
        #expect(try writer.read { try $0.countWines() } == 1)
    }

    @Test("What was rolled back is not told with the next commit", arguments: WriterKind.allCases)
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

    @Test("The change is told with the connection that made it, outside of its transaction, before its next access")
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

    @Test("An observation ends when its cancellable goes away")
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

    @Test("A region that can't be told is an error", arguments: WriterKind.allCases)
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
        "Changes that SQLite does not tell row by row count",
        arguments: [
            "INSERT INTO plain VALUES (2)",
            "REPLACE INTO wine (id, name) VALUES (5, 'Chinon')",
            "INSERT INTO replacing VALUES (3, 'Chinon')",
            "DROP TABLE wine",
            "ALTER TABLE wine ADD COLUMN score",
            "DELETE FROM wine",
        ])
    func untold(_ sql: String) throws {
        let fixture = try QueueFixture()
        try fixture.queue.write { db in
            try db.execute(sql: """
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

    @Test("A cancellable cancels once, whatever stands for it")
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

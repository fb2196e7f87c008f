import Foundation
import Strongroom
import TestSupport
import Testing

/// A migrator whose migrations each create a table of their name.
private func creating(_ names: String...) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    for name in names {
        migrator.registerMigration(name) { db in try db.create(table: name) { t in t.column("x") } }
    }
    return migrator
}

private func breakForeignKey(_ db: Database) throws {
    try db.execute(
        sql: """
            CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p(id)); INSERT INTO c VALUES (4)
            """)
}

private func tables(_ db: Database) throws -> Set<String> {
    try String.fetchSet(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
}

private struct Failure: Error {}

@Suite("Migrations")
struct MigratorTests {
    @Test("Migrations run once, in the order of registration")
    func order() throws {
        try withEncryptedQueue { (queue) throws in
            try creating("b", "a").migrate(queue)
            try creating("b", "a", "c").migrate(queue)
            let history = try queue.read {
                try String.fetchAll($0, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
            }
            #expect(history == ["b", "a", "c"])
        }
    }

    @Test("migrate(upTo:) stops after its migration")
    func upTo() throws {
        try withEncryptedQueue { (queue) throws in
            let migrator = creating("a", "b", "c")
            try migrator.migrate(queue, upTo: "b")
            try queue.read { (db) throws in
                #expect(try migrator.appliedMigrations(db) == ["a", "b"])
                #expect(try !migrator.hasCompletedMigrations(db))
            }
        }
    }

    @Test("asyncMigrate calls back when all is done")
    func asyncMigrate() throws {
        try withEncryptedQueue { (queue) throws in
            let migrator = creating("a")
            let done = DispatchSemaphore(value: 0)
            let lock = NSLock()
            nonisolated(unsafe) var found: Set<String> = []
            migrator.asyncMigrate(queue) { result in
                lock.withLock { found = (try? result.get()).flatMap { try? migrator.appliedIdentifiers($0) } ?? [] }
                done.signal()
            }
            done.wait()
            #expect(lock.withLock { found } == ["a"])
        }
    }

    @Test("asyncMigrate calls back with the failure")
    func asyncFailure() throws {
        try withEncryptedQueue { (queue) throws in
            var migrator = DatabaseMigrator()
            migrator.registerMigration("a") { _ in throw Failure() }
            let done = DispatchSemaphore(value: 0)
            let lock = NSLock()
            nonisolated(unsafe) var failure: (any Error)?
            migrator.asyncMigrate(queue) { result in
                if case .failure(let error) = result { lock.withLock { failure = error } }
                done.signal()
            }
            done.wait()
            #expect(lock.withLock { failure } is Failure)
        }
    }

    @Test("The first migration that fails leaves the file as it was, byte by byte")
    func failureLeavesFile() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("db.sqlite")
        let queue = try DatabaseQueue(path: path, configuration: .encrypted())
        try queue.write { try $0.execute(sql: "CREATE TABLE kept(x)") }
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        var migrator = DatabaseMigrator()
        migrator.registerMigration("a") { (db) throws in
            try db.execute(sql: "CREATE TABLE gone(x)")
            throw Failure()
        }
        #expect(throws: Failure.self) { try migrator.migrate(queue) }
        try queue.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test("Migrations before the one that fails stay")
    func failureKeepsFormer() throws {
        try withEncryptedQueue { (queue) throws in
            var migrator = creating("a")
            migrator.registerMigration("b") { (db) throws in
                try db.execute(sql: "CREATE TABLE b(x)")
                throw Failure()
            }
            #expect(throws: Failure.self) { try migrator.migrate(queue) }
            try queue.read { (db) throws in
                #expect(try tables(db) == ["a", "grdb_migrations"])
                #expect(try migrator.completedMigrations(db) == ["a"])
            }
        }
    }

    @Test("A database that GRDB has migrated is migrated further")
    func grdbHistory() throws {
        try withEncryptedQueue { (queue) throws in
            try queue.write { (db) throws in
                try db.execute(
                    sql: """
                        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                        INSERT INTO grdb_migrations VALUES ('a'); CREATE TABLE a(x)
                        """)
            }
            try creating("a", "b").migrate(queue)
            #expect(try queue.read(tables) == ["a", "b", "grdb_migrations"])
        }
    }

    // MARK: - Foreign keys

    @Test("Foreign keys that a migration breaks are found at its end, and enforcement is back")
    func deferredChecks() throws {
        try withEncryptedQueue { (queue) throws in
            var migrator = DatabaseMigrator()
            migrator.registerMigration("a", migrate: breakForeignKey)
            #expect {
                try migrator.migrate(queue)
            } throws: { ($0 as? DatabaseError)?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY }
            try queue.writeWithoutTransaction { (db) throws in
                #expect(try tables(db).isEmpty)
                #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true)
            }
        }
    }

    @Test("Deferred checks allow recreating a table that other rows refer to")
    func recreatedTable() throws {
        try withEncryptedQueue { (queue) throws in
            var migrator = DatabaseMigrator()
            migrator.registerMigration("a") { (db) throws in
                try db.execute(
                    sql: """
                        CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p(id) ON DELETE CASCADE);
                        INSERT INTO p VALUES (1); INSERT INTO c VALUES (1)
                        """)
            }
            migrator.registerMigration("b") { (db) throws in
                try db.execute(
                    sql: """
                        CREATE TABLE n(id INTEGER PRIMARY KEY, x); INSERT INTO n(id) SELECT id FROM p;
                        DROP TABLE p; ALTER TABLE n RENAME TO p
                        """)
            }
            try migrator.migrate(queue)
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM c") } == 1)
        }
    }

    @Test("Immediate checks fail at the statement")
    func immediateChecks() throws {
        try withEncryptedQueue { (queue) throws in
            var migrator = DatabaseMigrator()
            migrator.registerMigration("a", foreignKeyChecks: .immediate, migrate: breakForeignKey)
            #expect {
                try migrator.migrate(queue)
            } throws: { ($0 as? DatabaseError)?.sql == "INSERT INTO c VALUES (4)" }
        }
    }

    @Test("disablingDeferredForeignKeyChecks concerns the migrations registered from then on")
    func disabledChecks() throws {
        var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
        migrator.registerMigration("a", migrate: breakForeignKey)
        try withEncryptedQueue { (queue) throws in
            try migrator.migrate(queue)
            #expect(try queue.read { try Bool.fetchOne($0, sql: "PRAGMA foreign_keys") } == true)
        }
        var late = DatabaseMigrator()
        late.registerMigration("a", migrate: breakForeignKey)
        late = late.disablingDeferredForeignKeyChecks()
        _ = try withEncryptedQueue { (queue) throws in
            #expect(throws: DatabaseError.self) { try late.migrate(queue) }
        }
    }

    // MARK: - Merging

    @Test(
        "A merged migration learns which of the former ones ran, and takes their place",
        arguments: [
            ["v1"], ["v1", "v2"], ["v1", "v2", "v3"], ["v1", "v2", "v3", "v4"],
        ])
    func merging(former: [String]) throws {
        try withEncryptedQueue { (queue) throws in
            var old = DatabaseMigrator()
            for name in former { old.registerMigration(name) { try $0.execute(sql: "CREATE TABLE \(name)(x)") } }
            try old.migrate(queue)

            var migrator = creating("v1")
            migrator.registerMigration("m", merging: ["v2", "v3"]) { db, applied in
                for name in ["v2", "v3"] where !applied.contains(name) {
                    try db.execute(sql: "CREATE TABLE \(name)(x)")
                }
            }
            migrator.registerMigration("v4") { try $0.execute(sql: "CREATE TABLE v4(x)") }
            try migrator.migrate(queue)
            try queue.read { (db) throws in
                #expect(try tables(db) == ["v1", "v2", "v3", "v4", "grdb_migrations"])
                #expect(try migrator.appliedIdentifiers(db) == ["v1", "m", "v4"])
                #expect(try migrator.hasCompletedMigrations(db))
                #expect(try !migrator.hasBeenSuperseded(db))
            }
        }
    }

    @Test("Merged migrations are forgotten, even if the migration ran under that name before")
    func mergingIntoFormer() throws {
        try withEncryptedQueue { (queue) throws in
            var old = DatabaseMigrator()
            for name in ["v1", "v2", "v3"] { old.registerMigration(name) { _ in } }
            try old.migrate(queue)
            var migrator = DatabaseMigrator()
            migrator.registerMigration("v1") { _ in }
            migrator.registerMigration("v3", merging: ["v2"]) { _, _ in Issue.record("v3 has run before") }
            #expect(try queue.read { (db) throws in try migrator.hasBeenSuperseded(db) })
            try migrator.migrate(queue)
            try queue.read { (db) throws in
                #expect(try migrator.appliedIdentifiers(db) == ["v1", "v3"])
                #expect(try !migrator.hasBeenSuperseded(db))
            }
        }
    }

    // MARK: - State

    @Test("A new database has no history")
    func newDatabase() throws {
        try withEncryptedQueue { (queue) throws in
            try queue.read { (db) throws in
                let migrator = creating("a")
                #expect(try migrator.appliedIdentifiers(db).isEmpty)
                #expect(try migrator.completedMigrations(db).isEmpty)
                #expect(try !migrator.hasCompletedMigrations(db))
                #expect(try !migrator.hasBeenSuperseded(db))
                #expect(try !migrator.hasSchemaChanges(db))
                #expect(try DatabaseMigrator().hasCompletedMigrations(db))
            }
        }
    }

    @Test("A database with an unknown migration has been superseded")
    func superseded() throws {
        try withEncryptedQueue { (queue) throws in
            try creating("a", "b").migrate(queue)
            try queue.read { (db) throws in
                let former = creating("a")
                #expect(try former.hasBeenSuperseded(db))
                #expect(try former.hasCompletedMigrations(db))
                #expect(try former.appliedIdentifiers(db) == ["a", "b"])
                #expect(try former.appliedMigrations(db) == ["a"])
            }
        }
    }

    @Test("A migration is completed only when all before it are")
    func completed() throws {
        try withEncryptedQueue { (queue) throws in
            try creating("a").migrate(queue)
            try queue.read { (db) throws in
                let inserted = creating("0", "a")
                #expect(try inserted.appliedMigrations(db) == ["a"])
                #expect(try inserted.completedMigrations(db) == [])
            }
        }
    }

    // MARK: - Schema changes

    @Test("Schema changes are seen in the schema, not in the data")
    func schemaChanges() throws {
        try withEncryptedQueue { (queue) throws in
            let migrator = creating("a")
            try migrator.migrate(queue)
            try queue.write { try $0.execute(sql: "INSERT INTO a VALUES (1)") }
            #expect(try !queue.read(migrator.hasSchemaChanges))
            try queue.write { try $0.execute(sql: "CREATE INDEX i ON a(x)") }
            #expect(try queue.read(migrator.hasSchemaChanges))
        }
    }

    @Test("eraseDatabaseOnSchemaChange migrates again after a change, and keeps the data without one")
    func erasing() throws {
        try withEncryptedQueue { (queue) throws in
            var migrator = creating("a")
            migrator.eraseDatabaseOnSchemaChange = true
            try migrator.migrate(queue)
            try queue.write { try $0.execute(sql: "INSERT INTO a VALUES (1)") }
            try migrator.migrate(queue)
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM a") } == 1)

            var changed = DatabaseMigrator()
            changed.eraseDatabaseOnSchemaChange = true
            changed.registerMigration("a") { (db) throws in
                try db.create(table: "a") { t in
                    t.column("x")
                    t.column("y")
                }
            }
            try changed.migrate(queue)
            try queue.read { (db) throws in
                #expect(try db.columns(in: "a").map(\.name) == ["x", "y"])
                #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM a") == 0)
            }
        }
    }

    // MARK: - Programming errors

    @Test("Registering an identifier twice is a fatal error")
    func registeredTwice() async {
        await #expect(processExitsWith: .failure) {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("a") { _ in }
            migrator.registerMigration("a") { _ in }
        }
    }

    @Test("Migrating up to an unknown migration is a fatal error")
    func unknownTarget() async {
        await #expect(processExitsWith: .failure) {
            try DatabaseMigrator().migrate(DatabaseQueue(), upTo: "nope")
        }
    }

    @Test("Migrating backwards is a fatal error")
    func backwards() async {
        await #expect(processExitsWith: .failure) {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("a") { _ in }
            migrator.registerMigration("b") { _ in }
            let queue = try DatabaseQueue()
            try migrator.migrate(queue)
            try migrator.migrate(queue, upTo: "a")
        }
    }

    @Test("A database that a later program has migrated has changed, even where its schema is the same")
    func supersededWithoutChange() throws {
        try withEncryptedQueue { (queue) throws in
            let migrator = creating("a")
            var later = migrator
            later.registerMigration("content") { try $0.execute(sql: "INSERT INTO a VALUES (1)") }
            try migrator.migrate(queue)
            #expect(try queue.read { try !migrator.hasSchemaChanges($0) })
            try later.migrate(queue)
            #expect(try queue.read { try migrator.hasSchemaChanges($0) })
            #expect(try queue.read { try !later.hasSchemaChanges($0) })
        }
    }

    @Test("Tables that the library keeps for itself are no change of the schema")
    func internalTables() throws {
        try withEncryptedQueue { (queue) throws in
            let migrator = creating("a")
            try migrator.migrate(queue)
            try queue.write { try $0.execute(sql: "CREATE TABLE grdb_other (x)") }
            #expect(try queue.read { try !migrator.hasSchemaChanges($0) })
            try queue.write { try $0.execute(sql: "CREATE TABLE other (x)") }
            #expect(try queue.read { try migrator.hasSchemaChanges($0) })
        }
    }
}

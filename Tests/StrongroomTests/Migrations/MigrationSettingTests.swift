import CSQLCipher
import Foundation
import Strongroom
import TestSupport
import Testing

/// The surroundings of migrations: their names, the schema source, the set-up of connections.
@Suite("The setting of migrations")
struct MigrationSettingTests {
    private struct ViewKeys: DatabaseSchemaSource {
        func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? { ["id"] }
    }

    @Test(
        "A migration may merge one of its own name, which stays the identifier of the applied migration",
        arguments: [true, false])
    func mergingItself(hasRun: Bool) throws {
        try withEncryptedQueue { queue throws in
            if hasRun {
                var old = DatabaseMigrator()
                for name in ["a", "b"] {
                    old.registerMigration(name) { try $0.execute(sql: "CREATE TABLE \(name)(x)") }
                }
                try old.migrate(queue)
            }
            var migrator = DatabaseMigrator()
            migrator.registerMigration("b", merging: ["a", "b"]) { db, applied in
                #expect(applied == [])
                try db.execute(sql: "CREATE TABLE a(x); CREATE TABLE b(x)")
            }
            for _ in 1...2 { try migrator.migrate(queue) }
            try queue.read { db throws in
                #expect(try migrator.appliedIdentifiers(db) == ["b"])
                #expect(try db.tableExists("a") && db.tableExists("b"))
                #expect(try !migrator.hasBeenSuperseded(db))
            }
        }
    }

    @Test("A schema source is ignored while migrations run: it describes their result")
    func schemaSource() throws {
        var configuration = Configuration.encrypted()
        configuration.schemaSource = ViewKeys()
        try withEncryptedQueue(configuration) { queue throws in
            var migrator = DatabaseMigrator()
            migrator.registerMigration("view") { db in
                try db.execute(sql: "CREATE VIEW v AS SELECT 1 AS id")
                #expect(db.schemaSource == nil)
                #expect(throws: DatabaseError.self) { try db.primaryKey("v") }
                let columns = try db.withSchemaSource(ViewKeys()) { try db.primaryKey("v").columns }
                #expect(columns == ["id"])
            }
            migrator.registerMigration("failure") { _ in throw CancellationError() }
            #expect(throws: CancellationError.self) { try migrator.migrate(queue) }
            try queue.inDatabase { db throws in
                #expect(db.schemaSource != nil)
                #expect(try db.primaryKey("v").columns == ["id"])
            }
        }
    }

    @Test("A schema is compared in a file, because set-up may need one, and the file is removed")
    func comparison() throws {
        let folders = {
            try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
                .filter { $0.hasPrefix("Strongroom-") }.count
        }
        var configuration = Configuration.encrypted()
        configuration.prepareDatabase { db in
            var keepsLog: CInt = 1
            let code = sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &keepsLog)
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
        let before = try folders()
        try withEncryptedQueue(configuration) { queue throws in
            var migrator = DatabaseMigrator()
            migrator.registerMigration("a") { try $0.execute(sql: "CREATE TABLE a(x)") }
            try migrator.migrate(queue)
            #expect(try queue.read { db throws in try !migrator.hasSchemaChanges(db) })
            try queue.write { try $0.execute(sql: "CREATE TABLE unexpected(x)") }
            #expect(try queue.read { db throws in try migrator.hasSchemaChanges(db) })
        }
        #expect(try folders() == before)
    }

    @Test("A reader can tell whether the schema has changed")
    func readerComparison() throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.path("db.sqlite"), configuration: .encrypted())
        var registering = DatabaseMigrator()
        registering.registerMigration("a") { try $0.execute(sql: "CREATE TABLE a(x)") }
        let migrator = registering
        try migrator.migrate(pool)
        #expect(try pool.read { db throws in try !migrator.hasSchemaChanges(db) })
    }
}

import CSQLCipher
import Foundation
import Strongroom
import TestSupport
import Testing

private let migrator: DatabaseMigrator = {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("notes") { (db) throws in
        try db.create(table: "note") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("text", .text)
        }
    }
    return migrator
}()

@Suite("Shared databases")
struct SharedPoolTests {
    @Test("The log stays when the last connection closes, where it is persistent", arguments: [true, false])
    func persistentWAL(_ isPersistent: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("db.sqlite")
        var configuration = Configuration.encrypted()
        configuration.persistentWAL = isPersistent
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE t(x)") }
        try pool.close()
        #expect(FileManager.default.fileExists(atPath: path + "-wal") == isPersistent)
        #expect(FileManager.default.fileExists(atPath: path + "-shm") == isPersistent)
    }

    @Test("The log can be kept through the raw connection, too")
    func fileControl() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("db.sqlite")
        var configuration = Configuration.encrypted()
        configuration.prepareDatabase { (db) throws in
            if db.configuration.readonly == false {
                var flag: CInt = 1
                let code = withUnsafeMutablePointer(to: &flag) { flagP in
                    sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, flagP)
                }
                guard code == SQLITE_OK else {
                    throw DatabaseError(resultCode: ResultCode(rawValue: code))
                }
            }
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE t(x)") }
        try pool.close()
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
    }

    @Test("A persistent log does no harm to a database in memory")
    func memory() throws {
        var configuration = Configuration()
        configuration.persistentWAL = true
        let queue = try DatabaseQueue(configuration: configuration)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
    }

    @Test("A reader opens a database that a writer has closed")
    func readerAfterWriter() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("db.sqlite")
        let writer = try DatabasePool.openShared(path: path, configuration: .encrypted(), migrator: migrator)
        try writer.write { try $0.execute(sql: "INSERT INTO note (text) VALUES ('a')") }
        try writer.close()
        let reader = try #require(
            try DatabasePool.openSharedReadOnly(path: path, configuration: .encrypted(), migrator: migrator))
        #expect(try reader.read { try String.fetchAll($0, sql: "SELECT text FROM note") } == ["a"])
    }

    @Test("Readers get nothing before the database exists, and leave none behind")
    func noDatabase() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("db.sqlite")
        #expect(try DatabasePool.openSharedReadOnly(path: path, configuration: .encrypted()) == nil)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("Readers get nothing while the schema is too old, or too recent")
    func unexpectedSchema() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("db.sqlite")
        try DatabasePool.openShared(path: path, configuration: .encrypted(), migrator: migrator).close()
        var later = migrator
        later.registerMigration("later") { _ in }
        #expect(try DatabasePool.openSharedReadOnly(path: path, configuration: .encrypted(), migrator: later) == nil)
        try DatabasePool.openShared(path: path, configuration: .encrypted(), migrator: later).close()
        #expect(try DatabasePool.openSharedReadOnly(path: path, configuration: .encrypted(), migrator: migrator) == nil)
    }

    @Test("A writer refuses a database that a later version has migrated, before it changes anything")
    func superseded() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("db.sqlite")
        var later = DatabaseMigrator()
        later.registerMigration("later") { _ in }
        try DatabasePool.openShared(path: path, configuration: .encrypted(), migrator: later).close()
        #expect(throws: SupersededDatabaseError.self) {
            try DatabasePool.openShared(path: path, configuration: .encrypted(), migrator: migrator)
        }
        let queue = try DatabaseQueue(path: path, configuration: .encrypted())
        #expect(try !queue.read { try $0.tableExists("note") })
    }

    @Test("A wrong key is an error, not a database that does not exist")
    func wrongKey() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("db.sqlite")
        try DatabasePool.openShared(path: path, configuration: .encrypted(), migrator: migrator).close()
        #expect {
            try DatabasePool.openSharedReadOnly(path: path, configuration: .encrypted(passphrase: "wrong"))
        } throws: { ($0 as? DatabaseError)?.isWrongKeyError == true }
    }

    @Test("One opening at a time is set up")
    func oneAtATime() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("db.sqlite")
        let lock = NSLock()
        nonisolated(unsafe) var inside = 0
        nonisolated(unsafe) var most = 0
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            _ = try? DatabasePool.openShared(path: path, configuration: .encrypted(), migrator: migrator) {
                (pool) throws in
                lock.withLock {
                    inside += 1
                    most = max(most, inside)
                }
                try pool.write { try $0.execute(sql: "INSERT INTO note (text) VALUES ('a')") }
                lock.withLock { inside -= 1 }
            }
        }
        #expect(most == 1)
        let queue = try DatabaseQueue(path: path, configuration: .encrypted())
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM note") } == 4)
    }
}

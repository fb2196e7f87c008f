import CSQLCipher
import Foundation
import Strongroom
import TestSupport
import Testing

// The samples of the guide on sharing a database. File coordinators and application delegates are Apple's: the
// library's opening calls and a plain class take their place. Where the guide sets no key, the tests' key is added.

/// The database is too recent.
private struct SomeError: Error {}

private let migrator: DatabaseMigrator = {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("players and teams") { db in
        try db.create(table: "player") { t in t.autoIncrementedPrimaryKey("id") }
        try db.create(table: "team") { t in t.autoIncrementedPrimaryKey("id") }
    }
    return migrator
}()

private func openDatabase(at databaseURL: URL) throws -> DatabasePool {
    var configuration = Configuration.encrypted()
    configuration.prepareDatabase { db in
        // Activate the persistent WAL mode so that
        // readonly processes can access the database.
        //
        // See https://www.sqlite.org/walformat.html#operations_that_require_locks_and_which_locks_those_operations_use
        // and https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntlpersistwal
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
    let dbPool = try DatabasePool(path: databaseURL.path, configuration: configuration)

    // Perform here other database setups, such as defining
    // the database schema with a DatabaseMigrator, and
    // checking if the application can open the file:
    try migrator.migrate(dbPool)
    if try dbPool.read(migrator.hasBeenSuperseded) {
        // Database is too recent
        throw SomeError()
    }

    return dbPool
}

private func openReadOnlyDatabase(at databaseURL: URL) throws -> DatabasePool? {
    do {
        var configuration = Configuration.encrypted()
        configuration.readonly = true
        let dbPool = try DatabasePool(path: databaseURL.path, configuration: configuration)

        // Check here if the database schema is the expected one,
        // for example with a DatabaseMigrator:
        return try dbPool.read { db in
            if try migrator.hasBeenSuperseded(db) {
                // Database is too recent
                return nil
            } else if try migrator.hasCompletedMigrations(db) == false {
                // Database is too old
                return nil
            }
            return dbPool
        }
    } catch {
        if FileManager.default.fileExists(atPath: databaseURL.path) {
            throw error
        } else {
            return nil
        }
    }
}

/// Returns an initialized database pool at the shared location databaseURL
private func openSharedDatabase(at databaseURL: URL) throws -> DatabasePool {
    try DatabasePool.openShared(path: databaseURL.path, configuration: .encrypted(), migrator: migrator)
}

/// Returns an initialized database pool at the shared location databaseURL,
/// or nil if the database is not created yet, or does not have the required
/// schema version.
private func openSharedReadOnlyDatabase(at databaseURL: URL) throws -> DatabasePool? {
    try DatabasePool.openSharedReadOnly(path: databaseURL.path, configuration: .encrypted(), migrator: migrator)
}

@Suite("Samples of the guide on sharing a database", .timeLimit(.minutes(2)))
struct SharingGuideSamples {
    struct Player: TableRecord {}
    struct Team: TableRecord {}

    private func newURL() throws -> URL {
        let folder = try TemporaryFolder()
        folder.keep()
        return URL(fileURLWithPath: folder.path("shared.sqlite"))
    }

    @Test("Opening a shared database by the guide's functions")
    func opening() throws {
        let url = try newURL()
        #expect(try openReadOnlyDatabase(at: url) == nil)
        #expect(!FileManager.default.fileExists(atPath: url.path))

        let dbPool = try openDatabase(at: url)
        try dbPool.write { try $0.execute(sql: "INSERT INTO player DEFAULT VALUES") }
        try dbPool.close()
        #expect(FileManager.default.fileExists(atPath: url.path + "-wal"))

        let reader = try #require(try openReadOnlyDatabase(at: url))
        #expect(try reader.read(Player.fetchCount) == 1)
    }

    @Test("A schema that is too recent or too old, by the guide's functions")
    func unexpectedSchema() throws {
        let url = try newURL()
        let old = try DatabasePool(path: url.path, configuration: .encrypted())
        #expect(try openReadOnlyDatabase(at: url) == nil)

        var later = migrator
        later.registerMigration("later") { _ in }
        try later.migrate(old)
        #expect(throws: SomeError.self) { try openDatabase(at: url) }
        #expect(try openReadOnlyDatabase(at: url) == nil)
    }

    @Test("Opening a shared database by the library's calls")
    func openingCalls() throws {
        let url = try newURL()
        #expect(try openSharedReadOnlyDatabase(at: url) == nil)
        let dbPool = try openSharedDatabase(at: url)
        try dbPool.write { try $0.execute(sql: "INSERT INTO player DEFAULT VALUES") }
        try dbPool.close()
        let reader = try #require(try openSharedReadOnlyDatabase(at: url))
        #expect(try reader.read(Player.fetchCount) == 1)
    }

    @Test("Limiting SQLITE_BUSY, and catching the rest")
    func busy() throws {
        let path = try SampleDatabase.path()

        var configuration = Configuration.encrypted()
        configuration.busyMode = .timeout(0.01)
        configuration.defaultTransactionKind = .immediate
        let dbPool = try DatabasePool(path: path, configuration: configuration)

        let other = try DatabasePool(path: path, configuration: configuration)
        var isCaught = false
        try other.write { _ in
            do {
                try dbPool.write { db in try db.execute(sql: "INSERT INTO player DEFAULT VALUES") }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                // Another process won't let you write. Deal with it.
                isCaught = true
            }
        }
        #expect(isCaught)
        try dbPool.write { db in try db.execute(sql: "INSERT INTO player DEFAULT VALUES") }
    }

    @Test("A plaintext header")
    func plaintextHeader() throws {
        let path = try newURL().path

        var configuration = Configuration()
        configuration.prepareDatabase { (db: Database) in
            try db.usePassphrase("secret")
            try db.execute(sql: "PRAGMA cipher_plaintext_header_size = 32")
        }
        let dbPool = try DatabasePool(path: path, configuration: configuration)
        try dbPool.write {
            try $0.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY); INSERT INTO player VALUES (7)")
        }
        try dbPool.close()

        let start = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(15)
        #expect(String(decoding: start, as: UTF8.self) == "SQLite format 3")
        let reopened = try DatabasePool(path: path, configuration: configuration)
        #expect(try reopened.read { try Int.fetchOne($0, sql: "SELECT id FROM player") } == 7)
    }

    @Test("Telling other processes of changes")
    func observation() throws {
        let dbPool = try SampleDatabase.pool()
        let notifications = Shared<[String]>([])

        do {
            // Notify all changes made to the "player" and "team" database tables
            let observation = DatabaseRegionObservation(tracking: Player.all(), Team.all())
            let observer = try observation.start(in: dbPool) { (db: Database) in
                // Notify other processes
                notifications.update { $0.append("player or team") }
            }
            try dbPool.write { try $0.execute(sql: "INSERT INTO player DEFAULT VALUES") }
            try dbPool.write { try $0.execute(sql: "INSERT INTO team DEFAULT VALUES") }
            try dbPool.write { try $0.execute(sql: "INSERT INTO cookie DEFAULT VALUES") }
            observer.cancel()
        }
        #expect(notifications.value == ["player or team", "player or team"])

        // Notify all changes made to the database
        let observation = DatabaseRegionObservation(tracking: DatabaseRegion.fullDatabase)
        let observer = try observation.start(in: dbPool) { (db: Database) in
            // Notify other processes
            notifications.update { $0.append("database") }
        }
        try dbPool.write { try $0.execute(sql: "INSERT INTO cookie DEFAULT VALUES") }
        #expect(notifications.value.last == "database")
        observer.cancel()
    }
}

// MARK: - Suspension

extension SharingGuideSamples {
    /// The work of the guide's application delegate; UIKit calls it on Apple's platforms.
    private final class AppDelegate {
        func applicationDidEnterBackground() {
            // Suspend databases
            NotificationCenter.default.post(name: Database.suspendNotification, object: self)
        }

        func applicationWillEnterForeground() {
            // Resume databases
            NotificationCenter.default.post(name: Database.resumeNotification, object: self)
        }

        func performFetch(completionHandler: () throws -> Void) rethrows {
            // Resume databases
            NotificationCenter.default.post(name: Database.resumeNotification, object: self)
            // Proceed with background fetch
            try completionHandler()
        }
    }

    @Test("Suspending, catching refusals, resuming")
    func suspension() async {
        await #expect(processExitsWith: .success) {
            let path = try SampleDatabase.path()
            var configuration = Configuration.encrypted()
            configuration.observesSuspensionNotifications = true
            let dbPool = try DatabasePool(path: path, configuration: configuration)
            let delegate = AppDelegate()

            delegate.applicationDidEnterBackground()
            var isCaught = false
            do {
                try dbPool.write { db in try db.execute(sql: "INSERT INTO player DEFAULT VALUES") }
            } catch let error as DatabaseError where error.isInterruptionError {
                // Oops, the database is suspended.
                // Maybe try again after database is resumed?
                isCaught = true
            }
            #expect(isCaught)

            delegate.applicationWillEnterForeground()
            try dbPool.write { db in try db.execute(sql: "INSERT INTO player DEFAULT VALUES") }

            delegate.applicationDidEnterBackground()
            try delegate.performFetch {
                try dbPool.write { db in try db.execute(sql: "INSERT INTO player DEFAULT VALUES") }
            }
            #expect(try dbPool.read(Player.fetchCount) == 2)
        }
    }
}

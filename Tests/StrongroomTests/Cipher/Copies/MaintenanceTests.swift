import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("A backup")
struct BackupTests {
    private func withQueues(_ body: (DatabaseQueue, DatabaseQueue) throws -> Void) throws {
        try withEncryptedQueue { source in
            try source.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE t (a);
                        INSERT INTO t SELECT randomblob(1000) FROM (
                            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i \
                            FROM n)
                        """)
            }
            try withEncryptedQueue(.encrypted(passphrase: "battery staple")) { try body(source, $0) }
        }
    }

    private func backup(
        _ source: DatabaseQueue, _ destination: DatabaseQueue, pagesPerStep: CInt = -1,
        _ progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        try source.inDatabase { db throws in
            try destination.inDatabase { try db.backup(to: $0, pagesPerStep: pagesPerStep, progress: progress) }
        }
    }

    @Test("copies all rows into a database with another key, and its statements see them")
    func copies() throws {
        try withQueues { source, destination in
            try destination.write { try $0.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)") }
            #expect(try destination.read { try Row.fetchAll($0, sql: "SELECT * FROM t") } == [["a": 1, "b": 2]])
            try backup(source, destination)
            let all = "SELECT * FROM t ORDER BY rowid"
            #expect(
                try source.read { try Data.fetchAll($0, sql: all) }
                    == destination.read { try Data.fetchAll($0, sql: all) })
            #expect(try destination.read { try Row.fetchAll($0, sql: "SELECT * FROM t").count } == 200)
            try destination.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        }
    }

    @Test("reports its progress")
    func progress() throws {
        try withQueues { source, destination in
            var steps: [DatabaseBackupProgress] = []
            try backup(source, destination, pagesPerStep: 10) { steps.append($0) }
            #expect(steps.count > 2)
            #expect(steps.map(\.isCompleted) == steps.indices.map { $0 == steps.count - 1 })
            #expect(steps.first?.completedPageCount == 10)
            #expect(steps.last?.remainingPageCount == 0)
            #expect(
                steps.allSatisfy {
                    $0.totalPageCount == $0.completedPageCount + $0.remainingPageCount && $0.totalPageCount > 20
                })
        }
    }

    @Test("that is stopped leaves the destination as it was")
    func stopped() throws {
        try withQueues { source, destination in
            try destination.write { try $0.execute(sql: "CREATE TABLE u AS SELECT 1 AS a") }
            #expect(throws: CancellationError.self) {
                try backup(source, destination, pagesPerStep: 5) {
                    if $0.completedPageCount > 10 { throw CancellationError() }
                }
            }
            #expect(try destination.read { try Int.fetchOne($0, sql: "SELECT a FROM u") } == 1)
            #expect(throws: DatabaseError.self) {
                try destination.read { try Int.fetchOne($0, sql: "SELECT 1 FROM t") }
            }
        }
    }

    @Test("is refused from an encrypted database to one in clear")
    func clear() throws {
        try withQueues { source, _ in
            let folder = try TemporaryFolder()
            let clear = try DatabaseQueue(path: folder.path("clear.sqlite"))
            #expect(throws: DatabaseError.self) { try backup(source, clear) }
            try clear.close()
        }
    }

    @Test("fails while the destination is being written")
    func busy() throws {
        try withQueues { source, destination in
            let other = try DatabaseQueue(
                path: destination.path, configuration: .encrypted(passphrase: "battery staple"))
            try other.inDatabase { db throws in
                try db.inTransaction(.exclusive) {
                    let failure = try #require(throws: DatabaseError.self) { try backup(source, destination) }
                    #expect(failure.resultCode == .SQLITE_BUSY)
                    return .rollback
                }
            }
            try other.close()
            try backup(source, destination)
        }
    }
}

@Suite("Maintenance")
struct MaintenanceTests {
    @Test(
        "A checkpoint moves the log into the file",
        arguments: [Database.CheckpointMode.passive, .full, .restart, .truncate])
    func checkpoint(mode: Database.CheckpointMode) throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                #expect(try db.checkpoint(mode) == (-1, -1))
                _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
                try db.execute(sql: "CREATE TABLE t (a)")
                let frames = try db.checkpoint(mode)
                #expect(frames.walFrameCount == frames.checkpointedFrameCount)
                #expect((frames.walFrameCount == 0) == (mode == .truncate))
            }
        }
    }

    @Test("A checkpoint is refused in a transaction, and for a missing database")
    func refusedCheckpoint() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
                try db.inTransaction {
                    try db.execute(sql: "CREATE TABLE t (a)")
                    let failure = try #require(throws: DatabaseError.self) { try db.checkpoint() }
                    #expect(failure.resultCode == .SQLITE_LOCKED)
                    return .commit
                }
                #expect(throws: DatabaseError.self) { try db.checkpoint(on: "nowhere") }
                try db.checkpoint(on: nil)
            }
        }
    }

    @Test("The schema version changes with the schema")
    func schemaVersion() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                let before = try db.schemaVersion()
                try db.execute(sql: "CREATE TABLE t (a)")
                let after = try db.schemaVersion()
                #expect(after != before)
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                #expect(try db.schemaVersion() == after)
            }
        }
    }

    @Test("Released memory leaves a connection that goes on")
    func releaseMemory() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
                let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
                #expect(try cursor.next() == 1)
                let statement = try db.cachedStatement(sql: "SELECT 3")
                db.releaseMemory()
                #expect(try cursor.next() == 2)
                #expect(try Int.fetchOne(statement) == 3)
                #expect(try db.cachedStatement(sql: "SELECT 3") !== statement)
            }
        }
    }

    @Test("Counters count the work of statements")
    func counters() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                try db.execute(sql: "CREATE TABLE t (a INTEGER PRIMARY KEY)")
                let before = db.totalChangesCount
                try db.execute(sql: "INSERT INTO t VALUES (7), (8)")
                #expect(db.lastInsertedRowID == 8)
                #expect(db.changesCount == 2)
                try db.execute(sql: "DELETE FROM t WHERE a = 7")
                #expect(db.changesCount == 1)
                #expect(db.totalChangesCount - before == 3)
            }
        }
    }

    @Test("Foreign keys are enforced unless the configuration or the set-up says otherwise")
    func foreignKeys() throws {
        var off = Configuration.encrypted()
        off.foreignKeysEnabled = false
        var offInSetUp = Configuration.encrypted()
        offInSetUp.prepareDatabase { try $0.execute(sql: "PRAGMA foreign_keys = OFF") }
        for (configuration, isOn) in [(Configuration.encrypted(), true), (off, false), (offInSetUp, false)] {
            try withEncryptedQueue(configuration) { queue throws in
                #expect(try queue.read { try Bool.fetchOne($0, sql: "PRAGMA foreign_keys") } == isOn)
            }
        }
    }

    @Test("Queues in memory share a database by its name, with any characters", arguments: ["a", "a b?c#%41&é/'"])
    func namedMemory(name: String) throws {
        let one = try DatabaseQueue(named: name)
        let two = try DatabaseQueue(named: name)
        let other = try DatabaseQueue(named: name + "2")
        let nameless = try DatabaseQueue()
        try one.write { try $0.execute(sql: "CREATE TABLE t AS SELECT 1 AS a") }
        #expect(try two.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        for queue in [other, nameless] {
            #expect(throws: DatabaseError.self) { try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } }
        }
        for queue in [one, two, other, nameless] { try queue.close() }
        #expect(!FileManager.default.fileExists(atPath: name))
    }
}

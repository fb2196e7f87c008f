import Dispatch
import Foundation
import Strongroom
import Testing

// The samples of the reference of DatabasePool. `...` is filled in, other threads come between where the text speaks of
// them.

@Suite("Samples of the reference of the pool", .timeLimit(.minutes(2)))
struct PoolReferenceSamples {
    struct Player: Codable, FetchableRecord, PersistableRecord {
        var name: String
    }

    private func addWine(to dbPool: DatabasePool) {
        start { try! dbPool.write { try $0.execute(sql: "INSERT INTO wine (name) VALUES ('Chinon')") } }.pass()
    }

    @Test("Opening by path")
    func opening() throws {
        let path = try SampleDatabase.path()
        let dbPool = try DatabasePool(path: path, configuration: .encrypted())
        let players = try dbPool.read { db in
            try Player.fetchAll(db)
        }
        #expect(players.isEmpty)
        dbPool.releaseMemory()
    }

    @Test("Isolated reads")
    func isolatedReads() throws {
        let dbPool = try SampleDatabase.pool()

        try dbPool.read { db in
            // Those two values are guaranteed to be equal, even if the
            // `wine` table is modified between the two requests:
            let count1 = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM wine")!
            addWine(to: dbPool)
            let count2 = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM wine")!
            #expect(count1 == count2)
        }

        try dbPool.read { db in
            // Now this value may be different:
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM wine")!
            #expect(count == 1)
        }
    }

    @Test("Asynchronous reads, which can't write")
    func asyncRead() throws {
        let dbQueue = try SampleDatabase.queue()
        let outcome = Shared<[String]>([])
        let isDone = Gate()
        // The reference puts `let players = try` in front, though nothing is returned nor thrown.
        dbQueue.asyncRead { result in
            do {
                let db = try result.get()
                let count = try Player.fetchCount(db)
                outcome.update { $0.append("\(count)") }
                try Player(name: "Arthur").insert(db)
            } catch let error as DatabaseError {
                outcome.update { $0.append("\(error.resultCode.rawValue)") }
            } catch {
                // Handle error
                outcome.update { $0.append("\(error)") }
            }
            isDone.open()
        }
        isDone.pass()
        #expect(outcome.value == ["0", "\(ResultCode.SQLITE_READONLY.rawValue)"])
    }

    @Test("Unsafe reads see changes, cursors don't")
    func unsafeRead() throws {
        let dbPool = try SampleDatabase.pool()
        addWine(to: dbPool)
        try dbPool.unsafeRead { db in try expectChanges(in: db, of: dbPool) }
        try dbPool.unsafeRead { db in try expectUnchangedCursor(in: db, of: dbPool) }
    }

    @Test("Reentrant unsafe reads do, too")
    func unsafeReentrantRead() throws {
        let dbPool = try SampleDatabase.pool()
        addWine(to: dbPool)
        try dbPool.unsafeReentrantRead { db in try expectChanges(in: db, of: dbPool) }
        try dbPool.unsafeReentrantRead { db in try expectUnchangedCursor(in: db, of: dbPool) }
    }

    private func expectChanges(in db: Database, of dbPool: DatabasePool) throws {
        // Those two values may be different because some other thread
        // may have inserted or deleted a wine between the two requests:
        let count1 = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM wine")!
        addWine(to: dbPool)
        let count2 = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM wine")!
        #expect((count1, count2) == (1, 2))
    }

    private func expectUnchangedCursor(in db: Database, of dbPool: DatabasePool) throws {
        // No concurrent update can mess with this iteration:
        let rows = try Row.fetchCursor(db, sql: "SELECT * FROM wine")
        var count = 0
        while let row = try rows.next() {
            #expect(row["name"] == "Chinon")
            count += 1
            addWine(to: dbPool)
        }
        #expect(count == 2)
    }

    @Test("Concurrent reads see the last committed state")
    func asyncConcurrentRead() throws {
        let writer: any DatabaseWriter = try SampleDatabase.pool()
        try writer.write { try Player(name: "Arthur").insert($0) }
        let found = Shared<Result<Int, any Error>?>(nil)
        let isDone = Gate()

        // The reference's block throws, which no asynchronous write takes: it catches here. `deleteAll` needs its
        // connection.
        writer.asyncWriteWithoutTransaction { db in
            do {
                // Delete all players
                try Player.deleteAll(db)

                // Count players concurrently
                writer.spawnConcurrentRead { result in
                    do {
                        let db = try result.get()
                        // Guaranteed to be zero
                        let count = try Player.fetchCount(db)
                        found.update { $0 = .success(count) }
                    } catch {
                        // Handle error
                        found.update { $0 = .failure(error) }
                    }
                    isDone.open()
                }

                // Insert a player
                try Player(name: "Barbara").insert(db)
            } catch {
                Issue.record(error)
            }
        }
        isDone.pass()
        #expect(try found.value?.get() == 0)
        #expect(try writer.write(Player.fetchCount) == 1)
    }

    @Test("Concurrent reads as futures")
    func concurrentRead() throws {
        let dbPool = try SampleDatabase.pool()
        let future: DatabaseFuture<Int> = try dbPool.writeWithoutTransaction { db in
            try Player(name: "Arthur").insert(db)
            let future = dbPool.concurrentRead { try Player.fetchCount($0) }
            try Player.deleteAll(db)
            return future
        }
        #expect(try future.wait() == 1)
    }
}

// MARK: - Writes and snapshots

extension PoolReferenceSamples {
    @Test("A transaction that commits by its answer")
    func writeInTransaction() throws {
        let dbPool = try SampleDatabase.pool()
        try dbPool.writeInTransaction { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
            return .commit
        }
        #expect(try dbPool.read(Player.fetchCount) == 1)
    }

    @Test("A function for all connections")
    func function() throws {
        let dbPool = try SampleDatabase.pool()
        let fn = DatabaseFunction("succ", argumentCount: 1) { dbValues in
            guard let int = Int.fromDatabaseValue(dbValues[0]) else {
                return nil
            }
            return int + 1
        }
        dbPool.add(function: fn)
        let two = try dbPool.read { db in
            try Int.fetchOne(db, sql: "SELECT succ(1)")  // 2
        }
        #expect(two == 2)
        dbPool.remove(function: fn)
        #expect(throws: DatabaseError.self) { try dbPool.read { try Int.fetchOne($0, sql: "SELECT succ(1)") } }
    }

    @Test("A collation for all connections")
    func collation() throws {
        let dbPool = try SampleDatabase.pool()
        let collation = DatabaseCollation("localized_standard") { (string1, string2) in
            // NSString converts itself to String nowhere but on Apple's platforms.
            return NSString(string: string1).localizedStandardCompare(string2)
        }
        dbPool.add(collation: collation)
        try dbPool.write { db in
            // The reference forgets the second parenthesis.
            try db.execute(sql: "CREATE TABLE file (name TEXT COLLATE LOCALIZED_STANDARD)")
            try db.execute(sql: "INSERT INTO file VALUES ('file10'), ('file2')")
        }
        #expect(
            try dbPool.read { try String.fetchAll($0, sql: "SELECT name FROM file ORDER BY name") } == [
                "file2", "file10",
            ])
        dbPool.remove(collation: collation)
        #expect(throws: DatabaseError.self) {
            try dbPool.read { try String.fetchAll($0, sql: "SELECT name FROM file ORDER BY name") }
        }
    }

    @Test("Snapshots of a chosen state")
    func snapshots() throws {
        let dbPool = try SampleDatabase.pool()
        try dbPool.write { try Player(name: "Arthur").insert($0) }

        // The reference writes `write`, which has been a transaction since; `deleteAll` needs its connection.
        let snapshot1 = try dbPool.writeWithoutTransaction { db -> DatabaseSnapshot in
            try Player.deleteAll(db)
            return try dbPool.makeSnapshot()
        }
        // <- Other threads may modify the database here
        try dbPool.write { try Player(name: "Barbara").insert($0) }
        let snapshot2 = try dbPool.makeSnapshot()

        try snapshot1.read { db in
            // Guaranteed to be zero
            let count = try Player.fetchCount(db)
            #expect(count == 0)
        }

        try snapshot2.read { db in
            // Could be anything
            let count = try Player.fetchCount(db)
            #expect(count == 1)
        }
    }

    @Test("A snapshot inside of a transaction")
    func snapshotInsideTransaction() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let dbPool = try SampleDatabase.pool()
            try await dbPool.writeWithoutTransaction { db in
                try db.inTransaction {
                    try Player.deleteAll(db)
                    // fatal error: makeSnapshot() must not be called from inside a transaction
                    _ = try dbPool.makeSnapshot()
                    return .commit
                }
            }
        }
        let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(words.contains("Make the snapshot before or after the transaction"))
    }

    @Test("Snapshots before and after a transaction")
    func snapshotsAroundTransaction() throws {
        let dbPool = try SampleDatabase.pool()
        try dbPool.write { try Player(name: "Arthur").insert($0) }

        let snapshots = try dbPool.writeWithoutTransaction { db in
            // OK
            let before = try dbPool.makeSnapshot()

            try db.inTransaction {
                try Player.deleteAll(db)
                return .commit
            }

            // OK
            let after = try dbPool.makeSnapshot()
            return [before, after]
        }
        #expect(try snapshots.map { try $0.read(Player.fetchCount) } == [1, 0])
    }
}

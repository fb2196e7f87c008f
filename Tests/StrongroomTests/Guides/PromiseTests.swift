import Foundation
import Strongroom
import Testing

/// Promises of the guides that no other test is about.
@Suite("Promises of the guides", .timeLimit(.minutes(2)))
struct PromiseTests {
    @Test("A queue runs one access at a time, reads included")
    func queueSerializesAll() throws {
        let queue = try SampleDatabase.queue()
        let inside = Shared((now: 0, most: 0))
        @Sendable func enter() { inside.update { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
        @Sendable func leave() { inside.update { $0.now -= 1 } }
        DispatchQueue.concurrentPerform(iterations: 40) { number in
            let access: (Database) throws -> Void = { db in
                enter()
                _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")
                leave()
            }
            _ = number % 2 == 0 ? try? queue.read(access) : try? queue.write(access)
        }
        #expect(inside.value == (0, 1))
    }

    @Test("Two reads of a pool may see different states at the same time, each its own")
    func differentStates() throws {
        let pool = try SampleDatabase.pool()
        try pool.read { early in
            let before = try Int.fetchOne(early, sql: "SELECT COUNT(*) FROM wine")
            start { try! pool.write { try $0.execute(sql: "INSERT INTO wine (name) VALUES ('Chinon')") } }.pass()
            let late = Shared<Int?>(nil)
            start { late.update { $0 = try! pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM wine") } } }
                .pass()
            #expect(try Int.fetchOne(early, sql: "SELECT COUNT(*) FROM wine") == before)
            #expect(late.value == 1)
        }
    }

    @Test("A write sees earlier commits of all connections")
    func latestState() throws {
        let path = try SampleDatabase.path()
        let pool = try DatabasePool(path: path, configuration: .encrypted())
        let other = try DatabasePool(path: path, configuration: .encrypted())
        for count in 1...3 {
            try other.write { try $0.execute(sql: "INSERT INTO wine (name) VALUES ('Chinon')") }
            #expect(try pool.write { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM wine") } == count)
        }
    }

    @Test("Writes outside of a transaction are seen one by one")
    func partialUpdates() throws {
        let pool = try SampleDatabase.pool()
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO wine (name) VALUES ('Chinon')")
            #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM wine") } == 1)
            try db.execute(sql: "INSERT INTO wine (name) VALUES ('Bourgueil')")
        }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM wine") } == 2)
    }

    @Test("A pool that is released closes its connections, and the last one removes the log")
    func deallocation() throws {
        let path = try SampleDatabase.path()
        var pool: DatabasePool? = try DatabasePool(path: path, configuration: .encrypted())
        try pool?.write { try $0.execute(sql: "INSERT INTO wine (name) VALUES ('Chinon')") }
        _ = try pool?.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM wine") }
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        weak let gone = pool
        pool = nil
        #expect(gone == nil)
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }

    @Test("Observations are not notified of changes by other connections to the file")
    func foreignChanges() throws {
        let path = try SampleDatabase.path()
        let pool = try DatabasePool(path: path, configuration: .encrypted())
        let other = try DatabasePool(path: path, configuration: .encrypted())
        let count = Shared(0)
        let cancellable = DatabaseRegionObservation(tracking: .fullDatabase)
            .start(in: pool, onError: { _ in }, onChange: { _ in count.update { $0 += 1 } })
        try other.write { try $0.execute(sql: "INSERT INTO wine (name) VALUES ('Chinon')") }
        #expect(count.value == 0)
        try pool.write { try $0.execute(sql: "INSERT INTO wine (name) VALUES ('Bourgueil')") }
        #expect(count.value == 1)
        cancellable.cancel()
    }
}

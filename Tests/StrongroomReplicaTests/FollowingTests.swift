import Foundation
import StrongroomReplica
import Testing

@Suite("A replica")
struct FollowingTests {
    @Test("of a database with a log restores to what was committed")
    func log() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        let replica = try scratch.replica()
        try db.insert(10)
        let first = try await replica.sync()
        try db.insert(5)
        let second = try await replica.stop()
        #expect(try scratch.restoredRows() == ["15", "15"])
        #expect(try scratch.restoredRows(.position(#require(first))) == ["10", "10"])
        #expect(try #require(first) < #require(second))
    }

    @Test("of a database that is not in use restores to what is in it")
    func closed() async throws {
        let scratch = try Scratch()
        do {
            let db = try Connection(scratch.database)
            try db.createTables()
            try db.insert(100)
        }
        let replica = try scratch.replica()
        #expect(try await replica.stop() == ReplicaPosition(1))
        #expect(try scratch.restoredRows() == ["100", "100"])
    }

    @Test("goes on when a program opens and closes the database again and again")
    func reopened() async throws {
        let scratch = try Scratch()
        let replica = try scratch.replica()
        #expect(try await replica.sync() == nil)
        for round in 1...8 {
            let db = try Connection(scratch.database)
            if round == 1 { try db.createTables() }
            try db.insert(3)
            db.close()
            try await replica.sync()
            #expect(try scratch.restoredRows() == ["\(round * 3)", "\(round * 3)"])
        }
        try await replica.stop()
    }

    @Test("of a database with a rollback journal restores to what was committed", arguments: ["delete", "persist"])
    func journal(mode: String) async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database, journal: mode)
        try db.createTables()
        let replica = try scratch.replica()
        for round in 1...5 {
            try db.insert(20)
            try await replica.sync()
            #expect(try scratch.restoredRows() == ["\(round * 20)", "\(round * 20)"])
        }
        try await replica.stop()
    }

    @Test("has committed states only, whatever the writer does meanwhile")
    func states() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        let replica = try scratch.replica {
            $0.interval = 5
            $0.logThreshold = 1 << 16
        }
        for _ in 0..<300 { try db.insert(Int.random(in: 1...4)) }
        try db.run("BEGIN; DELETE FROM a WHERE id % 2; DELETE FROM b WHERE id % 2; COMMIT; VACUUM")
        try await replica.sync()
        for _ in 0..<100 { try db.insert(2) }
        try await replica.stop()
        let expected = try db.value("SELECT count(*) FROM a")
        #expect(try scratch.restoredRows() == [expected, expected])
        let points = try #require(DatabaseReplica.histories(in: scratch.destination).first).points
        #expect(points.count > 2)
        for point in points.indices where point % max(1, points.count / 12) == 0 {
            let rows = try scratch.restoredRows(.position(points[point].position))
            #expect(rows[0] == rows[1])
        }
        #expect(try DatabaseReplica.verify(scratch.destination).problems.isEmpty)
    }

    @Test("goes on where it was when it begins again, and sends nothing twice")
    func resumed() async throws {
        let (scratch, db) = try Scratch.withDatabase(rows: 2000)
        try await scratch.replica().stop()
        try db.insert(1)
        try await scratch.replica().stop()
        #expect(try scratch.objects("/full/").count == 1)
        #expect(try scratch.objects("/points/").count == 1)
        #expect(try scratch.bytes(scratch.objects("/points/")[0]).count < 50_000)
        #expect(try scratch.restoredRows() == ["2001", "2001"])
    }

    @Test("begins with a full restore point of the newest state, while that is in the log", arguments: [true, false])
    func fullFromLog(isRunning: Bool) async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        // Nothing moves the frames, of which the first points have some.
        try db.run("PRAGMA wal_autocheckpoint = 0; BEGIN; SELECT * FROM a; COMMIT")
        let reader = try Connection(scratch.database)
        try reader.run("BEGIN")
        _ = try reader.value("SELECT count(*) FROM a")
        let replica = try scratch.replica()
        for _ in 0..<3 {
            try db.insert(20)
            try await replica.sync()
        }
        try await replica.stop()
        // A point whose changes happen to be every page is a full one, too.
        let before = try scratch.objects("/full/").count
        if isRunning { try db.insert(20) }
        let again = try scratch.replica { $0.beginsWithFullPoint = true }
        try await again.sync()
        try await again.stop()
        let rows = isRunning ? "80" : "60"
        #expect(try scratch.objects("/full/").count == before + 1)
        #expect(try scratch.restoredRows() == [rows, rows])
        #expect(try DatabaseReplica.verify(scratch.destination).problems.isEmpty)
    }

    @Test("compares pages when the log began anew while it was not running")
    func gap() async throws {
        let (scratch, db) = try Scratch.withDatabase(rows: 2000)
        try await scratch.replica().stop()
        for _ in 0..<3 {
            try db.insert(1)
            try db.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try await scratch.replica().stop()
        #expect(try scratch.objects("/full/").count == 1)
        #expect(try scratch.bytes(scratch.objects("/points/")[0]).count < 50_000)
        #expect(try scratch.restoredRows() == ["2003", "2003"])
        #expect(try DatabaseReplica.verify(scratch.destination).problems.isEmpty)
    }

    @Test("that begins and ends again and again under load restores to committed states")
    func beginsUnderLoad() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        try db.insert(900, size: 500)
        let path = scratch.database, ended = Flag()
        let writer = Thread {
            // Checkpoints at nearly every commit, and a log that begins anew.
            guard let db = try? Connection(path, settings: ["PRAGMA wal_autocheckpoint = 10"]) else { return }
            while !ended.isSet {
                try? db.run("UPDATE b SET bytes = randomblob(500) WHERE id % 300 = abs(random()) % 300")
            }
        }
        writer.start()
        for _ in 0..<12 { try await scratch.replica { $0.interval = 1 }.stop() }
        ended.set()
        let points = try DatabaseReplica.histories(in: scratch.destination)[0].points
        #expect(points.count >= 12)
        for point in points { #expect(try scratch.restoredRows(.position(point.position)) == ["900", "900"]) }
        #expect(try DatabaseReplica.verify(scratch.destination).problems.isEmpty)
        #expect(try scratch.objects("/full/").count == 1)
    }

    @Test("follows a file that takes the place of the database")
    func replaced() async throws {
        let scratch = try Scratch()
        var db: Connection? = try Connection(scratch.database)
        try db?.createTables()
        try db?.insert(500)
        let replica = try scratch.replica()
        try await replica.sync()
        db?.close()
        db = nil
        do {
            let other = try Connection(scratch.path("other.db"))
            try other.createTables()
            try other.insert(7)
            other.close()
        }
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: scratch.database + suffix) }
        #expect(rename(scratch.path("other.db"), scratch.database) == 0)
        try await replica.sync()
        #expect(try scratch.restoredRows() == ["7", "7"])
        let again = try Connection(scratch.database)
        try again.insert(1)
        try await replica.stop()
        #expect(try scratch.restoredRows() == ["8", "8"])
    }

    @Test(
        "keeps the log near its threshold under steady load, with and without checkpoints of the writer",
        arguments: [0, 1000])
    func logSize(automatic: Int) async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        try db.run("PRAGMA wal_autocheckpoint = \(automatic)")
        let replica = try scratch.replica { $0.logThreshold = 1 << 20 }
        var largest = 0, looks: Task<Void, any Error>?
        for count in 1...600 {
            try db.insert(10, size: 1000)
            largest = max(largest, scratch.size("notes.db-wal"))
            guard count % 15 == 0 else { continue }
            // A busy processor delays the looks. The load goes on beside them, and is 30 transactions ahead at most.
            try await looks?.value
            looks = Task { _ = try await replica.sync() }
        }
        try await looks?.value
        // The threshold, and the transactions between some looks at the database.
        #expect(largest < 4 << 20)
        try await replica.stop()
        #expect(try scratch.restoredRows() == ["6000", "6000"])
    }

    @Test("holds no lock against a checkpoint that empties the log")
    func truncate() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        let replica = try scratch.replica()
        for _ in 0..<10 {
            try db.insert(50)
            try await replica.sync()
            #expect(try db.value("PRAGMA wal_checkpoint(TRUNCATE)") == "0")
            #expect(scratch.size("notes.db-wal") == 0)
        }
        try await replica.stop()
        #expect(try scratch.restoredRows() == ["500", "500"])
    }

    @Test("goes on when the database leaves WAL mode and returns, which it can't while it is replicated")
    func journalModes() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        for (round, mode) in ["wal", "delete", "wal", "truncate", "persist", "wal"].enumerated() {
            #expect(try db.value("PRAGMA journal_mode = \(mode)") == mode)
            let replica = try scratch.replica()
            try db.insert(10)
            try await replica.sync()
            if mode == "wal" {
                try db.run("PRAGMA busy_timeout = 0")
                #expect(throws: Connection.Failure.self) { try db.value("PRAGMA journal_mode = delete") }
                // Without a log, a write meets the lock of a comparison.
                try db.run("PRAGMA busy_timeout = 10000")
            }
            try db.insert(10)
            try await replica.stop()
            #expect(try scratch.restoredRows() == ["\(20 * (round + 1))", "\(20 * (round + 1))"])
        }
        #expect(try DatabaseReplica.verify(scratch.destination).problems.isEmpty)
        #expect(try DatabaseReplica.histories(in: scratch.destination).count == 1)
    }

    @Test("begins a key generation with a change of the key, and each point opens with the key of its time")
    func rotation() async throws {
        let scratch = try Scratch()
        var db = try Connection(scratch.database)
        try db.createTables()
        try db.insert(100)
        let replica = try scratch.replica()
        let before = try #require(try await replica.sync())
        try db.rekey(Connection.otherKey)
        let after = try #require(try await replica.sync())
        db = try Connection(scratch.database, key: Connection.otherKey)
        try db.insert(1)
        try await replica.stop()
        #expect(try scratch.restoredRows(.position(before)) == ["100", "100"])
        #expect(try scratch.restoredRows(.position(after), key: Connection.otherKey) == ["100", "100"])
        #expect(try scratch.restoredRows(key: Connection.otherKey) == ["101", "101"])
        let points = try #require(DatabaseReplica.histories(in: scratch.destination).first).points
        #expect(points.map(\.keyGeneration) == [1, 2, 2])
    }

    @Test("of a large transaction is stored in parts, and the log is under its threshold afterwards")
    func largeTransaction() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        let replica = try scratch.replica()
        try await replica.sync()
        try db.insert(5000, size: 4000)
        try await replica.sync()
        try db.insert(1)
        // SQLite would keep the file as large as it was.
        for _ in 0..<500 where scratch.size("notes.db-wal") > 4 << 20 { usleep(20_000) }
        #expect(scratch.size("notes.db-wal") <= 4 << 20)
        try await replica.stop()
        #expect(try scratch.objects("/parts/").count > 1)
        #expect(try scratch.restoredRows() == ["5001", "5001"])
        #expect(try DatabaseReplica.verify(scratch.destination).problems.isEmpty)
    }
}

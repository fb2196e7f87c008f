import Foundation
import Strongroom
import TestSupport
import Testing

// The samples of the articles on services and diagnostics, on durability, on dates and on expressions, as they stand
// there: `ArticleTextTests` compares.

@Suite("Samples of the articles on operation", .timeLimit(.minutes(1)))
struct OperationArticleSamples {
    private func makeNotes(_ folder: TemporaryFolder) throws -> DatabasePool {
        let pool = try DatabasePool(path: folder.path("notes.sqlite"), configuration: .encrypted())
        try pool.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, day TEXT)") }
        return pool
    }

    @Test("Services: SIGTERM ends the intake, and what was accepted is written before the process ends")
    func termination() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder(), pool = try Self().makeNotes(folder)

            let (requests, intake) = AsyncStream.makeStream(of: String.self)
            let signals = SuspensionSignals(gracePeriod: 10) {
                intake.finish()
            }
            for text in ["one", "two", "three"] { intake.yield(text) }
            kill(getpid(), SIGTERM)
            for await text in requests {
                try await pool.write { db in
                    try db.execute(sql: "INSERT INTO note (text) VALUES (?)", arguments: [text])
                }
            }
            try pool.close()
            withExtendedLifetime(signals) {}
            let again = try DatabaseQueue(path: folder.path("notes.sqlite"), configuration: .encrypted())
            let count = try await again.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM note") }
            exit(count == 3 ? 0 : 1)
        }
    }

    @Test("Services: a database follows suspensions, and core dumps are prevented")
    func suspension() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            try CoreDumps.prevent()
            var configuration = Configuration.encrypted()
            configuration.observesSuspensionNotifications = true
            let pool = try DatabasePool(path: folder.path("notes.sqlite"), configuration: configuration)
            NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
            do {
                try await pool.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER)") }
                exit(1)
            } catch let error as DatabaseError {
                exit(error.isInterruptionError ? 0 : 2)
            }
        }
    }

    @Test("Diagnostics: SQLite's log has a destination")
    func log() throws {
        let lines = Shared([String]())
        defer { Database.logError = nil }
        Database.logError = { resultCode, message in
            lines.update { $0.append("SQLite \(resultCode.rawValue): \(message)") }
        }
        let queue = try DatabaseQueue(configuration: .encrypted())
        #expect(throws: DatabaseError.self) { try queue.write { try $0.execute(sql: "SELECT * FROM missing") } }
        #expect(lines.value.contains { $0.hasPrefix("SQLite 1: no such table: missing") })
    }

    final class StatementTimes: @unchecked Sendable {
        private let lock = NSLock()
        private var seconds: [String: TimeInterval] = [:]

        func add(_ duration: TimeInterval, for sql: String) {
            lock.withLock { seconds[sql, default: 0] += duration }
        }

        var all: [String: TimeInterval] { lock.withLock { seconds } }
    }

    @Test("Diagnostics: a trace sums the times of statements, without arguments")
    func metrics() throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration.encrypted()
        let encryption = configuration.encryption
        configuration = Configuration()
        configuration.encryption = encryption
        let times = StatementTimes()
        configuration.prepareDatabase { db in
            db.trace(options: .profile) { event in
                if case .profile(let statement, let duration) = event {
                    times.add(duration, for: statement.sql)
                }
            }
        }
        let pool = try DatabasePool(path: folder.path("notes.sqlite"), configuration: configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE note (text TEXT)") }
        let insertion = "INSERT INTO note VALUES (?)"
        for text in ["a secret", "another"] {
            try pool.write { try $0.execute(sql: insertion, arguments: [text]) }
        }
        #expect(times.all[insertion] != nil)
        #expect(!times.all.keys.contains { $0.contains("secret") })
    }

    @Test("Concurrency: a pool's commits wait for the disk where the setting says so")
    func durability() throws {
        let folder = try TemporaryFolder(), pool = try makeNotes(folder)
        func setting() throws -> Int? {
            try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
        }
        #expect(try setting() == 1, "NORMAL")
        try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = EXTRA") }
        #expect(try setting() == 3)
        let queue = try DatabaseQueue(path: folder.path("other.sqlite"), configuration: .encrypted())
        #expect(try queue.inDatabase { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 2, "FULL")
    }

    @Test("Rows and values: a date is stored in milliseconds")
    func dates() throws {
        try withEncryptedQueue { queue in
            try queue.write { db throws in
                try db.execute(sql: "CREATE TABLE note (day TEXT); INSERT INTO note VALUES (NULL)")
                let now = Date()
                try db.execute(sql: "UPDATE note SET day = ?", arguments: [now])
                let stored = try Date.fetchOne(db, sql: "SELECT day FROM note")
                let difference = abs(now.timeIntervalSince(stored ?? .distantPast))
                #expect(difference < 0.000_501)
            }
        }
    }

    @Test("Rows and values: what is converted leniently, as the table says")
    func lenience() throws {
        try withEncryptedQueue { queue in
            try queue.read { db throws in
                #expect(try Int.fetchOne(db, sql: "SELECT 'twelve'") == 0)
                #expect(try Int.fetchOne(db, sql: "SELECT '12 apples'") == 12)
                #expect(try Int.fetchOne(db, sql: "SELECT 3.9") == 3)
                #expect(try Double.fetchOne(db, sql: "SELECT 'twelve'") == 0)
                #expect(try Bool.fetchOne(db, sql: "SELECT 'yes'") == false)
                #expect(try String.fetchOne(db, sql: "SELECT 12") == "12")
                #expect(try String.fetchOne(db, sql: "SELECT x'61FF'") == "a\u{FFFD}")
                #expect(throws: RowDecodingError.self) { try UInt8.fetchOne(db, sql: "SELECT 300") }
                #expect(throws: RowDecodingError.self) { try Date.fetchOne(db, sql: "SELECT 'soon'") }
                #expect(throws: RowDecodingError.self) { try UUID.fetchOne(db, sql: "SELECT 'soon'") }
                #expect(throws: RowDecodingError.self) { try Decimal.fetchOne(db, sql: "SELECT 'soon'") }
                #expect(throws: RowDecodingError.self) { try Int.fetchAll(db, sql: "SELECT NULL") }
                #expect(Int.fromDatabaseValue("twelve".databaseValue) == nil)
                let rows = try Row.fetchCursor(db, sql: "SELECT 'twelve' AS count")
                #expect(try rows.next()?["count"] as Int? == 0)
                let copy = try #require(try Row.fetchOne(db, sql: "SELECT 'twelve' AS count"))
                #expect(throws: RowDecodingError.self) { try copy.decode(Int.self, forColumn: "count") }
                #expect(try Counted.fetchOne(db, sql: "SELECT 'twelve' AS count")?.count == 0)
            }
        }
    }

    private struct Counted: Decodable, FetchableRecord {
        var count: Int
    }

    private struct Player: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String
        var score: Int
    }

    private enum Columns {
        static let name = Column("name")
        static let score = Column("score")
    }

    @Test("Expressions: conditions, orders, aggregates and lists")
    func expressions() throws {
        try withEncryptedQueue { queue in
            try queue.write { db throws in
                try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER)")
                for (id, name, score) in [(1, "Al", 1), (2, "Arthur", 2), (3, "Bo", 7), (4, "Ann", 0)] {
                    try Player(id: Int64(id), name: name, score: score).insert(db)
                }
                let recent =
                    try Player
                    .filter(Columns.score > 0 && Columns.name.like("A%"))
                    .order(length(Columns.name).desc)
                    .fetchAll(db)
                let total = try Player.select(sum(Columns.score), as: Int.self).fetchOne(db)
                let chosen = try Player.filter([1, 2, 3].contains(Columns.score)).fetchCount(db)
                #expect(recent.map(\.name) == ["Arthur", "Al"])
                #expect(total == 10)
                #expect(chosen == 2)
            }
        }
    }

    @Test("KeptBackups: a folder gets a backup, and forgets by a rule")
    func backups() async throws {
        let scratch = try TemporaryFolder(), folder = scratch.path("backups"), path = scratch.path("notes.sqlite")
        let encryption = Encryption(key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000))
        var configuration = Configuration()
        configuration.encryption = encryption
        try await DatabaseQueue(path: path, configuration: configuration).write {
            try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY)")
        }

        let backups = DatabaseBackups(folder: folder)
        let backup = try await backups.make(of: path, encryption: encryption)
        try backups.forget(keeping: BackupRetention("7d,4w,12m")!, of: path, sparing: backup)

        #expect(try backups.backups() == [backup])
    }
}

import CSQLCipher
import CStrongroom
import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Invariant 15: no committed row is lost to SQLite's WAL-reset bug. <https://www.sqlite.org/wal.html#walresetbug>
@Suite("The WAL-reset bug of SQLite")
struct WALResetTests {
    enum Checkpoint: CInt, CaseIterable {
        case passive, full, restart, truncate
        /// After a commit of its own.
        case automatic
    }

    @Test(
        "loses nothing between two pools of a process, with each kind of checkpoint",
        arguments: Checkpoint.allCases, [true, false])
    func pools(_ checkpoint: Checkpoint, writerHasLock: Bool) throws {
        let meeting = try Interleaving()
        let outcome = try meeting.run(
            checkpoint, by: try meeting.pool(), writer: try meeting.pool(), writerHasLock: writerHasLock)
        #expect(meeting.momentCount == 1)
        // A passive checkpoint leaves to a writer what it has, and reports no failure; the others wait, and name
        // the lock.
        let gaveUp = writerHasLock && [.full, .restart, .truncate].contains(checkpoint)
        #expect((outcome as? DatabaseError)?.resultCode == (gaveUp ? .SQLITE_BUSY : nil))
        try meeting.expectEveryRow()
    }

    @Test(
        "loses nothing between a pool and a queue, which may have the file attached", arguments: [true, false],
        [true, false])
    func queue(attaches: Bool, writerHasLock: Bool) throws {
        let meeting = try Interleaving()
        let writer = try meeting.pool(), queue = try attaches ? meeting.attachment() : meeting.queue()
        #expect(try meeting.run(.passive, by: queue, writer: writer, writerHasLock: writerHasLock) == nil)
        #expect(meeting.momentCount == 1)
        try meeting.expectEveryRow()
    }

    @Test(
        "loses nothing between two processes, with each kind of checkpoint", arguments: Checkpoint.allCases,
        [true, false])
    func processes(_ checkpoint: Checkpoint, writerHasLock: Bool) throws {
        let meeting = try Interleaving()
        let pool = try meeting.pool()
        _ = try meeting.run(checkpoint, by: pool, writer: try meeting.otherProcess(), writerHasLock: writerHasLock)
        #expect(meeting.momentCount == 1)
        try meeting.expectEveryRow()
    }

    @Test(
        "loses nothing where the URI of the database names the VFS",
        arguments: ["?vfs=strongroom-faults", "?cache=private&v%66s=strongroom-faults#x"])
    func namedVFS(query: String) throws {
        let meeting = try Interleaving()
        let other = try meeting.pool(query), writer = try meeting.pool(query)
        #expect(try meeting.run(.passive, by: other, writer: writer, writerHasLock: false) == nil)
        #expect(meeting.momentCount == 1)
        try meeting.expectEveryRow()
    }

    @Test(
        "destroys the database by the same steps without the fence", .enabled(if: Database.libraryHasWALResetBug),
        arguments: [
            (Checkpoint.passive, false), (.passive, true), (.full, true), (.truncate, true), (.automatic, false),
        ], [true, false])
    func control(_ steps: (Checkpoint, Bool), inProcesses: Bool) throws {
        let meeting = try Interleaving()
        let connection = try meeting.stockConnection()
        let writer = inProcesses ? try meeting.otherProcess() : try meeting.stockConnection()
        _ = try meeting.run(steps.0, by: connection, writer: writer, writerHasLock: steps.1)
        #expect(meeting.momentCount == 1)
        #expect(!meeting.hasEveryRow)
    }

    @Test(
        "is fenced without a deadlock: a writer moves its own log, in every way, and beside an idle pool",
        arguments: Checkpoint.allCases)
    func ownCheckpoints(_ checkpoint: Checkpoint) throws {
        let meeting = try Interleaving()
        let writer = try meeting.pool(), idle = try meeting.pool()
        if checkpoint == .automatic { try writer.execute("PRAGMA wal_autocheckpoint = 1") }
        try writer.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
        for number in 1...20 {
            try writer.execute("BEGIN IMMEDIATE")
            try writer.execute("INSERT INTO t VALUES (\(number), randomblob(3000))")
            try writer.execute("COMMIT")
            try idle.execute("UPDATE t SET b = randomblob(3000) WHERE a = \(number)")
            if checkpoint != .automatic { try writer.checkpoint(checkpoint.rawValue) }
        }
        writer.close()
        idle.close()
        let queue = try DatabaseQueue(path: meeting.path, configuration: Interleaving.configuration)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 20)
        #expect(try queue.checkIntegrity().isIntact)
    }

    @Test("is fenced where a connection keeps all others out for a while")
    func exclusiveMode() throws {
        let meeting = try Interleaving()
        let queue = try DatabaseQueue(path: meeting.path, configuration: Interleaving.configuration)
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
            for mode in ["EXCLUSIVE", "NORMAL"] {
                #expect(try String.fetchOne(db, sql: "PRAGMA locking_mode = \(mode)") == mode.lowercased())
                try db.execute(sql: "INSERT INTO t(b) VALUES (randomblob(9000))")
                for kind in [Database.CheckpointMode.passive, .full, .restart, .truncate] { try db.checkpoint(kind) }
                try db.execute(sql: "INSERT INTO t(b) VALUES (randomblob(9000))")
            }
        }
        let other = try meeting.pool()
        try other.execute("INSERT INTO t(b) VALUES (1)")
        try other.checkpoint(Checkpoint.truncate.rawValue)
        try queue.write { try $0.execute(sql: "INSERT INTO t(b) VALUES (2)") }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 6)
    }

    @Test(
        "leaves no lock behind when the checkpoint is over",
        arguments: [Database.CheckpointMode.passive, .full, .truncate])
    func noLockLeft(_ kind: Database.CheckpointMode) throws {
        let meeting = try Interleaving()
        let pool = try meeting.pool(), shell = try meeting.otherProcess()
        try pool.execute("CREATE TABLE t(a)")
        try pool.checkpoint(kind.rawValue)
        try shell.execute("INSERT INTO t VALUES (1)")
        try shell.execute("BEGIN IMMEDIATE")
        // Beside the writer: gives up, and must not have taken anything.
        try? pool.checkpoint(kind.rawValue)
        try shell.execute("INSERT INTO t VALUES (2)")
        try shell.execute("COMMIT")
        try pool.execute("INSERT INTO t VALUES (3)")
        try shell.execute("INSERT INTO t VALUES (4)")
    }

    @Test(
        "is where SQLite has it",
        arguments: [
            (3_006_023, nil, false), (3_007_000, nil, true), (3_036_000, "4.5.0 community", true),
            (3_044_005, nil, true), (3_044_006, nil, false),
            (3_044_999, nil, false), (3_045_000, nil, true), (3_046_001, "4.6.1 community", true),
            (3_050_006, "4.10.0 community", true),
            (3_050_007, nil, false), (3_050_999, nil, false), (3_051_000, nil, true),
            (3_051_002, "4.13.0 community", true),
            (3_051_002, "4.14.0 community", false), (3_051_002, "4.19.0", false), (3_051_002, "5.0.0", false),
            (3_051_002, "4.140", false),
            (3_051_002, "", true), (3_051_002, "unknown", true), (3_051_003, "4.13.0 community", false),
            (3_052_000, nil, false), (4_000_000, nil, false),
        ] as [(CInt, String?, Bool)])
    func versions(sqlite: CInt, sqlcipher: String?, hasBug: Bool) {
        #expect(strongroom_has_wal_reset_bug(sqlite, sqlcipher) == hasBug)
    }
}

/// One connection moves the log into the file, another one commits in the middle of it, and begins the log anew: the
/// window is where SQLite calls `xUnfetch`, after it has read where the log ends.
private final class Interleaving {
    struct Side {
        let execute: (String) throws -> Void
        let checkpoint: (CInt) throws -> Void
        let close: () -> Void
    }

    struct Busy: Error {}

    let path: String
    private(set) var momentCount = 0
    private let folder: TemporaryFolder
    private var writer: Side!
    private var writerHasLock = false
    private var nextRow = 1
    private var committed: [Int] = []
    static let spelledKey = "x'" + String(repeating: "3c", count: 32) + "'"

    static var configuration: Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase(spelledKey))
        configuration.allowsUnsafeTransactions = true
        return configuration
    }

    init() throws {
        strongroom_faults_install()
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
    }

    // MARK: Sides

    /// - parameter query: that of a URI.
    func pool(_ query: String = "") throws -> Side {
        let name = query.isEmpty ? path : "file:" + path + query
        return try Self.side(DatabasePool(path: name, configuration: Self.configuration))
    }

    func queue() throws -> Side { try Self.side(DatabaseQueue(path: path, configuration: Self.configuration)) }

    /// Works on the file as an attached database.
    func attachment() throws -> Side {
        let queue = try DatabaseQueue(path: folder.path("main.sqlite"), configuration: Self.configuration)
        try queue.inDatabase { try $0.attach(path: path, as: "other", encryption: Self.configuration.encryption) }
        return Self.side(queue, schema: "other")
    }

    private static func side(_ access: some DatabaseWriter, schema: String = "main") -> Side {
        Side(
            execute: { sql in try access.writeWithoutTransaction { try $0.execute(sql: sql) } },
            checkpoint: { mode in
                try access.writeWithoutTransaction {
                    _ = try $0.checkpoint(Database.CheckpointMode(rawValue: mode)!, on: schema)
                }
            },
            close: { try? access.close() })
    }

    /// SQLite without a fence.
    func stockConnection() throws -> Side {
        var db: SQLiteConnection?
        try #require(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil) == SQLITE_OK)
        sqlite3_key(db, Self.spelledKey, CInt(Self.spelledKey.utf8.count))
        func execute(_ sql: String) throws { if sqlite3_exec(db, sql, nil, nil, nil) != SQLITE_OK { throw Busy() } }
        try execute("PRAGMA journal_mode = WAL")
        return Side(
            execute: execute,
            checkpoint: { if sqlite3_wal_checkpoint_v2(db, "main", $0, nil, nil) != SQLITE_OK { throw Busy() } },
            close: { sqlite3_close(db) })
    }

    func otherProcess() throws -> Side {
        let shell = try startShell(
            path, key: Self.spelledKey, setUp: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;")
        func execute(_ sql: String) throws {
            if try shell.run(sql + ";").contains(where: { $0.lowercased().contains("error") }) { throw Busy() }
        }
        return Side(
            execute: execute,
            checkpoint: {
                try execute("PRAGMA wal_checkpoint(\(["PASSIVE", "FULL", "RESTART", "TRUNCATE"][Int($0)]))")
            },
            close: { withExtendedLifetime(shell) {} })
    }

    // MARK: Steps

    /// - parameter writerHasLock: whether the writer has begun its transaction before the checkpoint.
    /// - returns: what the checkpoint threw.
    func run(
        _ checkpoint: WALResetTests.Checkpoint, by other: Side, writer: Side, writerHasLock: Bool
    ) throws -> (any Error)? {
        let isAutomatic = checkpoint == .automatic
        self.writer = writer
        self.writerHasLock = writerHasLock && !isAutomatic
        defer { writer.close() }
        defer { other.close() }
        try fill(beside: other)
        if isAutomatic {
            try other.execute("PRAGMA wal_autocheckpoint = 1")
            at(STRONGROOM_MOMENT_TRANSACTION_ENDED) {
                try? $0.moveLog()
                $0.at(STRONGROOM_MOMENT_LOG_END_READ) { $0.commitInTheMiddle() }
            }
        } else {
            try moveLog()
            if self.writerHasLock { try writer.execute("BEGIN IMMEDIATE") }
            at(STRONGROOM_MOMENT_LOG_END_READ) { $0.commitInTheMiddle() }
        }
        let result = Result { isAutomatic ? try insert(by: other) : try other.checkpoint(checkpoint.rawValue) }
        // Without the fence, some of this fails already.
        for _ in 0..<5 { insert() }
        try? writer.checkpoint(WALResetTests.Checkpoint.truncate.rawValue)
        if case .failure(let error) = result { return error }
        return nil
    }

    /// Rows that `other` has seen.
    private func fill(beside other: Side) throws {
        try writer.execute("PRAGMA wal_autocheckpoint = 0")
        try writer.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
        for _ in 0..<40 { insert() }
        try other.execute("PRAGMA wal_autocheckpoint = 0")
        try other.execute("SELECT count(*) FROM t")
    }

    /// A commit that `other` has not seen; then the whole log is in the file, and the next commit begins it anew.
    private func moveLog() throws {
        insert()
        try writer.checkpoint(0)
    }

    private func commitInTheMiddle() {
        momentCount += 1
        if writerHasLock {
            let row = nextRow
            nextRow += 1
            try? writer.execute("INSERT INTO t VALUES (\(row), randomblob(3000))")
            if (try? writer.execute("COMMIT")) != nil { committed.append(row) }
        } else {
            insert()
        }
    }

    private func insert() { try? insert(by: writer) }

    private func insert(by side: Side) throws {
        let row = nextRow
        nextRow += 1
        try side.execute("INSERT INTO t VALUES (\(row), randomblob(3000))")
        committed.append(row)
    }

    private func at(_ moment: strongroom_moment, _ act: @escaping (Interleaving) -> Void) {
        let context = Unmanaged.passRetained(Appointment { act(self) })
        strongroom_faults_at(
            moment, path, { Unmanaged<Appointment>.fromOpaque($0!).takeRetainedValue().act() }, context.toOpaque())
    }

    private final class Appointment {
        let act: () -> Void
        init(_ act: @escaping () -> Void) { self.act = act }
    }

    // MARK: Afterwards

    var hasEveryRow: Bool {
        guard let queue = try? DatabaseQueue(path: path, configuration: Self.configuration) else { return false }
        let rows = try? queue.read { try Int.fetchAll($0, sql: "SELECT a FROM t ORDER BY a") }
        let isIntact = try? queue.checkIntegrity().isIntact
        return rows == committed.sorted() && isIntact == true
    }

    func expectEveryRow(_ location: SourceLocation = #_sourceLocation) throws {
        let queue = try DatabaseQueue(path: path, configuration: Self.configuration)
        let rows = try queue.read { try Int.fetchAll($0, sql: "SELECT a FROM t ORDER BY a") }
        #expect(rows == committed.sorted(), sourceLocation: location)
        #expect(committed.count >= 45, sourceLocation: location)
        #expect(try queue.checkIntegrity().isIntact, sourceLocation: location)
    }
}

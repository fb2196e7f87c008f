import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Every write, sync and read of a change of key fails in turn: after each failure exactly one key opens everything.
@Suite("A rotation whose files fail")
struct RotationFailureTests {
    enum Failure: String, Sendable {
        case change, disk, tear, read

        var fault: strongroom_fault {
            switch self {
            case .change: STRONGROOM_FAULT_CHANGE
            case .disk: STRONGROOM_FAULT_FULL
            case .tear: STRONGROOM_FAULT_TORN
            case .read: STRONGROOM_FAULT_READ
            }
        }
    }

    @Test(
        "once, at any operation, leaves one key that opens every row, also after a crash",
        arguments: [(Failure.change, true), (.change, false), (.tear, true), (.read, true)])
    func once(_ failure: Failure, wal: Bool) throws {
        try failAtEachOperation(failure, wal: wal, lasting: false)
    }

    @Test(
        "from any operation on, leaves one key that opens every row, also after a crash",
        arguments: [(Failure.change, true), (.change, false), (.disk, true), (.read, true)])
    func lasting(_ failure: Failure, wal: Bool) throws {
        try failAtEachOperation(failure, wal: wal, lasting: true)
    }

    private func failAtEachOperation(_ failure: Failure, wal: Bool, lasting: Bool) throws {
        strongroom_faults_install()
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var place = RotatedFile(path: path)
        // Enough for frames to be written on the way, and not by the commit only.
        try place.create(wal: wal, rows: 60)
        var operation: Int64 = 0, failures = 0
        let step = Form.step(5, "operations that fail in a rotation")
        while true {
            let queue = try DatabaseQueue(path: path, configuration: place.configuration)
            let hits = strongroom_faults_hits()
            if lasting {
                strongroom_faults_set(folder.path, failure.fault, operation)
            } else {
                strongroom_faults_set_once(folder.path, failure.fault, operation)
            }
            let outcome = Result { try queue.rotateKey(to: place.otherKey) }
            strongroom_faults_clear(folder.path)
            let context = "\(failure) at operation \(operation): \(outcome)"
            if case .failure = outcome { failures += 1 }
            var crashed = try place.crash(into: folder.path("crashed-\(operation)"))
            try crashed.requireOneKey("after a crash, \(context)")
            try place.write(queue)
            try queue.close()
            try place.requireOneKey(context)
            if strongroom_faults_hits() == hits { break }
            operation += step
        }
        #expect(operation > 20)
        #expect(failures > (Form.isWhole ? 2 : 0))
    }

    @Test("at its commit says so: the connection writes nothing any more, and the old key opens everything")
    func failedCommit() throws {
        strongroom_faults_install()
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var place = RotatedFile(path: path)
        try place.create(wal: true, rows: 24)
        let queue = try DatabaseQueue(path: path, configuration: place.configuration)
        // The salt of the log is synced first, then the commit.
        strongroom_faults_set(folder.path, STRONGROOM_FAULT_SYNC, 1)
        let error = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: place.otherKey) }
        strongroom_faults_clear(folder.path)
        #expect(error?.resultCode == .SQLITE_IOERR)
        #expect(error?.reason == .keyUnchanged)
        #expect(error?.isConnectionUsable == false)
        #expect(throws: DatabaseError.self) { try queue.write { try $0.execute(sql: "UPDATE t SET c = c + 1") } }
        try queue.close()
        try place.requireOneKey("after the failed commit")
        #expect(!place.isNew)
    }

    @Test("by a damaged page says which page, changes nothing, and mixes no keys")
    func damagedPage() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var place = RotatedFile(path: path)
        try place.create(wal: true, rows: 400)
        try flip(path, at: 4096 * 60 + 100)
        let queue = try DatabaseQueue(path: path, configuration: place.configuration)
        let error = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: place.otherKey) }
        #expect(error?.resultCode == .SQLITE_CORRUPT)
        #expect(error?.reason == .keyUnchanged)
        #expect(error?.damagedPage == 61)
        try place.write(queue)
        try queue.close()
        try flip(path, at: 4096 * 60 + 100)
        try place.requireOneKey("after the repair")
        #expect(place.isNew == false)
    }

    @Test("to write without an error is detected by the verification", arguments: Int64(1)..<5)
    func lyingDisk(write: Int64) throws {
        strongroom_faults_install()
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var place = RotatedFile(path: path)
        try place.create(wal: true, rows: 200)
        let queue = try DatabaseQueue(path: path, configuration: place.configuration)
        strongroom_faults_set_once(path + "-wal", STRONGROOM_FAULT_LIE, write)
        let error = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: place.otherKey) }
        strongroom_faults_clear(path + "-wal")
        #expect(error?.resultCode == .SQLITE_CORRUPT)
        #expect(error?.reason == .keyChanged)
        #expect(error?.damagedPage != nil)
        try queue.close()
        let report = try DatabaseQueue(path: path, configuration: RotatedFile.configuration(isNew: true))
            .checkIntegrity()
        #expect(report.unauthenticPages?.count == 1)
    }

    @Test("does not notify transaction observers, and they can't refuse it")
    func observers() throws {
        final class Veto: TransactionObserver {
            nonisolated(unsafe) var calls = 0
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseWillCommit() throws { calls += 1 }
            func databaseDidCommit(_ db: Database) { calls += 1 }
            func databaseDidRollback(_ db: Database) { calls += 1 }
        }
        strongroom_faults_install()
        let folder = try TemporaryFolder()
        var place = RotatedFile(path: folder.path("db.sqlite"))
        try place.create(wal: true, rows: 200)
        let queue = try DatabaseQueue(path: place.path, configuration: place.configuration)
        let veto = Veto()
        queue.add(transactionObserver: veto)
        strongroom_faults_set_once(folder.path, STRONGROOM_FAULT_FULL, 0)
        #expect(throws: DatabaseError.self) { try queue.rotateKey(to: place.otherKey) }
        strongroom_faults_clear(folder.path)
        _ = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(veto.calls == 0)
        try place.write(queue)
        #expect(veto.calls == 2)
        try queue.close()
        try place.requireOneKey("with an observer")
    }
}

/// A database that has one of two keys, and the count of rows that were acknowledged.
struct RotatedFile {
    let path: String
    private(set) var rows = 0
    private(set) var writes = 0
    private(set) var isNew = false
    var otherKey: DatabaseKey { get throws { try Self.key(isNew: !isNew) } }
    var configuration: Configuration { get throws { try Self.configuration(isNew: isNew) } }

    init(path: String) {
        self.path = path
    }

    /// Raw, because a wrong passphrase is tried in all the older formats, at a price.
    private static func key(isNew: Bool) throws -> DatabaseKey {
        try .rawKey([UInt8](repeating: isNew ? 2 : 1, count: 32))
    }

    static func configuration(isNew: Bool) throws -> Configuration {
        var configuration = Configuration()
        configuration.encryption = try Encryption(key: key(isNew: isNew))
        return configuration
    }

    mutating func create(wal: Bool, rows: Int) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = \(wal ? "wal" : "delete")") }
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c DEFAULT 0)")
            for _ in 0..<rows { try db.execute(sql: "INSERT INTO t(b) VALUES (randomblob(3000))") }
        }
        try queue.close()
        self.rows = rows
    }

    /// A write that would mix keys in the file, if the connection had the wrong one: it may refuse, but then nothing is
    /// written.
    mutating func write(_ queue: DatabaseQueue) throws {
        do {
            // The database stays as large as it is, or operations would grow faster than they fail.
            try queue.write { try $0.execute(sql: "UPDATE t SET b = randomblob(3000), c = c + 1 WHERE a % 4 = 1") }
            writes += 1
        } catch is DatabaseError {}
    }

    /// The rows of others.
    mutating func countWrites(_ count: Int) { writes += count }

    /// The files as a crash leaves them: the shared memory is gone, and the log is recovered.
    func crash(into folder: String) throws -> RotatedFile {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var copy = RotatedFile(path: folder + "/db.sqlite")
        (copy.rows, copy.writes, copy.isNew) = (rows, writes, isNew)
        for ending in ["", "-wal", "-journal", "-salt-next"] where FileManager.default.fileExists(atPath: path + ending)
        {
            try FileManager.default.copyItem(atPath: path + ending, toPath: copy.path + ending)
        }
        return copy
    }

    /// Exactly one of the two keys opens the database, each page is authentic under it, and each acknowledged row is
    /// there.
    mutating func requireOneKey(_ context: String) throws {
        let survivors = [false, true].filter(opens)
        try #require(survivors.count == 1, "\(context): \(survivors)")
        isNew = survivors[0]
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let report = try queue.checkIntegrity()
        #expect(report.isIntact, "\(context): \(report)")
        let found = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        let counted = try queue.read { try Int.fetchOne($0, sql: "SELECT c FROM t WHERE a = 1") }
        #expect(found == rows && counted == writes, "\(context)")
        try queue.close()
        let isPending = try DatabaseFile.inspect(path: path).isRotationPending
        #expect(!isPending, "\(context)")
    }

    private func opens(isNew: Bool) -> Bool {
        guard let queue = try? DatabaseQueue(path: path, configuration: Self.configuration(isNew: isNew)) else {
            return false
        }
        try? queue.close()
        return true
    }
}

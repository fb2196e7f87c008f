import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A suspension reaches", .timeLimit(.minutes(5)), .serialized)
struct SuspensionReachTests {
    private static let rowCount = 40_000
    private static let template = try! LargeDatabase.template(rowCount: rowCount)

    private func makeLarge(_ mode: String = "wal") throws -> LargeDatabase {
        try LargeDatabase(Self.template, mode == "wal" ? walConfiguration() : .encrypted())
    }

    /// Suspends the work at its first lock. Once in several times must be in time, on a machine that has much else to
    /// do.
    private func expectInTime(_ mode: String, _ work: @escaping @Sendable (DatabaseQueue) throws -> Void) throws {
        var times: [Double] = []
        for _ in 1...5 where times.min() ?? 1 > 0.1 {
            let large = try makeLarge(mode)
            let (_, time, error) = try large.suspend(at: { _, large in try !large.locks().isEmpty }, during: work)
            #expect((error as? DatabaseError)?.isInterruptionError == true, "\(String(describing: error))")
            #expect(try large.queue.read { try $0.countWines() } == Self.rowCount)
            times.append(time)
        }
        #expect(times.min()! < 0.1, "\(times)")
    }

    @Test(
        "work without a progress handler",
        arguments: [
            "DELETE FROM wine", "DROP TABLE wine", "VACUUM", "UPDATE wine SET name = name || 'x'",
        ], ["wal", "delete"])
    func statement(sql: String, mode: String) throws {
        try expectInTime(mode) { queue in try queue.writeWithoutTransaction { try $0.execute(sql: sql) } }
    }

    @Test("a backup into the database, in one step and in steps", arguments: [-1, 50], ["wal", "delete"])
    func backup(pagesPerStep: CInt, mode: String) throws {
        let source = try makeLarge()
        try expectInTime(mode) { queue in try source.queue.backup(to: queue, pagesPerStep: pagesPerStep) }
    }

    /// Suspends a write without a log when its journal is large.
    private func suspendWrite(to large: LargeDatabase, keepsLocks: Bool = false) throws {
        let journal = large.path + "-journal"
        let (_, _, error) = try large.suspend(
            keepsLocks: keepsLocks,
            at: { _, _ in
                let size = (try? FileManager.default.attributesOfItem(atPath: journal))?[.size] as? NSNumber
                return (size?.intValue ?? 0) > 8_000_000
            }
        ) { queue in
            try queue.write { try $0.execute(sql: "UPDATE wine SET name = hex(randomblob(450))") }
        }
        #expect((error as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT, "\(String(describing: error))")
    }

    private func expectIntact(_ large: LargeDatabase) throws {
        #expect(try large.queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        #expect(try large.queue.read { try $0.countWines() } == Self.rowCount)
        try large.queue.write { try $0.insertWine() }
        #expect(try large.queue.read { try $0.countWines() } == Self.rowCount + 1)
    }

    @Test(
        "a write that takes long to undo: its journal is left to the next one that reads, here or in another process",
        arguments: [false, true])
    func leftJournal(byShell: Bool) throws {
        let large = try makeLarge("delete")
        let journal = large.path + "-journal"
        try suspendWrite(to: large)
        #expect(FileManager.default.fileExists(atPath: journal))
        if byShell {
            let sql = "SELECT integrity_check = 'ok' FROM pragma_integrity_check; SELECT count(*) FROM wine;"
            #expect(try stockShell(large.path, sql) == ["1", "\(Self.rowCount)"])
        }
        try expectIntact(large)
        #expect(!FileManager.default.fileExists(atPath: journal))
    }

    @Test("a write of a connection that keeps its locks: the connection restores the file itself")
    func exclusiveLocking() throws {
        let large = try makeLarge("delete")
        try large.queue.inDatabase { _ = try String.fetchOne($0, sql: "PRAGMA locking_mode = EXCLUSIVE") }
        try suspendWrite(to: large, keepsLocks: true)
        try expectIntact(large)
    }

    @Test("a journal in memory, which no other connection could roll back")
    func journalInMemory() throws {
        let large = try makeLarge("delete")
        try large.queue.inDatabase { _ = try String.fetchOne($0, sql: "PRAGMA journal_mode = MEMORY") }
        // Changed pages go to the file, which then no other connection may read.
        let (_, _, error) = try large.suspend(at: { _, large in
            try Locks.exclusive(on: large.path).contains { $0.hasSuffix(" 1073742335") }
        }) { queue in
            try queue.write { try $0.execute(sql: "UPDATE wine SET name = hex(randomblob(450))") }
        }
        #expect((error as? DatabaseError)?.isInterruptionError == true)
        #expect(try large.queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        #expect(try large.queue.read { try $0.countWines() } == Self.rowCount)
    }

    @Test("a rotation", arguments: ["wal", "delete"])
    func rotation(mode: String) throws {
        try expectInTime(mode) { try $0.rotateKey(to: .passphrase("battery staple")) }
    }

    @Test("the checkpoint of a commit, which stays committed")
    func automaticCheckpoint() throws {
        let large = try makeLarge()
        try large.queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 1") }
        let (_, time, error) = try large.suspend(at: { _, large in try large.checkpoints() }) { queue in
            try queue.write { try $0.execute(sql: "UPDATE wine SET name = 'Chinon ' || name") }
        }
        #expect(error == nil)
        #expect(time < 0.5)
        let log = try large.queue.writeWithoutTransaction { try $0.checkpoint(.passive) }
        #expect(log.walFrameCount > 1000)
        #expect(
            try large.queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM wine WHERE name LIKE 'Chinon %'") }
                == Self.rowCount)
    }

    @Test("an explicit checkpoint")
    func checkpoint() throws {
        let large = try makeLarge()
        try large.queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; UPDATE wine SET name = name || 'x'")
        }
        let (_, time, error) = try large.suspend(at: { _, large in try large.checkpoints() }) { queue in
            try queue.writeWithoutTransaction { _ = try $0.checkpoint(.full) }
        }
        #expect((error as? DatabaseError)?.isInterruptionError == true)
        #expect(time < 0.5)
        #expect(try large.queue.read { try $0.countWines() } == Self.rowCount)
    }
}

@Suite("Stops reach long work between two pages", .timeLimit(.minutes(2)))
struct LongWorkTests {
    private func fill(_ writer: any DatabaseWriter) throws {
        try writer.write { db in
            for _ in 0..<3000 { try db.execute(sql: "INSERT INTO wine (name) VALUES (hex(randomblob(450)))") }
        }
    }

    private func stop(_ kind: StopKind, _ writer: any DatabaseWriter, _ task: Task<Void, any Error>?) {
        switch kind {
        case .interruption: writer.interrupt()
        case .cancellation: task?.cancel()
        case .suspension: writer.suspend()
        }
    }

    /// The error of a task that is stopped by its own progress.
    private func error(
        _ kind: StopKind, _ writer: any DatabaseWriter,
        _ work: @escaping @Sendable (_ stop: @escaping @Sendable () -> Void) async throws -> Void
    ) async throws -> (any Error)? {
        let task = Shared<Task<Void, any Error>?>(nil)
        let mayBegin = Gate()
        task.update {
            $0 = Task {
                try await onThread { mayBegin.pass() }
                try await work { stop(kind, writer, task.value) }
            }
        }
        mayBegin.open()
        do {
            try await task.value!.value
            return nil
        } catch {
            return error
        }
    }

    @Test("of a rotation, which is undone", arguments: StopKind.allCases, [WriterKind.queue, .pool])
    func rotation(kind: StopKind, writerKind: WriterKind) async throws {
        let (writer, folder) = try writerKind.make()
        try fill(writer)
        let mode = try await journalMode(of: writer)
        let error = try await error(kind, writer) { stop in
            try await writer.rotateKey(to: .passphrase("battery staple")) { if $0.completedPageCount == 10 { stop() } }
        }
        #expect(kind.matches(error), "\(String(describing: error))")
        #expect(try Locks.exclusive(on: folder.path("db.sqlite")).isEmpty)
        writer.resume()
        #expect(try await journalMode(of: writer) == mode)
        try await writer.write { try $0.insertWine() }
        let other = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
        #expect(try await other.read { try $0.countWines() } == 3001)
    }

    private func journalMode(of writer: any DatabaseWriter) async throws -> String? {
        try await writer.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
    }

    @Test("of the log that a rotation has filled: the key is changed, and the rest is done later")
    func rotationCheckpoint() throws {
        let fixture = try QueueFixture(walConfiguration()), queue = fixture.queue
        try fill(queue)
        try queue.writeWithoutTransaction { db in
            try db.checkpoint(.truncate)
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 1")
        }
        let file = URL(fileURLWithPath: queue.path), before = try Data(contentsOf: file)
        let outcome = try queue.rotateKey(to: .passphrase("battery staple")) { progress in
            // The last pages are part of the commit.
            if progress.completedPageCount > progress.totalPageCount - 32 { queue.suspend() }
        }
        #expect(outcome == .unfinished)
        #expect(try Data(contentsOf: file) == before)
        #expect(try Locks.exclusive(on: queue.path).isEmpty)
        queue.resume()
        #expect(try queue.finishKeyRotation() == .complete)
        let other = try DatabaseQueue(path: queue.path, configuration: .encrypted(passphrase: "battery staple"))
        #expect(try other.read { try $0.countWines() } == 3000)
    }

    @Test("of a backup, on either side", arguments: StopKind.allCases, [true, false])
    func backup(kind: StopKind, stopsSource: Bool) async throws {
        let source = try QueueFixture().queue, destination = try QueueFixture().queue
        try fill(source)
        let stopped = stopsSource ? source : destination
        let error = try await error(kind, stopped) { stop in
            try await stopped.writeWithoutTransaction { db in
                let run = { (source: Database, destination: Database) in
                    try source.backup(to: destination, pagesPerStep: 5) { _ in stop() }
                }
                if stopsSource {
                    try destination.writeWithoutTransaction { try run(db, $0) }
                } else {
                    try source.writeWithoutTransaction { try run($0, db) }
                }
            }
        }
        #expect(kind.matches(error), "\(String(describing: error))")
        stopped.resume()
        #expect(try await destination.read { try $0.countWines() } == 0)
        try source.backup(to: destination)
        #expect(try await destination.read { try $0.countWines() } == 3000)
    }

    @Test("of a copy in another encryption, of which nothing is left", arguments: StopKind.allCases)
    func copy(kind: StopKind) async throws {
        let fixture = try QueueFixture(), path = fixture.folder.path("copy.sqlite")
        try fill(fixture.queue)
        let held = Shared(0)
        let error = try await error(kind, fixture.queue) { stop in
            try await fixture.queue.writeWithoutTransaction { db in
                try DatabaseFile.copy(
                    db, to: path, Encryption(key: .passphrase("copy")),
                    { _ in
                        if held.update({
                            $0 += 1
                            return $0
                        }) == 2 {
                            stop()
                        }
                    })
            }
        }
        #expect(kind.matches(error), "\(String(describing: error))")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path).allSatisfy {
                !$0.hasPrefix("copy")
            })
    }
}

private let encryption = Encryption(key: .passphrase("correct horse"))

private func makeFile(_ folder: TemporaryFolder) throws -> String {
    var configuration = Configuration()
    configuration.encryption = encryption
    configuration.journalMode = .wal
    let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
    try queue.write { try $0.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT)") }
    try queue.close()
    return queue.path
}

@Suite("Stops reach work on files that no pool has open", .timeLimit(.minutes(2)), .serialized)
struct FileWorkStopTests {
    @Test("of a change of header, before it has changed")
    func header() async throws {
        let folder = try TemporaryFolder(), path = try makeFile(folder)
        let isCancelled = Gate()
        let task = Task {
            try await onThread { isCancelled.pass() }
            try DatabaseFile.setPlaintextHeader(
                PlaintextHeader(size: 32, salt: .sidecar), path: path, encryption: encryption)
        }
        task.cancel()
        isCancelled.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!FileManager.default.fileExists(atPath: path + "-salt"))
        try DatabaseFile.setPlaintextHeader(
            PlaintextHeader(size: 32, salt: .sidecar), path: path, encryption: encryption)
    }

    @Test("of a copy, by the notification of a suspension, which stops all such work of the process")
    func copy() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder(), path = try makeFile(folder)
            let error = #expect(throws: DatabaseError.self) {
                try DatabaseFile.decrypt(path: path, to: folder.path("copy.sqlite"), encryption: encryption) { _ in
                    NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
                }
            }
            NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
            #expect(error?.isInterruptionError == true)
            #expect(!FileManager.default.fileExists(atPath: folder.path("copy.sqlite")))
        }
    }
}

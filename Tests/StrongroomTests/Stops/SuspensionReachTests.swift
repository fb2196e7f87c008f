import Foundation
@testable import Strongroom
import Testing

@Suite("A suspension reaches", .timeLimit(.minutes(5)), .serialized)
struct SuspensionReachTests {
    /// A large database, made once.
    private static let template: TemporaryFolder = {
        let folder = try! TemporaryFolder()
        folder.keep()
        let queue = try! DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
        try! queue.write { db in
            try db.execute(sql: """
                CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
                INSERT INTO wine (name) SELECT hex(randomblob(450)) FROM n
                """)
        }
        try! queue.close()
        return folder
    }()

    private func largeQueue(_ configuration: Configuration) throws -> (DatabaseQueue, TemporaryFolder) {
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: Self.template.path("db.sqlite"), toPath: folder.path("db.sqlite"))
        return (try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration), folder)
    }

    private func configuration(_ mode: String) -> Configuration {
        mode == "wal" ? walConfiguration() : .encrypted()
    }

    /// Suspends `queue` once `work` holds a lock. Answers what it threw, and after how many seconds the lock was gone.
    private func suspend(
        _ queue: DatabaseQueue, _ folder: TemporaryFolder, _ work: @escaping @Sendable () throws -> Void) throws -> ((any Error)?, Double)
    {
        let path = folder.path("db.sqlite")
        let error = Shared<(any Error)?>(nil)
        let working = start {
            do { try work() } catch let failure { error.update { $0 = failure } }
        }
        while try Locks.exclusive(on: path).isEmpty { try #require(!working.opens(within: 0), "nothing took a lock") }
        let start = Date()
        queue.suspend()
        while try !Locks.exclusive(on: path).isEmpty { try #require(-start.timeIntervalSinceNow < 20, "the lock stays") }
        let time = -start.timeIntervalSinceNow
        working.pass()
        return (error.value, time)
    }

    /// Once in several times must do, on a machine that has much else to do.
    private func expectInTime(
        _ mode: String, _ work: @escaping @Sendable (DatabaseQueue) throws -> Void) throws
    {
        var times: [Double] = []
        for _ in 1...5 where times.min() ?? 1 > 0.1 {
            let (queue, folder) = try largeQueue(configuration(mode))
            let (error, time) = try suspend(queue, folder) { try work(queue) }
            #expect((error as? DatabaseError)?.isInterruptionError == true, "\(String(describing: error))")
            queue.resume()
            #expect(try queue.read { try $0.countWines() } == 40_000)
            times.append(time)
        }
        #expect(times.min()! < 0.1, "\(times)")
    }

    @Test("what no progress handler is asked for", arguments: [
        "DELETE FROM wine", "DROP TABLE wine", "VACUUM", "UPDATE wine SET name = name || 'x'",
    ], ["wal", "delete"])
    func statement(sql: String, mode: String) throws {
        try expectInTime(mode) { queue in try queue.writeWithoutTransaction { try $0.execute(sql: sql) } }
    }

    @Test("a backup into the database, at once and in steps", arguments: [-1, 50], ["wal", "delete"])
    func backup(pagesPerStep: CInt, mode: String) throws {
        let (source, kept) = try largeQueue(.encrypted())
        try expectInTime(mode) { queue in try source.backup(to: queue, pagesPerStep: pagesPerStep) }
        _ = kept
    }

    @Test("a rotation", arguments: ["wal", "delete"])
    func rotation(mode: String) throws {
        try expectInTime(mode) { try $0.rotateKey(to: .passphrase("battery staple")) }
    }

    @Test("the checkpoint of a commit, which stays committed")
    func automaticCheckpoint() throws {
        let (queue, folder) = try largeQueue(walConfiguration())
        let observer = CommitObserver()
        // After the last moment at which the commit could be refused, and before its checkpoint.
        observer.willCommit = { queue.suspend() }
        queue.add(transactionObserver: observer)
        try queue.write { try $0.execute(sql: "UPDATE wine SET name = 'Chinon'") }
        #expect(try Locks.exclusive(on: folder.path("db.sqlite")).isEmpty)
        observer.willCommit = {}
        queue.resume()
        let log = try queue.writeWithoutTransaction { try $0.checkpoint(.passive) }
        #expect(log.walFrameCount > 1000)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM wine WHERE name = 'Chinon'") } == 40_000)
    }

    @Test("a checkpoint that is asked for")
    func checkpoint() throws {
        let (queue, folder) = try largeQueue(walConfiguration())
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            try db.inTransaction { try db.execute(sql: "UPDATE wine SET name = name || 'x'"); return .commit }
        }
        let (error, _) = try suspend(queue, folder) { try queue.writeWithoutTransaction { _ = try $0.checkpoint(.full) } }
        #expect((error as? DatabaseError)?.isInterruptionError == true)
        queue.resume()
        #expect(try queue.read { try $0.countWines() } == 40_000)
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
        _ work: @escaping @Sendable (_ stop: @escaping @Sendable () -> Void) async throws -> Void) async throws -> (any Error)?
    {
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
        let error = try await error(kind, writer) { stop in
            try await writer.rotateKey(to: .passphrase("battery staple")) { if $0.completedPageCount == 10 { stop() } }
        }
        #expect(kind.matches(error), "\(String(describing: error))")
        #expect(try Locks.exclusive(on: folder.path("db.sqlite")).isEmpty)
        writer.resume()
        try await writer.write { try $0.insertWine() }
        let other = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
        #expect(try await other.read { try $0.countWines() } == 3001)
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
                try DatabaseFile.copy(db, to: path, Encryption(key: .passphrase("copy")), { _ in
                    if held.update({ $0 += 1; return $0 }) == 2 { stop() }
                })
            }
        }
        #expect(kind.matches(error), "\(String(describing: error))")
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path).allSatisfy { !$0.hasPrefix("copy") })
    }
}

@Suite("Stops reach work on files that nobody has open", .timeLimit(.minutes(2)), .serialized)
struct FileWorkStopTests {
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

    @Test("of a change of header, before it has changed")
    func header() async throws {
        let folder = try TemporaryFolder(), path = try makeFile(folder)
        let isCancelled = Gate()
        let task = Task {
            try await onThread { isCancelled.pass() }
            try DatabaseFile.setPlaintextHeader(PlaintextHeader(size: 32, salt: .sidecar), path: path, encryption: encryption)
        }
        task.cancel()
        isCancelled.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!FileManager.default.fileExists(atPath: path + "-salt"))
        try DatabaseFile.setPlaintextHeader(PlaintextHeader(size: 32, salt: .sidecar), path: path, encryption: encryption)
    }

    @Test("of a copy, by the notification of a suspension")
    func copy() async throws {
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

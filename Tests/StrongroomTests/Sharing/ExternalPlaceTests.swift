import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("An observed database", .timeLimit(.minutes(2)))
struct ExternalPlaceTests {
    private func expectGone(
        _ writer: any DatabaseWriter, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) {
            try writer.write { try $0.insertWine() }
        }
        #expect(error?.reason == .fileGone, sourceLocation: sourceLocation)
    }

    /// A database in a folder of its own in the folder.
    private func make(_ name: String, in folder: TemporaryFolder) throws {
        try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        _ = try stockShell(
            folder.path(name) + "/db.sqlite",
            "PRAGMA journal_mode = wal; CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT);")
    }

    @Test("ends its observations and refuses writes when its folder is moved", arguments: [true, false])
    func movedFolder(isReplaced: Bool) async throws {
        let folder = try TemporaryFolder(), manager = FileManager.default
        try make("app", in: folder)
        let pool = try DatabasePool(path: folder.path("app/db.sqlite"), configuration: .watching())
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: pool)
        try await notified.reaches(0)
        if isReplaced { try make("copy", in: folder) }
        try manager.moveItem(atPath: folder.path("app"), toPath: folder.path("old"))
        if isReplaced { try manager.moveItem(atPath: folder.path("copy"), toPath: folder.path("app")) }
        expectGone(pool)
        try await notified.fails()
        #expect((notified.errors.first as? DatabaseError)?.reason == .fileGone)
        observation.cancel()
    }

    @Test("refuses writes and new observations when a link in its path is switched")
    func switchedLink() async throws {
        let folder = try TemporaryFolder(), manager = FileManager.default
        for name in ["one", "two"] { try make(name, in: folder) }
        try manager.createSymbolicLink(atPath: folder.path("current"), withDestinationPath: "one")
        let pool = try DatabasePool(path: folder.path("current/db.sqlite"), configuration: .watching())
        try await pool.writeWithoutTransaction { try $0.insertWine() }
        try manager.createSymbolicLink(atPath: folder.path("next"), withDestinationPath: "two")
        #expect(rename(folder.path("next"), folder.path("current")) == 0)
        expectGone(pool)
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: pool)
        try await notified.fails()
        observation.cancel()
    }

    #if os(Linux)
    @Test("takes no descriptor with it when it is closed")
    func openedOften() throws {
        func instances() throws -> Int {
            let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            let targets = names.map { name in
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            }
            return targets.count { $0 == "anon_inode:inotify" }
        }
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.observesExternalChanges = true
        for _ in 1...300 {
            try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration).close()
        }
        #expect(try instances() <= 1)
    }
    #endif

    @Test("waits for the lock of another process instead of ending an observation", arguments: [true, false])
    func lock(isFirst: Bool) async throws {
        let file = try SharedFile(.delete), queue = try file.open(.queue), shell = try file.shell(.delete)
        let notified = Notified<Int>()
        var observation: AnyDatabaseCancellable?
        if !isFirst {
            observation = trackingWineCount().notify(notified, in: queue)
            try await notified.reaches(0)
        }
        try shell.run("BEGIN EXCLUSIVE; INSERT INTO wine (name) VALUES ('Chinon');")
        if isFirst {
            observation = trackingWineCount().notify(notified, in: queue)
            try settle(reading: queue)
        }
        try shell.run("COMMIT;")
        try await notified.reaches(1)
        #expect(notified.errors.isEmpty)
        observation?.cancel()
    }

    /// Waits until what was asked of the queue is done, with or without success.
    private func settle(reading writer: any DatabaseWriter) throws {
        writer.unsafeReentrantWrite { _ in }
    }

    @Test("waits for the next writer when one has died in a commit, also for reading only")
    func hotJournal() async throws {
        let file = try SharedFile(.delete)
        var configuration = Configuration.watching()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: queue)
        try await notified.reaches(0)
        let shell = try file.shell(.delete)
        try shell.run(
            """
            PRAGMA cache_size = 5; BEGIN;
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
            INSERT INTO wine (name) SELECT hex(randomblob(100)) FROM n;
            """)
        shell.kill()
        let late = Notified<Int>()
        let second = trackingWineCount().notify(late, in: queue)
        try settle(reading: queue)
        try file.shell(.delete).insertWine()
        try await notified.reaches(1)
        try await late.reaches(1)
        #expect(notified.errors.isEmpty && late.errors.isEmpty)
        observation.cancel()
        second.cancel()
    }

    @Test("An interruption ends the fetch of a queue's observation, and not the commit, and the fetch is repeated")
    func interruptedFetch() async throws {
        let fixture = try QueueFixture(), queue = fixture.queue
        let isRunaway = Shared(false), isRunning = Gate(), notified = Notified<Int>()
        let observation = ValueObservation.tracking { db in
            let count = try db.countWines()
            if isRunaway.update({ runs in
                defer { runs = false }
                return runs
            }) {
                isRunning.open()
                try db.runForever()
            }
            return count
        }.notify(notified, in: queue)
        try await notified.reaches(0)
        isRunaway.update { $0 = true }
        let write = start { try! queue.write { try $0.insertWine() } }
        try await onThread {
            isRunning.pass()
            while !write.opens(within: 0.01) { queue.interrupt() }
        }
        try await notified.reaches(1)
        #expect(notified.errors.isEmpty)
        observation.cancel()
    }
}

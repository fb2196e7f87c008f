import CStrongroomFaults
import Dispatch
import Foundation
import Testing

@testable import Strongroom

// The moments in which a change could be missed, held open.

@Suite("The last change of others is seen", .timeLimit(.minutes(2)))
struct ExternalInterleavingTests {
    @Test("when it comes between the first fetch and its notification", arguments: [WriterKind.queue, .pool])
    func duringFirstFetch(kind: WriterKind) async throws {
        let file = try SharedFile(), writer = try file.open(kind), shell = try file.shell()
        let hasRead = Gate(), mayReturn = Gate()
        let notified = Notified<Int>()
        let observation = ValueObservation.tracking { db in
            let count = try db.countWines()
            hasRead.open()
            mayReturn.pass()
            return count
        }.notify(notified, in: writer)
        try await onThread { hasRead.pass() }
        try shell.insertWine()
        mayReturn.open()
        try await notified.reaches(1)
        observation.cancel()
    }

    @MainActor
    @Test(
        "by observations that start, immediately or later, while others commit", arguments: [WriterKind.queue, .pool])
    func starts(kind: WriterKind) async throws {
        let file = try SharedFile(), writer = try file.open(kind), stops = Shared(false)
        let isDone = start {
            let shell = try! file.shell()
            while !stops.value { try! shell.insertWine() }
        }
        let all = (0..<40).map { _ in Notified<Int>() }
        var observations: [AnyDatabaseCancellable] = []
        for (index, notified) in all.enumerated() {
            if index % 2 == 0 {
                observations.append(trackingWineCount().notify(notified, in: writer))
            } else {
                observations.append(
                    trackingWineCount().removeDuplicates().start(
                        in: writer, scheduling: .immediate, onError: notified.onError, onChange: notified.onChange))
            }
            if index % 5 == 4 { observations[index - 1].cancel() }
            await Task.yield()
        }
        stops.update { $0 = true }
        try await onThread { isDone.pass() }
        let count = try await writer.read { try $0.countWines() }
        for (index, notified) in all.enumerated() where index % 5 != 3 {
            try await notified.reaches(count)
            let values = notified.values
            #expect(values == values.sorted())
        }
        for observation in observations { observation.cancel() }
    }

    @Test(
        "when it can be read only after its last event: its frames are in the log, but not yet in the index",
        arguments: [WriterKind.queue, .pool])
    func framesBeforeIndex(kind: WriterKind) async throws {
        strongroom_faults_install()
        let file = try SharedFile(), watch = RungWatch(), writer = try file.open(kind, watch.configuration())
        let other = try DatabaseQueue(path: file.path, configuration: .encrypted())
        // The first commit syncs the header of the log, too.
        try await other.write { try $0.insertWine() }
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: writer)
        try await notified.reaches(1)
        try await onThread { watch.ringUntilLookedAt(writer) }
        let isWritten = Gate(), mayCommit = Gate()
        let isCommitted = start {
            try! other.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                at(STRONGROOM_MOMENT_LOG_SYNCED, file.path) {
                    isWritten.open()
                    mayCommit.pass()
                }
                try db.insertWine()
            }
        }
        try await onThread {
            isWritten.pass()
            watch.ringUntilLookedAt(writer)
        }
        #expect(try await writer.unsafeRead { try $0.countWines() } == 1)
        mayCommit.open()
        try await onThread { isCommitted.pass() }
        // Nothing rings any more.
        try await notified.reaches(2)
        observation.cancel()
    }

    @Test("when a lock hides it whose end causes no event", arguments: [JournalKind.delete, .truncate, .persist])
    func lockWithoutLog(journal: JournalKind) async throws {
        let file = try SharedFile(journal), watch = RungWatch(), shell = try file.shell(journal)
        let queue = try file.open(.queue, watch.configuration())
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: queue)
        try await notified.reaches(0)
        try shell.run("PRAGMA locking_mode = EXCLUSIVE; INSERT INTO wine (name) VALUES ('Chinon');")
        try await onThread { watch.ringUntilLookedAt(queue) }
        try shell.run("PRAGMA locking_mode = NORMAL; SELECT count(*) FROM wine;")
        try await notified.reaches(1)
        #expect(notified.errors.isEmpty)
        observation.cancel()
    }

    @Test("when the connection that writes is in a transaction that was left open")
    func openTransaction() async throws {
        let file = try SharedFile(), watch = RungWatch(), shell = try file.shell()
        var configuration = watch.configuration()
        configuration.allowsUnsafeTransactions = true
        let queue = try file.open(.queue, configuration)
        let changes = Shared(0)
        let observation = try DatabaseRegionObservation(tracking: Table("wine")).start(in: queue) { _ in
            changes.update { $0 += 1 }
        }
        try await queue.writeWithoutTransaction { db in
            try db.beginTransaction(.deferred)
            _ = try db.countWines()
        }
        try shell.insertWine()
        try await onThread { watch.ringUntilLookedAt(queue) }
        #expect(changes.value == 0)
        try await queue.writeWithoutTransaction { try $0.rollback() }
        #expect(try await eventually { changes.value == 1 })
        observation.cancel()
    }

    @Test("around a checkpoint that moves, restarts or empties the log, which is no change by itself")
    func checkpoints() async throws {
        let file = try SharedFile(), pool = try file.open(.pool), shell = try file.shell()
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: pool)
        try await notified.reaches(0)
        var count = 0
        for mode in ["PASSIVE", "FULL", "RESTART", "TRUNCATE", "PASSIVE"] {
            for _ in 1...2 {
                try shell.insertWine()
                count += 1
                try await notified.reaches(count)
            }
            try shell.run("PRAGMA wal_checkpoint(\(mode));")
        }
        #expect(Set(notified.values) == Set(0...count) && notified.values == notified.values.sorted())
        observation.cancel()
    }

    @Test("when its writer was killed with the frames of a commit in the log")
    func deadWriter() async throws {
        let file = try SharedFile(), pool = try file.open(.pool)
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: pool)
        try await notified.reaches(0)
        let path = file.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            strongroom_faults_install()
            let queue = try DatabaseQueue(path: path, configuration: .encrypted())
            try await queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                try db.insertWine()
                at(STRONGROOM_MOMENT_LOG_SYNCED, path) { kill(getpid(), SIGKILL) }
                try db.insertWine()
            }
        }
        // Two wines, which a shell writes where that frame is.
        let shell = try file.shell()
        try shell.run("BEGIN; INSERT INTO wine (name) VALUES ('a'); INSERT INTO wine (name) VALUES ('b'); COMMIT;")
        try await notified.reaches(3)
        #expect(try await pool.read { try $0.countWines() } == 3)
        #expect(notified.errors.isEmpty)
        observation.cancel()
    }

    @Test("when a writer without a log was killed, and another one rolls back")
    func hotJournal() async throws {
        let file = try SharedFile(.delete), queue = try file.open(.queue), shell = try file.shell(.delete)
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: queue)
        try await notified.reaches(0)
        try shell.run(
            """
            PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN EXCLUSIVE;
            INSERT INTO wine (name) SELECT hex(randomblob(2000)) FROM pragma_function_list LIMIT 100;
            """)
        shell.kill()
        try file.shell(.delete).insertWine()
        try await notified.reaches(1)
        #expect(notified.errors.isEmpty)
        observation.cancel()
    }
}

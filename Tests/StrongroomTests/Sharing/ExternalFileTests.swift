import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("The files of a database that is watched", .timeLimit(.minutes(2)))
struct ExternalFileTests {
    @Test("can be written for the first time after the observation began")
    func newFile() async throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let queue = try DatabaseQueue(path: path, configuration: .watching())
        let notified = Notified<Int>()
        let observation = ValueObservation.tracking { try $0.tableExists("wine") ? $0.countWines() : -1 }.notify(
            notified, in: queue)
        try await notified.reaches(-1)
        try await queue.write { try $0.execute(sql: "CREATE TABLE other (id)") }
        _ = try stockShell(
            path, "CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO wine (name) VALUES ('Chinon');")
        try await notified.reaches(1)
        observation.cancel()
    }

    @Test("may get a log after the observation began")
    func newLog() async throws {
        let file = try SharedFile(.delete), queue = try file.open(.queue), shell = try file.shell(.delete)
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: queue)
        try await notified.reaches(0)
        try shell.run("PRAGMA journal_mode = wal;")
        for count in 1...5 {
            try shell.insertWine()
            try await notified.reaches(count)
        }
        observation.cancel()
    }

    @Test(
        "end observations with an error when the database is renamed, replaced or removed",
        arguments: ["rename", "replace", "remove"])
    func gone(how: String) async throws {
        let file = try SharedFile(.delete), queue = try file.open(.queue), manager = FileManager.default
        let notified = Notified<Int>(), failures = Shared<[DatabaseError.Reason?]>([])
        let value = trackingWineCount().notify(notified, in: queue)
        let region = DatabaseRegionObservation(tracking: Table("wine")).start(in: queue) { error in
            failures.update { $0.append((error as? DatabaseError)?.reason) }
        } onChange: { _ in
            Issue.record("nothing can be seen")
        }
        try await notified.reaches(0)
        switch how {
        case "rename": try manager.moveItem(atPath: file.path, toPath: file.path + "-former")
        case "remove": try manager.removeItem(atPath: file.path)
        default:
            try manager.copyItem(atPath: file.path, toPath: file.path + "-new")
            #expect(rename(file.path + "-new", file.path) == 0)
        }
        try await notified.fails()
        let error = try #require(notified.errors.first as? DatabaseError)
        #expect(
            error.reason == .fileGone && error.extendedResultCode == .SQLITE_READONLY_DBMOVED
                && !error.isConnectionUsable)
        #expect(try await eventually { failures.value == [.fileGone] })

        // A later observer is notified as well.
        let later = Notified<Int>()
        let late = trackingWineCount().notify(later, in: queue)
        try await later.fails()
        for observation in [value, region, late] { observation.cancel() }
    }

    @Test(
        "end observations with the reason when another connection changes the key",
        arguments: [WriterKind.queue, .pool])
    func rotation(kind: WriterKind) async throws {
        let file = try SharedFile(), writer = try file.open(kind)
        let notified = Notified<Int>(), failures = Shared<[DatabaseError.Reason?]>([])
        let value = trackingWineCount().notify(notified, in: writer)
        let region = DatabaseRegionObservation(tracking: Table("wine")).start(
            in: writer, onError: { error in failures.update { $0.append((error as? DatabaseError)?.reason) } },
            onChange: { _ in })
        try await notified.reaches(0)
        try await DatabaseQueue(path: file.path, configuration: .encrypted()).rotateKey(to: .passphrase("another"))
        try await notified.fails()
        #expect((notified.errors.first as? DatabaseError)?.reason == .wrongKey)
        #expect(try await eventually { !failures.value.isEmpty })
        #expect(failures.value == [.wrongKey])
        for observation in [value, region] { observation.cancel() }
    }

    @Test(
        "with a plaintext header end observations, too, when another connection changes the key",
        arguments: [
            WriterKind.queue, .pool,
        ])
    func rotationWithPlaintextHeader(kind: WriterKind) async throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration.watching()
        configuration.encryption = Encryption(
            key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000),
            plaintextHeader: PlaintextHeader())
        let writer: any DatabaseWriter =
            kind == .queue
            ? try DatabaseQueue(path: path, configuration: configuration)
            : try DatabasePool(path: path, configuration: configuration)
        try await writer.write { try $0.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT)") }
        configuration.observesExternalChanges = false
        let other = try DatabaseQueue(path: path, configuration: configuration)
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: writer)
        try await notified.reaches(0)
        try await other.write { try $0.execute(sql: "INSERT INTO wine (name) VALUES ('Chinon')") }
        try await notified.reaches(1)
        try await other.rotateKey(to: .passphrase("another"))
        try await notified.fails()
        #expect((notified.errors.first as? DatabaseError)?.reason == .wrongKey)
        observation.cancel()
    }

    @Test("are watched until the database is closed or released")
    func ends() throws {
        let file = try SharedFile(), closed = RungWatch(), forgotten = RungWatch()
        let pool = try DatabasePool(path: file.path, configuration: closed.configuration())
        #expect(!closed.isCancelled.value)
        try pool.close()
        #expect(closed.isCancelled.value)
        _ = try DatabaseQueue(path: file.path, configuration: forgotten.configuration())
        #expect(forgotten.isCancelled.value)
    }

    @Test("keep the database from being opened where they can't be watched")
    func refused() throws {
        let file = try SharedFile()
        var configuration = Configuration.encrypted()
        configuration.fileWatching = { _, _ in throw DatabaseError(.SQLITE_CANTOPEN, refusing: "no room") }
        #expect { try DatabaseQueue(path: file.path, configuration: configuration) } throws: {
            ($0 as? DatabaseError)?.resultCode == .SQLITE_CANTOPEN
        }
    }

    #if os(Linux)
    @Test("are looked at each second while the system has no room for a watch")
    func noRoom() async throws {
        let file = try SharedFile(), queue = try file.open(.queue), shell = try file.shell()
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: queue)
        try await notified.reaches(0)
        strongroom_faults_refuse_watches(true)
        defer { strongroom_faults_refuse_watches(false) }
        for count in 1...3 {
            try shell.insertWine()
            try await notified.reaches(count)
        }
        strongroom_faults_refuse_watches(false)
        try shell.insertWine()
        try await notified.reaches(4)
        observation.cancel()
    }

    private static func inotifyDescriptors() -> [CInt] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return all.compactMap { CInt($0) }.filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.contains("inotify")
                == true
        }
    }

    @Test("need one descriptor for all databases, which no other program inherits, and which stays")
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            for _ in 1...3 {
                let files = try (0..<5).map { _ in try SharedFile() }
                let writers = try files.flatMap { file in try [file.open(.pool), file.open(.queue)] }
                let open = Self.inotifyDescriptors()
                guard open.count == 1, fcntl(open[0], F_GETFD) & FD_CLOEXEC != 0 else { fatalError("open: \(open)") }
                for writer in writers { try writer.close() }
                guard Self.inotifyDescriptors() == open else { fatalError("another descriptor") }
            }
        }
    }
    #endif
}

import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Another process, with Strongroom, has the database open while its key changes.
@Suite("A rotation elsewhere")
struct RotationProcessTests {
    @Test("stops an idle pool: reads and writes fail with NOTADB, nothing is written, and it goes on with the new key")
    func idle() async throws {
        let meeting = try Meeting()
        var file = RotatedFile(path: meeting.folder.path("db.sqlite"))
        try file.create(wal: true, rows: 200)
        let rotation = meeting.rotate(file)
        await #expect(processExitsWith: .success) { [path = file.path as String] in
            let file = RotatedFile(path: path)
            let pool = try DatabasePool(path: path, configuration: file.configuration)
            try pool.write { try $0.execute(sql: "UPDATE t SET c = c + 1") }
            _ = try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
            Meeting.waitForRotation(path)
            let writing = #expect(throws: DatabaseError.self) {
                try pool.write { try $0.execute(sql: "UPDATE t SET c = c + 1") }
            }
            guard writing?.resultCode == .SQLITE_NOTADB else { exit(3) }
            let reading = #expect(throws: DatabaseError.self) {
                _ = try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
            }
            guard reading?.resultCode == .SQLITE_NOTADB else { exit(4) }
            try? pool.close()
            let again = try DatabasePool(path: path, configuration: RotatedFile.configuration(isNew: true))
            try again.write { try $0.execute(sql: "UPDATE t SET c = c + 1") }
            guard try again.read({ try Int.fetchOne($0, sql: "SELECT c FROM t WHERE a = 1") }) == 2 else { exit(5) }
            try again.close()
        }
        try rotation.get()
        file.countWrites(2)
        try file.requireOneKey("after the other process went on")
        #expect(file.isNew)
    }

    @Test("lets a snapshot finish on its state")
    func snapshot() async throws {
        let meeting = try Meeting()
        var file = RotatedFile(path: meeting.folder.path("db.sqlite"))
        try file.create(wal: true, rows: 200)
        let rotation = meeting.rotate(file)
        await #expect(processExitsWith: .success) { [path = file.path as String] in
            let pool = try DatabasePool(path: path, configuration: RotatedFile(path: path).configuration)
            let snapshot = try pool.makeSnapshot()
            Meeting.waitForRotation(path)
            guard try snapshot.read({ try Int.fetchOne($0, sql: "SELECT count(b) FROM t") }) == 200 else { exit(3) }
            try snapshot.close()
        }
        try rotation.get()
        try file.requireOneKey("after the snapshot was closed")
        #expect(file.isNew)
    }

    @Test("is busy while another process writes, and succeeds afterwards")
    func writing() async throws {
        let meeting = try Meeting()
        var file = RotatedFile(path: meeting.folder.path("db.sqlite"))
        try file.create(wal: true, rows: 200)
        let busy = meeting.rotate(file)
        await #expect(processExitsWith: .success) { [path = file.path as String] in
            let queue = try DatabaseQueue(path: path, configuration: RotatedFile(path: path).configuration)
            try queue.write { db in
                try db.execute(sql: "UPDATE t SET c = c + 1")
                Meeting.waitForRotation(path)
            }
            try queue.write { try $0.execute(sql: "UPDATE t SET c = c + 1") }
        }
        let error = #expect(throws: DatabaseError.self) { try busy.get() }
        #expect(error?.resultCode == .SQLITE_BUSY)
        file.countWrites(2)
        try file.requireOneKey("while it was busy")
        #expect(!file.isNew)
        try Meeting.changeKey(of: file)
        try file.requireOneKey("afterwards")
        #expect(file.isNew)
    }

    @Test("waits for a reader in flight in this process")
    func readerInFlight() throws {
        let folder = try TemporaryFolder()
        var file = RotatedFile(path: folder.path("db.sqlite"))
        try file.create(wal: true, rows: 200)
        let pool = try DatabasePool(path: file.path, configuration: file.configuration)
        let isInside = DispatchSemaphore(value: 0), hasLeft = DispatchSemaphore(value: 0)
        let readings = Collected<Int?>()
        Thread.detachNewThread {
            try? pool.read { db in
                isInside.signal()
                for _ in 0..<100 {
                    readings.append(try Int.fetchOne(db, sql: "SELECT count(b) + sum(length(b)) * 0 FROM t"))
                }
            }
            hasLeft.signal()
        }
        isInside.wait()
        var readingsBefore: Int?
        try pool.rotateKey(to: file.otherKey) { _ in readingsBefore = readingsBefore ?? readings.values.count }
        hasLeft.wait()
        #expect(readingsBefore == 100)
        #expect(readings.values.allSatisfy { $0 == 200 })
        try pool.close()
        try file.requireOneKey("after the reader")
    }
}

/// Two processes that wait for each other at two pipes.
private final class Meeting: Sendable {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["ready", "rotated"] { try #require(mkfifo(folder.path("db.sqlite.\(name)"), 0o600) == 0) }
    }

    /// Changes the key once the other process is ready.
    func rotate(_ file: RotatedFile) -> Outcome {
        let outcome = Outcome()
        Thread.detachNewThread { [self] in
            Self.pass(folder.path("db.sqlite.ready"), O_RDONLY)
            outcome.set(Result { try Self.changeKey(of: file) })
            Self.pass(folder.path("db.sqlite.rotated"), O_WRONLY)
        }
        return outcome
    }

    static func changeKey(of file: RotatedFile) throws {
        try DatabaseQueue(path: file.path, configuration: file.configuration).rotateKey(to: file.otherKey)
    }

    static func waitForRotation(_ path: String) {
        pass(path + ".ready", O_WRONLY)
        pass(path + ".rotated", O_RDONLY)
    }

    /// Opening a pipe waits until another process opens its other end.
    private static func pass(_ pipe: String, _ mode: CInt) {
        let end = open(pipe, mode)
        if mode == O_RDONLY {
            var byte: UInt8 = 0
            _ = read(end, &byte, 1)
        }
        close(end)
    }

    final class Outcome: @unchecked Sendable {
        private let done = DispatchSemaphore(value: 0)
        private var result: Result<Void, any Error>?

        func set(_ result: Result<Void, any Error>) {
            self.result = result
            done.signal()
        }

        /// The outcome; fails when the other process never came.
        func get() throws {
            try #require(done.wait(timeout: .now() + 60) == .success)
            try result?.get()
        }
    }
}

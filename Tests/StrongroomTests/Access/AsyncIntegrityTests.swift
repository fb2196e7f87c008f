import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("An integrity check that is awaited", .timeLimit(.minutes(1)))
struct AsyncIntegrityTests {
    private func create(_ path: String) throws {
        let queue = try DatabaseQueue(path: path, configuration: .encrypted())
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(a)")
            for _ in 0..<100 { try db.execute(sql: "INSERT INTO t VALUES (randomblob(1000))") }
        }
        try queue.close()
    }

    @Test("finds the damaged page, and leaves the database open")
    func damage() async throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 4096 * 9 + 100)
        try file.write(contentsOf: Data(repeating: 7, count: 16))
        try file.close()
        let pool = try DatabasePool(path: path, configuration: .encrypted())
        let report = try await pool.checkIntegrity()
        #expect(report.unauthenticPages == [10])
        #expect(try await pool.read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
    }

    @Test("checks a database in memory on its only connection")
    func memory() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        let report = try await queue.checkIntegrity()
        #expect(report.isIntact)
        #expect(report.unauthenticPages == nil)
    }

    @Test("ends when the task is cancelled")
    func cancellation() async throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path)
        let hasBegun = Gate(), mayGoOn = Gate()
        var configuration = Configuration.encrypted()
        configuration.prepareDatabase { db in
            guard db.description == "checkIntegrity" else { return }
            hasBegun.open()
            mayGoOn.pass()
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let task = Task { try await queue.checkIntegrity() }
        try await onThread { hasBegun.pass() }
        task.cancel()
        mayGoOn.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") } == 100)
    }

    @Test("throws the error of opening its connection")
    func failure() async throws {
        struct Refusal: Error {}
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path)
        var configuration = Configuration.encrypted()
        configuration.prepareDatabase { if $0.description == "checkIntegrity" { throw Refusal() } }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        await #expect(throws: Refusal.self) { try await queue.checkIntegrity() }
    }
}

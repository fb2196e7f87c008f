import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("Databases that several processes share")
struct SharingTests {
    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.usePassphrase("correct horse")
            try db.execute(sql: "PRAGMA kdf_iter = 1000")
        }
        return configuration
    }

    @Test(
        "Four writers and four readers start together on nothing, one writer is killed: no acknowledged note is missing"
    )
    func writersAndReaders() async throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("shared.sqlite")
        let count = 50
        // The doomed one never ends by itself; readers are content with what the other three write.
        let doomed = try Program(built: "SharingWorkload", "write", path, "doomed", "1000000").start()
        let writers = try ["a", "b", "c"].map {
            try Program(built: "SharingWorkload", "write", path, $0, "\(count)").start()
        }
        let readers = try (0..<4).map { _ in
            try Program(built: "SharingWorkload", "read", path, "reader", "\(3 * count)").start()
        }

        try await doomed.waitForOutput("3\n")
        kill(doomed.process.processIdentifier, SIGKILL)
        let acknowledged = await doomed.outcome().output.split(separator: "\n").compactMap { Int($0) }.max() ?? 0
        for process in writers + readers {
            let outcome = await process.outcome()
            #expect(outcome.status == 0, "\(outcome.errors)")
        }

        let pool = try #require(try DatabasePool.openSharedReadOnly(path: path, configuration: configuration))
        try await pool.read { db throws in
            for author in ["a", "b", "c"] {
                #expect(try Self.notes(of: author, db) == Array(1...count))
            }
            // A commit that was not acknowledged may be there: one, the next.
            let found = try Self.notes(of: "doomed", db)
            #expect(found == Array(1...max(found.count, 1)) && (acknowledged...acknowledged + 1).contains(found.count))
            #expect(try Self.history(db) == ["notes", "log", "last"])
        }
        let checks = try await pool.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
        #expect(checks == ["ok"])
    }

    @Test("Processes that migrate simultaneously end with one history, each migration run once")
    func migrations() async throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("shared.sqlite")
        try DatabasePool.openShared(path: path, configuration: configuration).close()
        let processes = try (0..<3).map { _ in try Program(built: "SharingWorkload", "migrate", path, "m").start() }
        for process in processes { try await process.waitForOutput("open") }
        for process in processes {
            process.write("go\n")
        }
        for process in processes {
            let outcome = await process.outcome()
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let history = try await queue.read { try Self.history($0) }
        let runs = try await queue.read { try String.fetchAll($0, sql: "SELECT migration FROM migrationLog") }
        #expect(history == ["notes", "log", "last"])
        #expect(runs == ["log", "last"])
    }

    private static func notes(of author: String, _ db: Database) throws -> [Int] {
        try Int.fetchAll(db, sql: "SELECT number FROM note WHERE author = ? ORDER BY number", arguments: [author])
    }

    private static func history(_ db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
    }
}

import Foundation
import Strongroom
import TestSupport
import Testing

/// Behaviour of a connection that programs written for GRDB see, beyond its results.
@Suite("Programs that move from GRDB find")
struct HabitTests {
    private func traced(_ body: (Database) throws -> Void) throws -> [String] {
        try withDatabase { db throws in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
            var lines: [String] = []
            db.trace { lines.append("\($0)") }
            try body(db)
            db.trace(nil)
            return lines
        }
    }

    @Test("no trace of the library's own queries of the schema")
    func schemaQuestions() throws {
        let lines = try traced { db in
            for _ in 0..<3 {
                let names = try db.columns(in: "player").map(\.name)
                #expect(names == ["id", "name"])
                try db.execute(sql: "SELECT name FROM player")
            }
        }
        #expect(lines == Array(repeating: "SELECT name FROM player", count: 3))
    }

    @Test("the schema's version in traces where they ask for it themselves")
    func ownSchemaVersion() throws {
        #expect(try traced { _ = try $0.schemaVersion() } == ["PRAGMA main.schema_version"])
    }

    @Test("one statement for each preparation of a cached request, and several for another")
    func cachedRequests() throws {
        try withDatabase { db throws in
            for isCached in [true, false] {
                let request = SQLRequest<Int>(sql: "SELECT ?", arguments: [1], cached: isCached)
                let one = try request.makePreparedRequest(db, forSingleResult: false).statement
                let two = try request.makePreparedRequest(db, forSingleResult: false).statement
                #expect((one === two) == isCached)
            }
        }
    }

    @Test("errors described without the space around their SQL")
    func describedSQL() {
        #expect(
            DatabaseError(message: "m", sql: " SELECT 1 ;\n").description
                == "SQLite error 1: m - while executing `SELECT 1`")
    }

    @Test("integers and doubles of equal value equal as values, not as storages")
    func storages() {
        #expect(1.databaseValue == 1.0.databaseValue)
        #expect(1.databaseValue.storage != 1.0.databaseValue.storage)
        #expect(DatabaseValue.Storage.int64(1) == .int64(1))
    }

    @Test("text described as Swift describes it")
    func describedText() {
        #expect("it's \"a\"\n".databaseValue.description == #""it\'s \"a\"\n""#)
    }

    @Test(
        "dates of whole milliseconds, with any text",
        arguments: [
            ("2015-07-22 01:02:03.00456", 4_000_000), ("2015-07-22 01:02:03.9999", 999_000_000),
            ("2015-07-22 01:02:03.1", 100_000_000),
        ])
    func milliseconds(text: String, nanoseconds: Int) throws {
        let components = try #require(DatabaseDateComponents.fromDatabaseValue(text.databaseValue)).dateComponents
        #expect(components.nanosecond == nanoseconds)
        let date = try #require(Date.fromDatabaseValue(text.databaseValue))
        let whole = try #require(Date.fromDatabaseValue("2015-07-22 01:02:03".databaseValue))
        #expect(Swift.abs(date.timeIntervalSince(whole) - Double(nanoseconds) / 1e9) < 1e-6)
    }

    @Test("a complete backup when the last call of the progress function throws")
    func backup() throws {
        struct Late: Error {}
        try withEncryptedQueue { source throws in
            try source.write { try $0.execute(sql: "CREATE TABLE t AS SELECT 1 AS a") }
            try withEncryptedQueue { destination throws in
                try source.backup(to: destination) { progress in if progress.isCompleted { throw Late() } }
                #expect(try destination.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
            }
        }
    }

    @Test("a closed connection that refuses, rather than a crash")
    func closed() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
        try queue.close()
        queue.releaseMemory()
        queue.interrupt()
        #expect(throws: DatabaseError.self) { try queue.read { try Int.fetchOne($0, sql: "SELECT 1") } }
        queue.writeWithoutTransaction { db in
            #expect(db.lastErrorCode == .SQLITE_MISUSE)
            db.releaseMemory()
        }
    }
}

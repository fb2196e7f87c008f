import Foundation
import Strongroom
import TestSupport
import Testing

/// The database that the samples of the guides assume: encrypted, with a few tables.
enum SampleDatabase {
    static let schema = """
        CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT '', score INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE team (id INTEGER PRIMARY KEY);
        CREATE TABLE cookie (id INTEGER PRIMARY KEY);
        CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0));
        INSERT INTO account VALUES (1, 150), (2, 0);
        """

    /// The path of a new database with these tables. The file stays until the process ends.
    static func path() throws -> String {
        let folder = try TemporaryFolder()
        folder.keep()
        let path = folder.path("database.sqlite")
        let queue = try DatabaseQueue(path: path, configuration: .encrypted())
        try queue.write { try $0.execute(sql: schema) }
        try queue.close()
        return path
    }

    static func queue() throws -> DatabaseQueue {
        try DatabaseQueue(path: path(), configuration: .encrypted())
    }

    static func pool() throws -> DatabasePool {
        try DatabasePool(path: path(), configuration: .encrypted())
    }
}

@Suite("The database of the samples")
struct SampleDatabaseTests {
    @Test("is encrypted")
    func encrypted() throws {
        let path = try SampleDatabase.path()
        let start = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(15)
        #expect(!start.isEmpty && String(decoding: start, as: UTF8.self) != "SQLite format 3")
        #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM player") }
        }
    }
}

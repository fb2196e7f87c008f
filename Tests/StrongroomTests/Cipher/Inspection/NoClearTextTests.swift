import CStrongroomFaults
import Foundation
import Strongroom
import Testing

/// Invariant 3: no byte of user data reaches any file in clear.
@Suite("No clear text on disk")
struct NoClearTextTests {
    /// More than SQLite sorts in memory: it would spill from a megabyte on.
    static let rowCount = 6_000

    /// Work that makes SQLite write wherever it can: pages, WAL, journals, sorter, temporary tables, copies.
    private func exercise(_ queue: DatabaseQueue, _ text: String, journal: String) throws {
        try queue.writeWithoutTransaction { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = \(journal)")
            try db.execute(
                sql:
                    """
                    PRAGMA cache_size = 10; PRAGMA temp.cache_size = 10; \
                    CREATE TABLE secret (id INTEGER PRIMARY KEY, name TEXT, rest BLOB)
                    """
            )
            try db.inTransaction {
                for number in 0..<Self.rowCount {
                    try db.execute(
                        sql: "INSERT INTO secret (name, rest) VALUES (?, ?)",
                        arguments: ["\(number % 97) \(text) \(number)", Data(repeating: 7, count: 300)])
                }
                return .commit
            }
            try db.execute(sql: "CREATE INDEX secret_name ON secret (name)")
            try db.execute(sql: "CREATE TEMPORARY TABLE copied AS SELECT * FROM secret")
            let sorted = try String.fetchAll(db, sql: "SELECT name || rest FROM copied ORDER BY name || rest DESC, id")
            #expect(sorted.count == Self.rowCount)
            try db.inTransaction {
                try db.execute(sql: "UPDATE secret SET name = name || '!'")
                try db.inSavepoint {
                    try db.execute(sql: "DELETE FROM secret WHERE id % 2 = 0")
                    return .rollback
                }
                return .commit
            }
            try db.execute(sql: "DELETE FROM secret WHERE id > 1000; VACUUM")
        }
    }

    @Test(
        "whatever the journal, sorts, indexes, temporary tables, savepoints and VACUUM included",
        arguments: ["DELETE", "TRUNCATE", "WAL"])
    func encrypted(journal: String) throws {
        let watch = WriteWatch(journal)
        let before = strongroom_faults_bytes_written()
        try withEncryptedQueue { try exercise($0, watch.text, journal: journal) }
        #expect(strongroom_faults_bytes_written() - before > 500_000)
        #expect(watch.sightings == 0, "seen in \(watch.lastPlace)")
    }

    @Test("The watch sees clear text where there is some")
    func control() throws {
        let watch = WriteWatch("control")
        try withEncryptedQueue(Configuration()) { try exercise($0, watch.text, journal: "WAL") }
        #expect(watch.sightings > 0)
    }
}

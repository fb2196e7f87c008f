import Foundation
import Strongroom
import TestSupport
import Testing

/// Page 1 in the journal is encrypted anew in each transaction. The tests wait for one that looks like a page.
@Suite("Page 1 of a database with a rollback journal", .timeLimit(.minutes(5)))
struct FirstPageTests {
    private let folder: TemporaryFolder
    private let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        configuration.encryption = Encryption(key: try .rawKey([UInt8](repeating: 7, count: 32)))
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a UNIQUE, b); INSERT INTO t VALUES (1, 1)") }
    }

    @Test("is read after a rollback to a savepoint")
    func savepoint() throws {
        try whenJournalLooksLikePage(after: { try $0.execute(sql: "SAVEPOINT s; CREATE TABLE x(a)") }) { db in
            try db.execute(sql: "ROLLBACK TO s")
            try requireSchema(db)
        }
    }

    @Test("is read after a rollback to a savepoint that had left it alone")
    func untouched() throws {
        let change: (Database) throws -> Void = { db in
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
            try db.execute(sql: "SAVEPOINT s; UPDATE t SET b = 2; ROLLBACK TO s")
        }
        try whenJournalLooksLikePage(after: change) { try requireSchema($0) }
    }

    @Test(
        "is read after a statement that failed",
        arguments: [
            "INSERT INTO t VALUES (2, zeroblob(9000)), (1, 1)",
            "CREATE TABLE x AS SELECT zeroblob(9000) UNION ALL SELECT abs(-9223372036854775808)",
        ])
    func failedStatement(sql: String) throws {
        let failing: (Database) throws -> Void = { db in
            // SQLite has read the layout of page 1.
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
            #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
        }
        try whenJournalLooksLikePage(after: failing) { try requireSchema($0) }
    }

    @Test("is read after a statement that failed while another one ran")
    func runningStatement() throws {
        let failing: (Database) throws -> Void = { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT name FROM sqlite_master")
            _ = try rows.next()
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO t VALUES (2, zeroblob(9000)), (1, 1)")
            }
            #expect(try rows.next() != nil)
        }
        try whenJournalLooksLikePage(after: failing) { try requireSchema($0) }
    }

    @Test("of an attached database is read after a rollback to a savepoint", arguments: [true, false])
    func attached(toKeyed isKeyed: Bool) throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        if isKeyed { configuration.encryption = queue.configuration.encryption }
        let main = try DatabaseQueue(path: folder.path("main.sqlite"), configuration: configuration)
        try main.inDatabase { db in
            let key = "x'" + String(repeating: "07", count: 32) + "'"
            try db.execute(literal: "ATTACH \(folder.path("db.sqlite")) AS other KEY \(key)")
        }
        let change: (Database) throws -> Void = { try $0.execute(sql: "SAVEPOINT s; CREATE TABLE other.x(a)") }
        try whenJournalLooksLikePage(of: main, after: change) { db in
            try db.execute(sql: "ROLLBACK TO s")
            try db.execute(sql: "CREATE TABLE other.y(a)")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM other.sqlite_master") == 3)
        }
    }

    @Test("is read after a rollback of pages that were written")
    func rollback() throws {
        try queue.inDatabase { try $0.execute(sql: "PRAGMA cache_size = 5") }
        let change = "INSERT INTO t VALUES (2, zeroblob(30000)); CREATE TABLE x(a)"
        try whenJournalLooksLikePage(after: { try $0.execute(sql: change) }) { db in
            try db.execute(sql: "ROLLBACK; BEGIN")
            try requireSchema(db)
        }
    }

    private func requireSchema(_ db: Database) throws {
        #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t") == 1)
        try db.execute(sql: "CREATE TABLE y(a)")
        #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 3)
    }

    /// Begins transactions with `change` until the journal's page 1 looks like a page, and runs `body` in that one.
    private func whenJournalLooksLikePage(
        of queue: DatabaseQueue? = nil, after change: (Database) throws -> Void,
        _ body: (Database) throws -> Void
    ) throws {
        try (queue ?? self.queue).inDatabase { db in
            for _ in 0..<200_000 {
                try db.execute(sql: "BEGIN IMMEDIATE")
                defer { if db.isInsideTransaction { try? db.execute(sql: "ROLLBACK") } }
                try change(db)
                if try journalLooksLikePage() { return try body(db) }
            }
            Issue.record("no page 1 looked like a page")
        }
    }

    /// True if the encrypted page 1 in the journal has the kind of a page of a b-tree, and a possible number of cells.
    /// <https://www.sqlite.org/fileformat.html#the_rollback_journal>
    private func journalLooksLikePage() throws -> Bool {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("db.sqlite-journal"))))
        let headers = stride(from: 512, through: bytes.count - 4104, by: 4104)
            .filter { bytes[$0..<$0 + 4].elementsEqual([0, 0, 0, 1]) }.map { $0 + 104 }
        try #require(headers.count == 1)
        return headers.contains {
            [2, 5, 10, 13].contains(bytes[$0]) && Int(bytes[$0 + 3]) << 8 | Int(bytes[$0 + 4]) <= 681
        }
    }
}

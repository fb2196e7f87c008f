import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// A database with one of everything that a salvage could lose, and with what each of its pages contains.
struct SalvageModel {
    let folder: TemporaryFolder
    /// The names of its files, without the folder.
    let name = "db.sqlite"
    let pageCount: Int
    let ledger: Ledger

    var path: String { folder.path(name) }

    static let pageSize = 1024
    static let key = try! DatabaseKey.rawKey(
        [UInt8](repeating: 7, count: 32), salt: [UInt8](repeating: 9, count: 16))
    static let encryption = Encryption(key: key, settings: CipherSettings(pageSize: pageSize))

    /// The key and the format, for the stock shell.
    static let keying = """
        PRAGMA key = "x'\(String(repeating: "07", count: 32))\(String(repeating: "09", count: 16))'";
        PRAGMA cipher_page_size = \(pageSize);
        """

    static func configuration(_ encryption: Encryption? = encryption) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = encryption
        return configuration
    }

    private static let plain = Result { try SalvageModel(usesLog: false) }
    private static let logged = Result { try SalvageModel(usesLog: true) }

    /// Returns the model, which is made once: with a log that was not copied to the database, or without one.
    static func shared(usesLog: Bool) throws -> SalvageModel { try (usesLog ? logged : plain).get() }

    private init(usesLog: Bool) throws {
        folder = try TemporaryFolder()
        let original = folder.path("original.sqlite")
        let queue = try DatabaseQueue(path: original, configuration: Self.configuration())
        var ledger = Ledger()
        try queue.writeWithoutTransaction { db in
            if usesLog { try db.execute(sql: "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0") }
            try db.execute(sql: Self.schema)
            try db.execute(sql: Self.rows)
            if usesLog { try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            try ledger.record(db)
            for change in Self.changes {
                try db.execute(sql: change)
                try ledger.record(db)
            }
            try ledger.locate(db, original)
        }
        pageCount = try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_count")! }
        // The files of an open database, as after a crash.
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: original + suffix) {
            try FileManager.default.copyItem(atPath: original + suffix, toPath: folder.path(name) + suffix)
        }
        try queue.close()
        self.ledger = ledger
    }

    /// A copy of the files, to be damaged.
    func copy() throws -> TemporaryFolder {
        let copy = try TemporaryFolder()
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy.path(name) + suffix)
        }
        return copy
    }

    static let schema = """
        CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT NOT NULL, born INTEGER);
        CREATE TABLE book(
            id INTEGER PRIMARY KEY AUTOINCREMENT, author INTEGER REFERENCES author, title TEXT, cover BLOB);
        CREATE TABLE loan(book INTEGER, day TEXT, note, length AS (length(note)), PRIMARY KEY(book, day)) WITHOUT ROWID;
        CREATE TABLE twin(id INTEGER PRIMARY KEY, name TEXT NOT NULL, born INTEGER);
        CREATE TABLE mark(a, b INTEGER GENERATED ALWAYS AS (a + 1) STORED, c DEFAULT 'none');
        CREATE UNIQUE INDEX bookTitle ON book(title);
        CREATE INDEX authorName ON author(name, born);
        CREATE VIEW titles AS SELECT title FROM book;
        CREATE TRIGGER marked AFTER INSERT ON author BEGIN INSERT INTO mark(a) VALUES (new.id); END;
        CREATE VIRTUAL TABLE page USING fts5(body);
        PRAGMA user_version = 12;
        """

    static let rows = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
            INSERT INTO author SELECT i, 'author number ' || i, 1900 + i % 90 FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO book(author, title, cover)
            SELECT 1 + i % 400, 'volume ' || i, randomblob(CASE WHEN i % 10 = 0 THEN 3000 ELSE 60 END) FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO loan(book, day, note) SELECT i, 'day ' || i % 7, 'note ' || i FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
            INSERT INTO twin SELECT i * 5, 'twin number ' || i, 1800 + i FROM n;
        ALTER TABLE author ADD COLUMN later TEXT DEFAULT 'unknown';
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)
            INSERT INTO page(rowid, body) SELECT i, 'quiet words about number' || i FROM n;
        """

    /// Each is a commit.
    static let changes = [
        "DELETE FROM book WHERE id BETWEEN 100 AND 160",
        "UPDATE author SET name = 'changed ' || id WHERE id % 3 = 0",
        "UPDATE book SET cover = randomblob(2500) WHERE id % 20 = 0",
        "INSERT INTO author(id, name, born, later) SELECT id + 1000, name, 1, 'new' FROM author WHERE id <= 60",
    ]
}

/// The content of the database in each commit, and the pages of its rows.
struct Ledger {
    struct Place {
        var table: String
        var rowID: Int64
        var pages: Set<Int>
        /// The row as SQL literals.
        var literal: String
        /// Those that a lost row may show.
        var lost: [String]
    }

    /// The rows of each table in any commit, as SQL literals.
    private(set) var once: [String: Set<String>] = [:]
    /// The rows of any table in any commit, as lost rows may show them.
    private(set) var lostOnce: Set<String> = []
    /// The rows of each table after the last commit.
    private(set) var last: [String: Set<String>] = [:]
    /// The rows after the last commit with their pages, for tables with rowids.
    private(set) var rows: [Place] = []

    static func tables(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY rowid")
    }

    /// Records the rows of a commit.
    mutating func record(_ db: Database) throws {
        last = [:]
        for table in try Self.tables(db) {
            let found = try Self.fetch(db, table)
            last[table] = Set(found.map(\.own))
            once[table, default: []].formUnion(found.map(\.own))
            lostOnce.formUnion(found.flatMap { Self.shortened($0.lost) })
        }
    }

    /// Records on which pages the rows are, as SQLite's own table of pages tells. The library is built without it.
    mutating func locate(_ db: Database, _ path: String) throws {
        let lines = try StockShell(path: path, keying: SalvageModel.keying).lines(
            "SELECT name, path, pageno, ncell, pagetype FROM dbstat ORDER BY path;")
        let pages = lines.map { $0.split(separator: "|").map(String.init) }
        try #require(pages.count > 100)
        for table in try Self.tables(db) where table != "sqlite_sequence" && table != "loan" && table != "page_idx" {
            let found = try Self.fetch(db, table), own = pages.filter { $0[0] == table }
            var chains: [String: Set<Int>] = [:]
            for page in own where page[4] == "overflow" {
                chains[String(page[1].prefix { $0 != "+" }), default: []].insert(Int(page[2])!)
            }
            var index = 0
            for leaf in own where leaf[4] == "leaf" {
                for cell in 0..<Int(leaf[3])! {
                    let digits = String(cell, radix: 16),
                        name = String(repeating: "0", count: 3 - digits.count) + digits
                    let row = found[index]
                    rows.append(
                        Place(
                            table: table, rowID: row.rowID,
                            pages: (chains[leaf[1] + name] ?? []).union([Int(leaf[2])!]), literal: row.own,
                            lost: Self.shortened(row.lost)))
                    index += 1
                }
            }
            try #require(index == found.count)
        }
    }

    /// Returns the row, and what may be left of it: rows from before a column was added are shorter.
    private static func shortened(_ row: String) -> [String] {
        [row] + row.indices.filter { row[$0] == "," }.map { String(row[..<$0]) }
    }

    /// Returns the rows of a table in the order of their keys.
    static func fetch(_ db: Database, _ table: String) throws -> [(rowID: Int64, own: String, lost: String)] {
        let quoted = table.quotedDatabaseIdentifier
        let columns = try Row.fetchAll(db, sql: "PRAGMA table_xinfo(\(quoted))")
        let hasRowID = (try? db.makeStatement(sql: "SELECT rowid FROM \(quoted)")) != nil
        let names = columns.map { ($0["name"] as String).quotedDatabaseIdentifier }
        let stored = columns.filter { ($0["hidden"] as Int) != 2 }.map { column -> String in
            let isAlias = hasRowID && (column["pk"] as Int) == 1 && (column["type"] as String) == "INTEGER"
            return isAlias ? "NULL" : (column["name"] as String).quotedDatabaseIdentifier
        }
        func literal(_ parts: [String]) -> String { parts.map { "quote(\($0))" }.joined(separator: " || ',' || ") }
        let rowID = hasRowID ? "rowid" : "0"
        return try Row.fetchAll(
            db,
            sql: """
                SELECT \(rowID), \(rowID) || ':' || \(literal(names)), \(rowID) || ':' || \(literal(stored))
                FROM \(quoted) \(hasRowID ? "ORDER BY rowid" : "")
                """
        ).map { ($0[0], $0[1], $0[2]) }
    }
}

/// The content that a salvage has written.
struct Salvaged {
    let report: SalvageReport
    private(set) var tables: [String: Set<String>] = [:]
    /// The rows of the table of lost rows, without those of indexes.
    private(set) var lost: [String] = []

    init(_ path: String, to copy: String, _ encryption: Encryption = SalvageModel.encryption) throws {
        report = try DatabaseFile.salvage(path: path, to: copy, encryption: encryption)
        var written = encryption
        written.plaintextHeader = nil
        let queue = try DatabaseQueue(path: copy, configuration: SalvageModel.configuration(written))
        try queue.read { db in
            #expect(try String.fetchOne(db, sql: "PRAGMA quick_check") == "ok")
            for table in try Ledger.tables(db) where table != report.lostAndFound {
                tables[table] = Set(try Ledger.fetch(db, table).map(\.own))
            }
            if let name = report.lostAndFound { lost = try Self.lostRows(db, name) }
        }
        try queue.close()
    }

    private static func lostRows(_ db: Database, _ table: String) throws -> [String] {
        let counts = try Int.fetchAll(db, sql: "SELECT DISTINCT nfield FROM \(table) WHERE id IS NOT NULL")
        return try counts.flatMap { count in
            let columns = (0..<count).map { "quote(c\($0))" }.joined(separator: " || ',' || ")
            return try String.fetchAll(
                db, sql: "SELECT id || ':' || \(columns) FROM \(table) WHERE nfield = ? AND id IS NOT NULL",
                arguments: [count])
        }
    }

    /// Compares with what the database contained.
    func check(against ledger: Ledger, damaged: Set<Int>?, _ comment: Comment) {
        for (table, rows) in tables {
            guard table != "sqlite_sequence", !table.hasPrefix("page_") || table == "page_content" else { continue }
            #expect(rows.subtracting(ledger.once[table] ?? []).isEmpty, "invented in \(table): \(comment)")
        }
        let invented = lost.filter { !ledger.lostOnce.contains($0) }
        #expect(invented.isEmpty, "invented: \(invented.prefix(3)) \(comment)")
        for table in report.tables {
            // Without its log, the database is that of an earlier commit.
            let total = (damaged == nil ? ledger.once : ledger.last)[table.name]?.count ?? 0
            #expect(table.saved - table.older + table.missing <= total, "\(table.name) \(comment)")
        }
        guard let damaged else { return }
        let lost = Set(lost)
        let absent = ledger.rows.filter { row in
            guard row.pages.isDisjoint(with: damaged) else { return false }
            if row.table.hasPrefix("page_"), row.table != "page_content" { return false }
            return tables[row.table]?.contains(row.literal) != true && lost.isDisjoint(with: row.lost)
        }
        #expect(absent.isEmpty, "not saved: \(absent.prefix(3)) \(comment)")
    }
}

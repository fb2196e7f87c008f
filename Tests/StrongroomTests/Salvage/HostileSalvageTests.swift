import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A salvage of a crafted file in clear text")
struct HostileSalvageTests {
    private let folder: TemporaryFolder
    private let encryption = Encryption(key: SalvageModel.key)

    init() throws { folder = try TemporaryFolder() }

    /// Makes a file in clear text. Pages have 4096 bytes.
    private func make(_ sql: String...) throws {
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"))
        try queue.writeWithoutTransaction { db in for statement in sql { try db.execute(sql: statement) } }
        try queue.close()
    }

    private func change(_ body: (inout [UInt8]) -> Void) throws {
        var bytes = [UInt8](try folder.bytes("db.sqlite"))
        body(&bytes)
        try folder.write(bytes, to: "db.sqlite")
    }

    /// Salvages the file, and returns the report with the tables of the new database.
    private func salvage() throws -> (report: SalvageReport, tables: [String]) {
        let copy = folder.path("copy.sqlite")
        let report = try DatabaseFile.salvage(path: folder.path("db.sqlite"), to: copy, encryption: encryption)
        var configuration = Configuration()
        configuration.encryption = encryption
        let tables = try DatabaseQueue(path: copy, configuration: configuration).read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        }
        return (report, tables)
    }

    private static let rows = """
        CREATE TABLE a(x, y);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            INSERT INTO a SELECT i, 'row ' || hex(randomblob(30)) FROM n;
        """

    @Test(
        "runs nothing but what creates the object",
        arguments: [
            "CREATE TABLE a(x, y); CREATE TABLE made(z)",
            "CREATE TABLE a AS SELECT 1 AS x, 2 AS y",
            "CREATE TABLE made(x, y)",
            "CREATE TABLE main.a(x, y)",
            "CREATE TEMP TABLE a(x, y)",
        ])
    func statements(sql: String) throws {
        try make(
            Self.rows, "PRAGMA writable_schema = ON",
            "UPDATE sqlite_master SET sql = '\(sql)' WHERE name = 'a'")
        let (report, tables) = try salvage()
        #expect(tables == ["lost_and_found"])
        #expect(report.lostRowCount == 500 && report.tables.map(\.saved) == [0])
        #expect(report.problems.map(\.kind) == [.notCreated])
    }

    @Test("reads a statement in each form in which SQLite stores it")
    func forms() throws {
        try make(
            """
            CREATE TABLE IF NOT EXISTS "a ""quoted"" name"(x, y); CREATE TABLE [b.c](x PRIMARY KEY);
            CREATE TABLE main . d /* comment */ (x); CREATE TABLE e AS SELECT 1 AS x, 'two' AS y;
            CREATE UNIQUE INDEX IF NOT EXISTS i ON d(x); CREATE VIEW IF NOT EXISTS main.v AS SELECT 1;
            CREATE TRIGGER IF NOT EXISTS r AFTER INSERT ON d BEGIN SELECT 1; SELECT 2; END;
            ALTER TABLE d RENAME TO 'new d'; CREATE VIRTUAL TABLE IF NOT EXISTS f USING fts5(z);
            INSERT INTO f VALUES ('word');
            """)
        let (report, _) = try salvage()
        #expect(report.isComplete && report.problems.isEmpty, "\(report.problems)")
        let lists = try [("db.sqlite", nil), ("copy.sqlite", encryption)].map { name, encryption in
            try DatabaseQueue(path: folder.path(name), configuration: SalvageModel.configuration(encryption)).read {
                try String.fetchAll($0, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
            }
        }
        #expect(lists[0] == lists[1] && lists[0].count == 13, "\(lists[0].count)")
    }

    @Test("saves one of many cells that are the same bytes")
    func overlaps() throws {
        try make("CREATE TABLE a(x); INSERT INTO a VALUES (zeroblob(3000)), (2)")
        try change { bytes in
            let page = 4096, pointer = Array(bytes[page + 8..<page + 10])
            (bytes[page + 3], bytes[page + 4]) = (1, 44)
            for index in 1..<300 { bytes.replaceSubrange(page + 8 + 2 * index..<page + 10 + 2 * index, with: pointer) }
        }
        let (report, _) = try salvage()
        #expect(report.tables.map(\.saved) == [1] && report.lostRowCount == 0)
    }

    @Test("takes no large value for a row of millions of columns")
    func header() {
        // A header of 98,308 bytes: three for its size, and a column in each of the others.
        var bytes = [UInt8](repeating: 0, count: 98_308)
        bytes.replaceSubrange(0..<3, with: [0x86, 0x80, 0x04])
        #expect(StoredRecord(bytes, in: 0..<bytes.count) == nil)
        bytes.removeLast()
        bytes[2] = 0x03
        #expect(StoredRecord(bytes, in: 0..<bytes.count)?.values.count == 98_304)
    }

    @Test("hides no page behind a wrong header", arguments: ["pages", "size"])
    func headers(field: String) throws {
        try make(Self.rows)
        try change { bytes in
            if field == "pages" { bytes.replaceSubrange(28..<32, with: [0, 0, 0, 3]) }
            // 8192 instead of 4096.
            if field == "size" { (bytes[16], bytes[17]) = (0x20, 0) }
        }
        #expect(try salvage().report.tables.map(\.saved) == [500])
    }

    @Test("loses no rows of two tables at one place")
    func contradiction() throws {
        try make(
            Self.rows, "CREATE TABLE b(x); INSERT INTO b VALUES (1), (2), (3)", "PRAGMA writable_schema = ON",
            "UPDATE sqlite_master SET rootpage = 2 WHERE name = 'b'")
        let report = try salvage().report
        #expect(report.lostRowCount == 503 && !report.isComplete)
    }

    @Test("ends where pages refer to themselves", arguments: ["overflow", "interior"])
    func circles(kind: String) throws {
        try make(Self.rows, "CREATE TABLE b(x); INSERT INTO b VALUES (zeroblob(100000))")
        try change { bytes in
            let count = bytes.count / 4096
            for page in 1..<count {
                let at = page * 4096, number = [UInt8](arrayLiteral: 0, 0, UInt8(page >> 8), UInt8(page + 1 & 255))
                // The last pages are those of the blob.
                if kind == "overflow", page > count - 10 { bytes.replaceSubrange(at..<at + 4, with: number) }
                if kind == "interior", bytes[at] == 5 { bytes.replaceSubrange(at + 8..<at + 12, with: number) }
            }
        }
        let report = try salvage().report
        #expect(!report.isComplete && report.tables.count == 2)
        #expect(report.tables[0].saved + report.lostRowCount >= (kind == "overflow" ? 500 : 400))
    }
}

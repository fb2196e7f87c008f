import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// The pages of a file in clear text have no proof: only their own form shows that rows are missing.
@Suite("A salvage of a file in clear text that has lost rows")
struct SilentLossTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let few = "CREATE TABLE a(x); INSERT INTO a VALUES ('one'), ('two'), ('three')"
    private static let many = """
        CREATE TABLE a(x, y);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            INSERT INTO a SELECT i, 'row ' || hex(randomblob(30)) FROM n;
        """

    /// Makes a file with pages of 4096 bytes, changes its bytes, and salvages it.
    private func salvage(_ sql: String..., change: (inout [UInt8]) throws -> Void) throws -> SalvageReport {
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"))
        try queue.writeWithoutTransaction { db in for statement in sql { try db.execute(sql: statement) } }
        try queue.close()
        var bytes = [UInt8](try folder.bytes("db.sqlite"))
        try change(&bytes)
        try folder.write(bytes, to: "db.sqlite")
        return try DatabaseFile.salvage(
            path: folder.path("db.sqlite"), to: folder.path("copy.sqlite"),
            encryption: Encryption(key: SalvageModel.key))
    }

    @Test("reports a page whose number of cells is not that of its content", arguments: [0, 2, 4, 0xFFFF])
    func cellCount(count: Int) throws {
        let report = try salvage(Self.few) { ($0[4096 + 3], $0[4096 + 4]) = (UInt8(count >> 8), UInt8(count & 255)) }
        #expect(!report.isComplete && report.tables.map(\.unknownRanges.count) == [1])
        #expect(report.damagedPages.map(\.number) == [2])
    }

    @Test("reports children that an interior page no longer names, and saves their rows", arguments: [0, 3])
    func children(count: UInt8) throws {
        let report = try salvage(Self.many) { bytes in
            #expect(bytes[4096] == 5)
            (bytes[4096 + 3], bytes[4096 + 4]) = (0, count)
        }
        #expect(!report.isComplete && !report.tables[0].unknownRanges.isEmpty)
        #expect(report.tables[0].saved + report.lostRowCount == 500)
    }

    @Test("reports a leaf that is empty, as none below another page is", arguments: [[0], [13, 0, 0, 0, 0, 16, 0, 0]])
    func emptyLeaf(header: [UInt8]) throws {
        let report = try salvage(Self.many) { bytes in
            #expect(bytes[2 * 4096] == 13)
            let at = 2 * 4096 + (header.count == 1 ? 4 : 0)
            bytes.replaceSubrange(at..<at + header.count, with: header)
        }
        #expect(!report.isComplete && report.damagedPages.map(\.number) == [3])
    }

    @Test("reports a page of the schema that can't be read", arguments: [[0xFF, 0xFF], [0, 0], [0, 1]] as [[UInt8]])
    func schema(count: [UInt8]) throws {
        let report = try salvage(Self.few, "CREATE TABLE b(x)") { bytes in
            bytes.replaceSubrange(103..<105, with: count)
        }
        #expect(!report.isSchemaComplete && !report.isComplete)
        #expect(report.damagedPages.map(\.number) == [1])
    }

    @Test("reports a table whose root the schema no longer names")
    func root() throws {
        let report = try salvage(
            Self.few, "PRAGMA writable_schema = ON", "UPDATE sqlite_master SET rootpage = 0"
        ) { _ in }
        #expect(!report.isComplete && !report.isSchemaComplete)
    }

    @Test("reports a cell that is not on its page")
    func pointer() throws {
        let report = try salvage(Self.few) { ($0[4096 + 8], $0[4096 + 9]) = (0xFF, 0xFF) }
        #expect(!report.isComplete && report.tables.map(\.saved) == [2])
    }

    @Test("reports a broken row of a table without rowids")
    func broken() throws {
        let report = try salvage(
            "CREATE TABLE a(x PRIMARY KEY) WITHOUT ROWID; INSERT INTO a VALUES ('one'), ('two'), ('three')"
        ) { bytes in
            // The first cell: the size of its payload, and that of the header.
            bytes[4096 + (Int(bytes[4096 + 8]) << 8 | Int(bytes[4096 + 9])) + 1] = 0
        }
        #expect(!report.isComplete && report.tables.map(\.saved) == [2])
    }

    @Test(
        "reports nothing after many changes of a sound file", arguments: [512, 1024, 4096, 65536],
        ["NONE", "FULL"])
    func sound(pageSize: Int, vacuum: String) throws {
        let report = try salvage(
            "PRAGMA page_size = \(pageSize)", "PRAGMA auto_vacuum = \(vacuum)",
            "CREATE TABLE a(x PRIMARY KEY, y); CREATE TABLE b(x PRIMARY KEY, y) WITHOUT ROWID; CREATE TABLE c(x)",
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                INSERT INTO a SELECT i * 7919 % 2003, randomblob(i % 90) FROM n;
            INSERT INTO b SELECT * FROM a;
            INSERT INTO c VALUES (1), (randomblob(100000));
            DELETE FROM a WHERE x % 3 = 0; DELETE FROM b WHERE x % 5 = 1;
            UPDATE a SET y = randomblob(x % 200) WHERE x % 2 = 0; UPDATE b SET y = x WHERE x % 4 = 0;
            INSERT INTO a SELECT -x, randomblob(x % 50) FROM b WHERE x % 7 = 0;
            DELETE FROM c; DELETE FROM b WHERE x > 1500;
            """
        ) { _ in }
        #expect(report.isComplete && report.damagedPages.isEmpty, "\(report)")
    }
}

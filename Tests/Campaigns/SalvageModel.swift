import Foundation
import Strongroom
import TestSupport

/// A database that a campaign damages again and again, with its ledger: without a log, and with one of several commits.
final class SalvageModel {
    enum Name: String, CaseIterable {
        /// A copy of the database at `STRONGROOM_CHINOOK`, with pages of 1 kB. Left out without it.
        case chinook
        /// Tables of some megabytes in total, with pages of 1 kB.
        case small
        /// 100 MB: blobs on overflow pages, a table without rowid, full text, 200 tables.
        case large
    }

    let name: Name
    let pageSize: Int
    let folder: String
    private(set) var plain = SalvageLedger()
    private(set) var logged = SalvageLedger()
    /// The size of the log after each commit.
    private(set) var logSizes: [Int] = []

    static let key = RawKey("salvage")
    private static let salt = String(repeating: "5a", count: 16)

    var encryption: Encryption {
        get throws {
            let digits = Array(Self.key.digits),
                bytes = stride(from: 0, to: 64, by: 2).map {
                    UInt8(String(digits[$0..<$0 + 2]), radix: 16)!
                }
            return Encryption(
                key: try .rawKey(bytes, salt: [UInt8](repeating: 0x5a, count: 16)),
                settings: CipherSettings(pageSize: pageSize))
        }
    }

    var configuration: Configuration {
        get throws {
            var configuration = Configuration()
            configuration.encryption = try encryption
            return configuration
        }
    }

    /// The stock shell, on a file of the model.
    func shell(_ path: String) -> StockShell {
        StockShell(
            path: path,
            keying: "PRAGMA key = \"x'\(Self.key.digits)\(Self.salt)'\"; PRAGMA cipher_page_size = \(pageSize);")
    }

    init(_ name: Name, in folder: String) throws {
        (self.name, self.folder) = (name, folder + "/" + name.rawValue)
        pageSize = name == .large ? 4096 : 1024
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        let path = self.folder + "/original"
        if name == .chinook {
            let source = ProcessInfo.processInfo.environment["STRONGROOM_CHINOOK"] ?? ""
            try DatabaseFile.encrypt(path: source, to: path, encryption: encryption)
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { db in
            if name != .chinook { try db.execute(sql: name == .large ? Self.largeContent : Self.smallContent) }
            try plain.record(db)
            try plain.locate(db, shell(path))
            try copy(path, to: "plain")
            try db.execute(sql: "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0")
            try logged.record(db)
            for change in try Self.changes(name, db) {
                try db.execute(sql: change)
                try logged.record(db)
                logSizes.append(try Data(contentsOf: URL(fileURLWithPath: path + "-wal"), options: .alwaysMapped).count)
            }
            // The files of an open database, as after a crash.
            try copy(path, to: "logged")
        }
        try queue.close()
    }

    private func copy(_ path: String, to name: String) throws {
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: folder + "/" + name + suffix)
        }
    }

    /// Copies the files to a folder, to be damaged.
    func place(at path: String, isLogged: Bool) throws {
        for suffix in ["", "-wal"] {
            let source = folder + (isLogged ? "/logged" : "/plain") + suffix
            try? FileManager.default.removeItem(atPath: path + suffix)
            if FileManager.default.fileExists(atPath: source) {
                try FileManager.default.copyItem(atPath: source, toPath: path + suffix)
            }
        }
    }

    // MARK: - Contents

    private static func numbers(_ count: Int) -> String {
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
    }

    /// Blobs, a table without rowid, full text and some tables of one kind.
    private static func content(_ scale: Int, tables: Int, rows: Int, longest: Int) -> String {
        let others = (0..<tables).map { table in
            """
            CREATE TABLE t\(table)(id INTEGER PRIMARY KEY, name TEXT, value REAL, kind INTEGER);
            \(numbers(rows)) INSERT INTO t\(table)
                SELECT i * 3, 'table \(table) row ' || i, i * 0.5 + \(table), i % 7 FROM n;
            \(table % 10 == 0 ? "CREATE INDEX t\(table)Kind ON t\(table)(kind, name);" : "")
            """
        }
        return """
            BEGIN;
            CREATE TABLE file(id INTEGER PRIMARY KEY, name TEXT NOT NULL, data BLOB);
            CREATE INDEX fileName ON file(name);
            CREATE TABLE word(a TEXT, b INTEGER, note TEXT, PRIMARY KEY(a, b)) WITHOUT ROWID;
            CREATE VIRTUAL TABLE page USING fts5(title, body);
            CREATE VIEW names AS SELECT name FROM file;
            CREATE TRIGGER fileGone AFTER DELETE ON file BEGIN DELETE FROM word WHERE b = -old.id; END;
            \(numbers(4 * scale)) INSERT INTO file
                SELECT i, 'file ' || i, randomblob(200 + (i * 7919) % \(longest)) FROM n;
            \(numbers(80 * scale)) INSERT INTO word
                SELECT 'word ' || (i * 7919 % 100003), i, 'note ' || i
                    || hex(zeroblob(CASE WHEN i % 500 = 0 THEN 3000 ELSE 4 END)) FROM n;
            \(numbers(12 * scale)) INSERT INTO page
                SELECT 'title ' || i, 'quiet words about number' || i || ' and ' || (i * 31 % 977)
                    || hex(randomblob(60)) FROM n;
            \(others.joined(separator: "\n"))
            COMMIT;
            """
    }

    private static var largeContent: String { content(1000, tables: 200, rows: 700, longest: 40_000) }
    private static var smallContent: String { content(60, tables: 12, rows: 100, longest: 6_000) }

    /// Each is a commit.
    private static func changes(_ name: Name, _ db: Database) throws -> [String] {
        if name == .chinook {
            return [
                "UPDATE Track SET Composer = 'changed' WHERE TrackId % 5 = 0",
                "DELETE FROM InvoiceLine WHERE InvoiceLineId % 3 = 0",
                "CREATE TABLE late(id INTEGER PRIMARY KEY, name); INSERT INTO late SELECT TrackId, Name FROM Track",
            ]
        }
        return [
            "UPDATE file SET data = randomblob(5000) WHERE id % 40 = 0",
            "DELETE FROM word WHERE b % 9 = 0",
            "INSERT INTO file SELECT id + 100000, name || ' again', randomblob(3000) FROM file WHERE id % 25 = 0",
            "UPDATE t3 SET name = 'changed ' || id WHERE id % 2 = 0",
        ]
    }
}

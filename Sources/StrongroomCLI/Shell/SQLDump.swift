import Foundation
import Strongroom

/// A database as the SQL that recreates it, as SQLite's shell prints it.
struct SQLDump {
    private let db: Database

    init(_ db: Database) { self.db = db }

    /// The tables in which the virtual table ?1 keeps its rows.
    private static let shadows = """
        SELECT name FROM pragma_table_list
        WHERE type = 'shadow' AND lower(substr(name, 1, length(?1) + 1)) = lower(?1) || '_'
        AND EXISTS (SELECT 1 FROM pragma_table_list WHERE type = 'virtual' AND lower(name) = lower(?1))
        """

    /// - parameter table: the only table to dump, with its indexes and triggers; nil for all.
    func write(_ table: String?, to write: (String) throws -> Void) throws {
        let entries = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, sql, rootpage FROM sqlite_master
                WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                AND (?1 IS NULL OR lower(tbl_name) = lower(?1) OR tbl_name IN (\(Self.shadows)))
                ORDER BY type <> 'table', rowid
                """, arguments: [table])
        let virtual = entries.filter { ($0["type"] as String) == "table" && ($0["rootpage"] as Int) == 0 }
        if !virtual.isEmpty {
            try write("-- It has virtual tables: in SQLite's shells, enter .dbconfig defensive off first.")
        }
        try write("PRAGMA foreign_keys = OFF;\nBEGIN TRANSACTION;")
        for entry in entries where (entry["type"] as String) == "table" && (entry["rootpage"] as Int) > 0 {
            try write((entry["sql"] as String) + ";")
            try writeRows(of: entry["name"], to: write)
        }
        try writeSequences(table, to: write)
        // Their shadow tables exist already, and CREATE VIRTUAL TABLE would create them again.
        if !virtual.isEmpty { try write("PRAGMA writable_schema = ON;") }
        for entry in virtual {
            let name = literal(entry["name"]), sql = literal(entry["sql"])
            try write(
                """
                INSERT INTO sqlite_schema(type, name, tbl_name, rootpage, sql) \
                VALUES ('table', \(name), \(name), 0, \(sql));
                """)
        }
        if !virtual.isEmpty { try write("PRAGMA writable_schema = OFF;") }
        for entry in entries where (entry["type"] as String) != "table" { try write((entry["sql"] as String) + ";") }
        try write("COMMIT;")
    }

    private func writeRows(of table: String, to write: (String) throws -> Void) throws {
        let columns = try db.storedColumns(of: table).map(\.quotedDatabaseIdentifier)
        // The texts of another encoding are converted, and are UTF-8 then.
        let isUTF8 = try String.fetchOne(db, sql: "PRAGMA encoding") == "UTF-8"
        let values = columns.map { isUTF8 ? "CAST(\(Self.value($0)) AS BLOB)" : Self.value($0) }
        let head = "INSERT INTO \(table.quotedDatabaseIdentifier) (\(columns.joined(separator: ", "))) VALUES ("
        let listing = "SELECT \(values.joined(separator: ", ")) FROM \(table.quotedDatabaseIdentifier)"
        let rows = try Row.fetchCursor(db, sql: listing)
        while let row = try rows.next() {
            let literals = columns.indices.map { index -> String in
                let value = isUTF8 ? row[index] as Data : Data((row[index] as String).utf8)
                let isText = value.first == UInt8(ascii: "t")
                return isText ? literal(bytes: value.dropFirst()) : String(decoding: value, as: UTF8.self)
            }
            try write(head + literals.joined(separator: ",") + ");")
        }
    }

    /// Returns the expression for the literal of a column's value. A text has a t before it instead, because SQLite's
    /// quote() ends it at a NUL. The digits that quote() gives the largest numbers are read as infinity.
    private static func value(_ column: String) -> String {
        """
        CASE typeof(\(column)) WHEN 'text' THEN 't' || \(column) \
        WHEN 'real' THEN CASE WHEN CAST(quote(\(column)) AS REAL) IS \(column) THEN quote(\(column)) \
        ELSE printf('%!.17g', \(column)) END ELSE quote(\(column)) END
        """
    }

    private func writeSequences(_ table: String?, to write: (String) throws -> Void) throws {
        guard try db.tableExists("sqlite_sequence") else { return }
        let counters = "SELECT name, seq FROM sqlite_sequence WHERE ?1 IS NULL OR name = ?1 COLLATE NOCASE"
        for row in try Row.fetchAll(db, sql: counters, arguments: [table]) {
            let name = literal(row["name"])
            try write("DELETE FROM sqlite_sequence WHERE name = \(name);")
            try write("INSERT INTO sqlite_sequence VALUES (\(name), \(row["seq"] as Int64));")
        }
    }

    private func literal(_ text: String) -> String { literal(bytes: Data(text.utf8)) }

    /// Returns the text as a literal of SQL, which can't contain NUL, and which is UTF-8.
    private func literal(bytes text: Data) -> String {
        text.split(separator: 0, omittingEmptySubsequences: false).map { part in
            guard let valid = String(validatingUTF8Bytes: part) else {
                return "CAST(X'\(part.map { String(format: "%02X", $0) }.joined())' AS TEXT)"
            }
            return "'" + valid.replacing(ascii: "'", with: "''") + "'"
        }.joined(separator: "||char(0)||")
    }
}

extension Database {
    /// The columns of a table that take values: not those that are generated.
    func storedColumns(of table: String) throws -> [String] {
        let listing = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid"
        return try String.fetchAll(self, sql: listing, arguments: [table])
    }
}

import Strongroom

/// A database as the SQL that recreates it, as SQLite's shell prints it.
struct SQLDump {
    private let db: Database

    init(_ db: Database) { self.db = db }

    /// - parameter table: the only table to dump, with its indexes and triggers; nil for all.
    func write(_ table: String?, to write: (String) throws -> Void) throws {
        let entries = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, sql, rootpage FROM sqlite_master
                WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                AND (?1 IS NULL OR lower(tbl_name) = lower(?1))
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
        let listing = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid"
        let columns = try String.fetchAll(db, sql: listing, arguments: [table]).map(quoted)
        let values = columns.map { "quote(\($0))" }.joined(separator: " || ',' || ")
        let head = "INSERT INTO \(quoted(table)) (\(columns.joined(separator: ", "))) VALUES ("
        let rows = try String.fetchCursor(db, sql: "SELECT \(values) FROM \(quoted(table))")
        while let row = try rows.next() { try write(head + row + ");") }
    }

    private func writeSequences(_ table: String?, to write: (String) throws -> Void) throws {
        guard try db.tableExists("sqlite_sequence") else { return }
        let counters = "SELECT name, seq FROM sqlite_sequence WHERE ?1 IS NULL OR name = ?1"
        for row in try Row.fetchAll(db, sql: counters, arguments: [table]) {
            let name = literal(row["name"])
            try write("DELETE FROM sqlite_sequence WHERE name = \(name);")
            try write("INSERT INTO sqlite_sequence VALUES (\(name), \(row["seq"] as Int64));")
        }
    }

    private func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
}

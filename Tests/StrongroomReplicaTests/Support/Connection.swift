import CSQLCipher
import Foundation

/// A connection of SQLCipher with a raw key, as any program has one.
final class Connection {
    private var db: OpaquePointer?

    static let key = String(repeating: "0f", count: 32)
    static let otherKey = String(repeating: "a5", count: 32)

    struct Failure: Error {
        let code: Int32
        let message: String
    }

    /// An empty key opens a unencrypted database.
    init(_ path: String, key: String = Connection.key, journal: String? = "wal", settings: [String] = []) throws {
        try check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil))
        sqlite3_busy_timeout(db, 5000)
        if !key.isEmpty { try run("PRAGMA key = \"x'\(key)'\"") }
        for setting in settings { try run(setting) }
        if let journal { try run("PRAGMA journal_mode = \(journal)") }
    }

    deinit { sqlite3_close_v2(db) }

    func close() {
        sqlite3_close_v2(db)
        db = nil
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw Failure(code: code, message: String(cString: sqlite3_errmsg(db))) }
    }

    func run(_ sql: String) throws { try check(sqlite3_exec(db, sql, nil, nil, nil)) }

    /// Returns the first column of all rows.
    func values(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(db, sql, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        var values: [String] = []
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return values }
            guard code == SQLITE_ROW else {
                try check(code)
                return values
            }
            values.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
        }
    }

    func value(_ sql: String) throws -> String { try values(sql).first ?? "" }

    func rekey(_ key: String) throws {
        try run("PRAGMA rekey = \"x'\(key)'\"")
    }

    /// Two tables with the same number of rows after each transaction.
    func createTables() throws {
        try run("CREATE TABLE a (id INTEGER PRIMARY KEY, text); CREATE TABLE b (id INTEGER PRIMARY KEY, bytes)")
    }

    /// One transaction.
    func insert(_ count: Int = 1, size: Int = 200) throws {
        try run(
            """
            BEGIN IMMEDIATE;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO a (text) SELECT 'row ' || i FROM n;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO b (bytes) SELECT randomblob(\(size)) FROM n;
            COMMIT
            """)
    }
}

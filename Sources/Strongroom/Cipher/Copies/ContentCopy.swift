import CSQLCipher

/// A copy of a database, object by object. SQLCipher's own functions have limits: the backup API needs equal page
/// formats, `VACUUM INTO` keeps the reserve, `sqlcipher_export` omits header fields and renumbers rows, and `ATTACH`
/// only reads the current format.
struct ContentCopy {
    /// A table, and the number of rows that were copied.
    struct TableCount {
        let table: String
        let rowCount: Int
    }

    private let source: Database
    private let target: Database
    private let progress: CopyProgress

    init(from source: Database, to target: Database, progress: CopyProgress) {
        self.source = source
        self.target = target
        self.progress = progress
    }

    /// Copies the database, and returns the number of rows of each table.
    func run() throws -> [TableCount] {
        // A step of rows is short, but an index of all rows is not.
        try target.stopping(by: progress) { try copyAll() }
    }

    private func copyAll() throws -> [TableCount] {
        let isWAL = try source.log.isUsed
        for pragma in ["encoding", "auto_vacuum"] { try carry(pragma) }
        if !target.cipher.isKeyed { try carry("page_size") }
        var counts: [TableCount] = []
        try target.execute(sql: "PRAGMA ignore_check_constraints = ON")
        try source.isolated { _ in
            try target.inTransaction(.immediate) {
                for pragma in ["user_version", "application_id"] { try carry(pragma) }
                try createTables()
                for table in try tables() { counts.append(TableCount(table: table, rowCount: try copyRows(of: table))) }
                try createTheRest()
                return .commit
            }
        }
        if isWAL { _ = try String.fetchOne(target, sql: "PRAGMA journal_mode = wal") }
        return counts
    }

    private func carry(_ pragma: String) throws {
        guard let value = try source.answer(to: "PRAGMA main.\(pragma)") else { return }
        try target.runUnseen("PRAGMA main.\(pragma) = '\(value)'")
    }

    // MARK: - Schema

    private func createTables() throws {
        for sql in try String.fetchAll(
            source,
            sql: """
                SELECT sql FROM sqlite_master
                WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid
                """)
        { try target.execute(sql: sql) }
        if try hasStatistics() { try target.execute(sql: "ANALYZE sqlite_master") }
    }

    private func createTheRest() throws {
        for sql in try String.fetchAll(
            source,
            sql: """
                SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid
                """)
        { try target.execute(sql: sql) }
        // Virtual tables, views and triggers have no pages: their rows in the schema are all there is. Creating a
        // virtual table would create its shadow tables again.
        try target.execute(sql: "PRAGMA writable_schema = ON")
        _ = try copy(
            query: """
                SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master
                WHERE type IN ('view', 'trigger') OR type = 'table' AND rootpage = 0 ORDER BY rowid
                """, insertion: "INSERT INTO sqlite_master(type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)")
        try target.execute(sql: "PRAGMA writable_schema = OFF")
    }

    private func hasStatistics() throws -> Bool {
        let sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'sqlite_stat1'"
        return try Int.fetchOne(source, sql: sql) != nil
    }

    // MARK: - Rows

    private func tables() throws -> [String] {
        try String.fetchAll(
            source,
            sql: """
                SELECT name FROM sqlite_master
                WHERE type = 'table' AND rootpage > 0
                  AND (name NOT LIKE 'sqlite\\_%' ESCAPE '\\' OR name IN ('sqlite_sequence', 'sqlite_stat1'))
                ORDER BY name = 'sqlite_sequence', rowid
                """)
    }

    private func copyRows(of table: String) throws -> Int {
        if table.hasPrefix("sqlite_") { try target.execute(sql: "DELETE FROM \(table.quotedDatabaseIdentifier)") }
        let columns = try storedColumns(of: table)
        let names = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        let count = try copy(
            query: "SELECT \(names) FROM \(table.quotedDatabaseIdentifier)",
            insertion: "INSERT INTO \(table.quotedDatabaseIdentifier)(\(names)) VALUES (\(marks))")
        try report()
        return count
    }

    private func copy(query: String, insertion: String) throws -> Int {
        let query = try source.makeStatement(sql: query), insertion = try target.makeStatement(sql: insertion)
        let before = target.totalChangesCount
        while try moveRows(from: query.sqliteStatement, to: insertion.sqliteStatement) { try report() }
        return target.totalChangesCount - before
    }

    /// Copies a thousand rows, or fewer large ones, so that the copy can be stopped in between. Returns false at the
    /// end.
    private func moveRows(from query: SQLiteStatement, to insertion: SQLiteStatement) throws -> Bool {
        var count = 1000, room = 4 << 20
        while count > 0, room > 0 {
            let code = RawStatement(query).step()
            if code == SQLITE_DONE { return false }
            guard code == SQLITE_ROW else { throw DatabaseError(code, on: source.sqliteConnection) }
            room -= try moveValues(from: query, to: insertion)
            let inserted = RawStatement(insertion).step()
            guard inserted == SQLITE_DONE else { throw DatabaseError(inserted, on: target.sqliteConnection) }
            try target.check(RawStatement(insertion).reset())
            count -= 1
        }
        return true
    }

    /// Copies the values of a row. Returns the size of its texts and blobs in bytes.
    private func moveValues(from query: SQLiteStatement, to insertion: SQLiteStatement) throws -> Int {
        var size = 0
        for index in 0..<RawStatement(query).columnCount {
            let (code, byteCount) = StatementParameter(insertion, index + 1).bind(StatementColumn(query, index))
            try target.check(code)
            size += byteCount
        }
        return size
    }

    private func report() throws {
        guard progress.isReported else { return try progress.check() }
        try progress.advance(to: target.pageCount)
    }

    /// Returns the columns that store values, and the rowid if no column is its alias.
    private func storedColumns(of table: String) throws -> [String] {
        let columns = try Row.fetchAll(source, sql: "PRAGMA main.table_xinfo(\(table.quotedDatabaseIdentifier))")
        let stored = columns.filter { ($0["hidden"] as Int) == 0 }.map { $0["name"] as String }
        let taken = Set(columns.map { ($0["name"] as String).lowercased() })
        guard let alias = ["rowid", "_rowid_", "oid"].first(where: { !taken.contains($0) }) else { return stored }
        guard (try? source.makeStatement(sql: "SELECT \(alias) FROM \(table.quotedDatabaseIdentifier)")) != nil else {
            return stored
        }
        return try primaryKeyIsRowID(columns, of: table) ? stored : [alias] + stored
    }

    /// Returns true if the primary key is one column without an index.
    /// <https://www.sqlite.org/lang_createtable.html#rowid>
    private func primaryKeyIsRowID(_ columns: [Row], of table: String) throws -> Bool {
        guard columns.filter({ ($0["pk"] as Int) > 0 }).count == 1 else { return false }
        let indexes = try Row.fetchAll(source, sql: "PRAGMA main.index_list(\(table.quotedDatabaseIdentifier))")
        return !indexes.contains { ($0["origin"] as String) == "pk" }
    }
}

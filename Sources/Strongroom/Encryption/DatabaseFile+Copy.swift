import CStrongroom
import Foundation

extension DatabaseFile {
    /// Writes an encrypted copy of a clear database, and opens and checks it before it gets its name. The original stays.
    ///
    /// Everything is kept: schema, rowids, autoincrement, full-text indexes, `user_version`, `application_id`, encoding and
    /// journal mode. `progress` may throw to stop.
    ///
    /// - throws: `SQLITE_CANTOPEN` if `destination` exists, `SQLITE_NOTADB` if `path` isn't in clear text. Nothing is left behind.
    public static func encrypt(
        path: String, to destination: String, encryption: Encryption, progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        try copy(path, nil, to: destination, encryption, progress)
    }

    /// Writes a clear copy of an encrypted database. See ``encrypt(path:to:encryption:progress:)``.
    public static func decrypt(
        path: String, to destination: String, encryption: Encryption, progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        try copy(path, encryption, to: destination, nil, progress)
    }

    /// Writes a copy in another encryption, by default in the format of SQLCipher 4 with the same key. See
    /// ``encrypt(path:to:encryption:progress:)``.
    public static func migrate(
        path: String, to destination: String, from old: Encryption, as new: Encryption? = nil, progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        try copy(path, old, to: destination, new ?? Encryption(key: old.key), progress)
    }

    private static func copy(
        _ path: String, _ old: Encryption?, to destination: String, _ new: Encryption?, _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws {
        guard strongroom_size_of_file(destination) == -1 else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "\(destination) exists: name a new file")
        }
        let partial = destination + ".partial"
        try removeDatabase(partial)
        do {
            try withDatabase(path, old) { source in
                let counts = try withDatabase(partial, new) { try DatabaseCopy(from: source, to: $0, progress: progress).run() }
                try withDatabase(partial, new) { try verify($0, counts) }
            }
            try rename(partial, to: destination)
        } catch {
            try? removeDatabase(partial)
            throw error
        }
    }

    private static func withDatabase<T>(_ path: String, _ encryption: Encryption?, _ body: (Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(5)
        return try Database(path: path, description: "DatabaseFile", configuration: configuration).withSoleAccess { database in
            try database.setUp()
            return try body(database)
        }
    }

    private static func verify(_ database: Database, _ counts: [String: Int]) throws {
        let report = try database.integrityReport()
        guard (report.unauthenticPages ?? []).isEmpty, report.structureProblems.isEmpty else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the copy is damaged: \(report.structureProblems.first ?? "a page isn't authentic")")
        }
        for (table, count) in counts where try Int.fetchOne(database, sql: "SELECT count(*) FROM \(quoted(table))") != count {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the copy of \(table) is not complete")
        }
    }

    /// The salt first: a database with a plaintext header is nothing without it.
    private static func rename(_ partial: String, to destination: String) throws {
        if try SaltFile.read(.permanent, of: partial) != nil {
            try move(SaltFile.path(.permanent, of: partial), SaltFile.path(.permanent, of: destination))
        }
        try move(partial, destination)
    }

    private static func move(_ from: String, _ to: String) throws {
        guard strongroom_file_replace(from, to) == 0 else {
            throw DatabaseError(resultCode: .SQLITE_IOERR, message: "can't rename \(from)")
        }
    }

    private static func removeDatabase(_ path: String) throws {
        for ending in ["", "-journal", "-wal", "-shm"] + SaltFile.Role.allCases.map(\.rawValue) {
            guard strongroom_file_remove(path + ending) == 0 else {
                throw DatabaseError(resultCode: .SQLITE_IOERR, message: "can't remove \(path + ending)")
            }
        }
    }
}

/// Copies a database object by object: SQLCipher's own ways refuse or forget something (the backup API wants equal page formats,
/// `VACUUM INTO` keeps the room for an HMAC, `sqlcipher_export` drops header fields and renumbers rows).
private struct DatabaseCopy {
    private let source: Database
    private let target: Database
    private let progress: ((EncryptionProgress) throws -> Void)?
    private let pageCount: Int

    init(from source: Database, to target: Database, progress: ((EncryptionProgress) throws -> Void)?) throws {
        self.source = source
        self.target = target
        self.progress = progress
        pageCount = source.answer(to: "PRAGMA main.page_count").flatMap { Int($0) } ?? 0
    }

    /// Answers how many rows each table has.
    func run() throws -> [String: Int] {
        let isWAL = source.isWAL
        for pragma in ["encoding", "auto_vacuum"] { try carry(pragma) }
        if target.cipher.derived == nil { try carry("page_size") }
        try attachSource()
        var counts: [String: Int] = [:]
        try target.execute(sql: "PRAGMA ignore_check_constraints = ON")
        try target.inTransaction(.immediate) {
            for pragma in ["user_version", "application_id"] { try carry(pragma) }
            try createTables()
            for table in try tables() { counts[table] = try copyRows(of: table) }
            try createTheRest()
            return .commit
        }
        try target.execute(sql: "DETACH DATABASE source")
        if isWAL { _ = try String.fetchOne(target, sql: "PRAGMA journal_mode = wal") }
        try progress?(EncryptionProgress(completedPageCount: pageCount, totalPageCount: pageCount))
        return counts
    }

    private func carry(_ pragma: String) throws {
        guard let value = source.answer(to: "PRAGMA main.\(pragma)") else { return }
        try target.check(strongroom_execute(target.openConnection, "PRAGMA main.\(pragma) = '\(value)'"))
    }

    /// The key goes by C call, not by SQL.
    private func attachSource() throws {
        try target.execute(sql: "ATTACH DATABASE ? AS source KEY ''", arguments: [source.filePath])
        guard let derived = source.cipher.derived else { return }
        try target.attach(derived, header: source.cipher.header, schema: "source")
    }

    // MARK: - Schema

    private func createTables() throws {
        for sql in try String.fetchAll(target, sql: """
            SELECT sql FROM source.sqlite_master WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid
            """) { try target.execute(sql: sql) }
        if try hasTable("sqlite_stat1") { try target.execute(sql: "ANALYZE main.sqlite_master") }
    }

    private func createTheRest() throws {
        for sql in try String.fetchAll(target, sql: """
            SELECT sql FROM source.sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid
            """) { try target.execute(sql: sql) }
        // Virtual tables, views and triggers have no pages: their lines in the schema are all there is. Creating a virtual table would
        // create its shadow tables anew.
        try target.execute(sql: "PRAGMA writable_schema = ON")
        try target.execute(sql: """
            INSERT INTO main.sqlite_master SELECT type, name, tbl_name, rootpage, sql FROM source.sqlite_master
            WHERE type IN ('view', 'trigger') OR type = 'table' AND rootpage = 0 ORDER BY rowid
            """)
        try target.execute(sql: "PRAGMA writable_schema = OFF")
    }

    private func hasTable(_ name: String) throws -> Bool {
        try Int.fetchOne(target, sql: "SELECT 1 FROM source.sqlite_master WHERE type = 'table' AND name = ?", arguments: [name]) != nil
    }

    // MARK: - Rows

    private func tables() throws -> [String] {
        try String.fetchAll(target, sql: """
            SELECT name FROM source.sqlite_master
            WHERE type = 'table' AND rootpage > 0 AND (name NOT LIKE 'sqlite\\_%' ESCAPE '\\' OR name IN ('sqlite_sequence', 'sqlite_stat1'))
            ORDER BY name = 'sqlite_sequence', rowid
            """)
    }

    private func copyRows(of table: String) throws -> Int {
        let name = quoted(table)
        if table.hasPrefix("sqlite_") { try target.execute(sql: "DELETE FROM main.\(name)") }
        let columns = try storedColumns(of: table).map(quoted).joined(separator: ", ")
        try target.execute(sql: "INSERT INTO main.\(name)(\(columns)) SELECT \(columns) FROM source.\(name)")
        let done = target.answer(to: "PRAGMA main.page_count").flatMap { Int($0) } ?? 0
        try progress?(EncryptionProgress(completedPageCount: min(done, pageCount), totalPageCount: pageCount))
        return try Int.fetchOne(target, sql: "SELECT count(*) FROM main.\(name)") ?? 0
    }

    /// The columns that hold values, with the rowid where no column stands for it.
    private func storedColumns(of table: String) throws -> [String] {
        let columns = try Row.fetchAll(target, sql: "PRAGMA source.table_xinfo(\(quoted(table)))")
        let stored = columns.filter { ($0["hidden"] as Int) == 0 }.map { $0["name"] as String }
        let taken = Set(columns.map { ($0["name"] as String).lowercased() })
        guard let alias = ["rowid", "_rowid_", "oid"].first(where: { !taken.contains($0) }) else { return stored }
        guard (try? target.makeStatement(sql: "SELECT \(alias) FROM source.\(quoted(table))")) != nil else { return stored }
        return try primaryKeyIsRowID(columns, of: table) ? stored : [alias] + stored
    }

    /// One column, and no index for it. <https://www.sqlite.org/lang_createtable.html#rowid>
    private func primaryKeyIsRowID(_ columns: [Row], of table: String) throws -> Bool {
        guard columns.filter({ ($0["pk"] as Int) > 0 }).count == 1 else { return false }
        let indexes = try Row.fetchAll(target, sql: "PRAGMA source.index_list(\(quoted(table)))")
        return !indexes.contains { ($0["origin"] as String) == "pk" }
    }
}

private func quoted(_ name: String) -> String {
    "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
}

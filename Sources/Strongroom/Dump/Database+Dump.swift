/// Options for the names of tables in a dump.
public enum DumpTableHeaderOptions: Sendable {
    /// Names are printed if there is more than one table.
    case automatic

    /// Names are always printed.
    case always
}

// MARK: - Printing rows

extension Database {
    /// Prints the rows of all statements of the SQL, one after the other.
    ///
    /// ```swift
    /// try db.dumpSQL("SELECT name, score FROM player ORDER BY score DESC", format: .line())
    /// ```
    ///
    /// - parameters:
    ///   - sql: the SQL, with one or several statements.
    ///   - format: the format. Default: ``DebugDumpFormat``.
    ///   - stream: the output. Default: standard output.
    /// - throws: the errors of the statements. Output before the error stays.
    public func dumpSQL(
        _ sql: SQL,
        format: some DumpFormat = .debug(),
        to stream: (any TextOutputStream)? = nil
    ) throws {
        var dump = Dump(self, format: format, stream: stream)
        try dump.write(sql)
    }

    /// Prints the rows of a request as the database gives them, without its row adapter. Below them, under their key,
    /// stand the rows that `including(all:)` adds.
    ///
    /// - parameters:
    ///   - request: the request.
    ///   - format: the format. Default: ``DebugDumpFormat``.
    ///   - stream: the output. Default: standard output.
    /// - throws: the errors of the request. Output before the error stays.
    public func dumpRequest(
        _ request: some FetchRequest,
        format: some DumpFormat = .debug(),
        to stream: (any TextOutputStream)? = nil
    ) throws {
        var dump = Dump(self, format: format, stream: stream)
        try dump.write(request.makePreparedRequest(self, forSingleResult: false))
    }

    /// Prints the rows of tables and views; those of a table in the order of its primary key.
    ///
    /// - parameters:
    ///   - tables: the names.
    ///   - format: the format. Default: ``DebugDumpFormat``.
    ///   - tableHeader: the option for the names of tables. Default: names are printed if there are several tables.
    ///   - stableOrder: whether the rows of views are sorted by all their columns; by default they come as the view
    ///     gives them.
    ///   - stream: the output. Default: standard output.
    /// - throws: `SQLITE_ERROR` if there is no such table. Output before the error stays.
    public func dumpTables(
        _ tables: [String], format: some DumpFormat = .debug(),
        tableHeader: DumpTableHeaderOptions = .automatic, stableOrder: Bool = false,
        to stream: (any TextOutputStream)? = nil
    ) throws {
        var dump = Dump(self, format: format, stream: stream)
        let hasHeaders = tableHeader == .always || tables.count > 1
        for name in tables {
            if hasHeaders { dump.writeHeader(name) }
            try dump.writeTable(name, stableOrder: stableOrder)
        }
    }

    /// Prints the schema and the rows of all tables of the main database, but for those that SQLite, virtual tables and
    /// this library keep for themselves.
    ///
    /// - parameters:
    ///   - format: the format. Default: ``DebugDumpFormat``.
    ///   - stream: the output. Default: standard output.
    public func dumpContent(format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil) throws {
        var dump = Dump(self, format: format, stream: stream)
        try dump.writeSchema()
        for name in try userTables() {
            dump.writeHeader(name)
            try dump.writeTable(name, in: .main, stableOrder: true)
        }
    }

    /// Prints the SQL that made the main database, but for what SQLite, virtual tables and this library keep for
    /// themselves.
    ///
    /// - parameter stream: the output. Default: standard output.
    public func dumpSchema(to stream: (any TextOutputStream)? = nil) throws {
        var dump = Dump(self, format: .debug(), stream: stream)
        try dump.writeSchema()
    }

    // MARK: - What there is

    /// Returns the statements of the main schema: tables with what belongs to them, by name.
    fileprivate func userSchema() throws -> [String] {
        let shadows = try shadowTables()
        return try schemaRows(
            """
            SELECT tbl_name, sql FROM main.sqlite_master WHERE sql IS NOT NULL
            ORDER BY tbl_name COLLATE NOCASE,
                     CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'trigger' THEN 3 ELSE 4 END,
                     name COLLATE NOCASE
            """
        )
        .filter { isUserTable($0["tbl_name"], shadows: shadows) }
        .map { $0["sql"] }
    }

    /// Returns the names of the tables of the main schema.
    private func userTables() throws -> [String] {
        let shadows = try shadowTables()
        return try schemaRows("SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY name COLLATE NOCASE")
            .map { $0["name"] }
            .filter { isUserTable($0, shadows: shadows) }
    }

    private func isUserTable(_ name: String, shadows: Set<String>) -> Bool {
        !Self.isSQLiteInternalTable(name) && !Self.isGRDBInternalTable(name) && !shadows.contains(name)
    }

    /// Returns the tables where virtual tables of the main schema store their data.
    /// <https://www.sqlite.org/vtab.html#xshadowname>
    private func shadowTables() throws -> Set<String> {
        try Set(schemaRows("PRAGMA main.table_list").filter { $0["type"] == "shadow" }.map { $0["name"] })
    }
}

// MARK: - One dump

/// A dump in the making.
private struct Dump<Format: DumpFormat> {
    let database: Database
    let format: Format
    var stream: DumpStream

    init(_ database: Database, format: Format, stream: (any TextOutputStream)?) {
        self.database = database
        self.format = format
        self.stream = DumpStream(stream)
    }

    mutating func write(_ sql: SQL) throws {
        let statements = try database.allStatements(literal: sql)
        while let statement = try statements.next() { try write(statement) }
    }

    mutating func write(_ statement: Statement) throws {
        var format = format
        let run = try StatementRun(statement, arguments: nil)
        while try run.step() { try format.writeRow(database, statement: statement, to: &stream) }
        format.finalize(database, statement: statement, to: &stream)
    }

    mutating func write(_ request: PreparedRequest) throws {
        try write(request.statement)
        guard let associated = request.associated else { return }
        let rows = try Row.fetchAll(request.statement, adapter: request.adapter)
        if rows.isEmpty { return }
        for (keyPath, request) in try associated(database, rows) {
            stream.margin()
            writeHeader(keyPath)
            if let request { try write(request()) }
        }
    }

    mutating func writeHeader(_ name: String) {
        stream.write(name + "\n")
    }

    mutating func writeTable(_ name: String, in schemaID: DatabaseSchemaID? = nil, stableOrder: Bool) throws {
        let order = try ordering(of: name, in: schemaID, stableOrder: stableOrder)
        let table = schemaID.map { DatabaseObjectID(name: name, schemaID: $0).sql } ?? name.quotedDatabaseIdentifier
        try write(database.makeStatement(sql: "SELECT * FROM \(table)\(order)"))
        stream.margin()
    }

    /// Returns the order of a dump: that of a table always, that of a view on request.
    private func ordering(of name: String, in schemaID: DatabaseSchemaID?, stableOrder: Bool) throws -> String {
        let terms: [String]
        if let table = try database.relation(name, in: schemaID?.name), !table.isView {
            terms = try keyTerms(of: table)
        } else if stableOrder {
            terms = try database.columns(in: name).indices.map { "\($0 + 1)" }
        } else {
            terms = []
        }
        return terms.isEmpty ? "" : " ORDER BY " + terms.joined(separator: ", ")
    }

    private func keyTerms(of table: Relation) throws -> [String] {
        guard let key = try database.primaryKey(of: table) else { return [] }
        if key.isHidden { return try database.rowIDName(of: table).map { [$0] } ?? [] }
        return key.columns.map(\.quotedDatabaseIdentifier)
    }

    mutating func writeSchema() throws {
        stream.write("sqlite_master\n")
        for sql in try database.userSchema() { stream.write(sql + ";\n") }
        stream.margin()
    }
}

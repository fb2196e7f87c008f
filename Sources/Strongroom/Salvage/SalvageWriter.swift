/// The new database of a salvage: its tables, and one for the rows whose table is unknown.
final class SalvageWriter: SalvageSink {
    let plan: SalvagePlan
    let target: Database
    private(set) var problems: [SalvageReport.Problem] = []
    private var emptied: Set<String> = []
    private var insertions: [Insertion.Name: Insertion?] = [:]
    private lazy var lost = LostTable(target, plan.pages.encoding, name: freeName("lost_and_found"))

    init(_ plan: SalvagePlan, _ target: Database) {
        (self.plan, self.target) = (plan, target)
    }

    /// The name of the table of lost rows. Nil if there are none.
    var lostName: String? { lost.isCreated ? lost.name : nil }

    // MARK: - Creation

    /// Sets what a database has before its first table.
    func setUp() throws {
        let header = plan.pages.header
        try target.runUnseen("PRAGMA main.encoding = '\(plan.pages.encoding.name)'")
        if let header, header.hasPointerMap {
            try target.runUnseen("PRAGMA main.auto_vacuum = \(header.isIncremental ? 2 : 1)")
        }
        if plan.pages.format == nil, !target.cipher.isKeyed {
            try target.runUnseen("PRAGMA main.page_size = \(plan.pages.pageSize)")
        }
        try target.execute(sql: "PRAGMA ignore_check_constraints = ON")
    }

    /// Creates the tables.
    func createTables() throws {
        if let header = plan.pages.header {
            try target.runUnseen("PRAGMA main.user_version = \(header.userVersion)")
            try target.runUnseen("PRAGMA main.application_id = \(header.applicationID)")
        }
        for tree in plan.tables where !tree.schemaEntry.isInternal {
            do {
                try create(tree.schemaEntry)
            } catch let error as DatabaseError where error.isOfSchema {
                note(tree.schemaEntry, .notCreated, error)
            }
        }
        try createInternalTables()
    }

    /// Creates an object with the SQL of its entry.
    func create(_ entry: SchemaEntry) throws {
        guard let statement = SchemaStatement(entry) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "its SQL doesn't create it, or does more")
        }
        try statement.run(target)
    }

    private func createInternalTables() throws {
        let names = Set(plan.tables.map { $0.schemaEntry.name.foldedSQLName })
        if names.contains("sqlite_sequence"), !names.contains("salvage_sequence") {
            // SQLite creates its table of sequences with the first table that needs it.
            try target.execute(sql: "CREATE TABLE salvage_sequence(id INTEGER PRIMARY KEY AUTOINCREMENT)")
            try target.execute(sql: "DROP TABLE salvage_sequence")
        }
        if names.contains("sqlite_stat1") || names.contains("sqlite_stat4") {
            try target.execute(sql: "ANALYZE sqlite_master")
        }
    }

    func note(_ entry: SchemaEntry, _ kind: SalvageReport.Problem.Kind, _ error: any Error) {
        let message = (error as? DatabaseError)?.failureReason ?? "\(error)"
        problems.append(SalvageReport.Problem(name: entry.name, kind: kind, message: message))
    }

    func note(_ problem: SalvageReport.Problem) { problems.append(problem) }

    /// Returns a name that no table of the database has.
    private func freeName(_ name: String) -> String {
        let taken = Set(plan.entries.map { $0.name.foldedSQLName })
        return ([name] + (1...).lazy.prefix(10_000).map { "\(name)_\($0)" }).first { !taken.contains($0) } ?? name
    }

    // MARK: - Rows

    func save(_ row: StoredRecord, rowID: Int64, in table: PlannedTree) throws -> Bool {
        let name = Insertion.Name(tree: ObjectIdentifier(table), count: row.values.count)
        if insertions[name] == nil {
            insertions[name] = .some(try Insertion(table, row.values.count, target))
        }
        guard let insertion = insertions[name] ?? nil else { return false }
        if table.schemaEntry.isInternal, emptied.insert(table.schemaEntry.name).inserted {
            // SQLite has added rows of its own.
            try target.execute(sql: "DELETE FROM \(table.schemaEntry.name.quotedDatabaseIdentifier)")
        }
        return try insertion.run(row, rowID, plan.pages.encoding)
    }

    func setAside(_ row: StoredRecord, rowID: Int64?, root: Int, page: Int, cell: Int) throws {
        try lost.save(row, rowID: rowID, root: root, page: page, cell: cell)
    }

    func finish(_ table: PlannedTree) throws {
        // Lost trees need few of them again.
        insertions = insertions.filter { $0.key.tree != ObjectIdentifier(table) }
    }
}

extension DatabaseError {
    /// True for an error of the schema, which is reported. Errors of the disk end the salvage.
    var isOfSchema: Bool {
        switch resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_INTERRUPT, .SQLITE_ABORT, .SQLITE_CANTOPEN,
            .SQLITE_BUSY, .SQLITE_READONLY:
            false
        default: true
        }
    }
}

/// The statement that saves rows with one number of values in a table.
private final class Insertion {
    struct Name: Hashable {
        var tree: ObjectIdentifier
        var count: Int
    }

    private let statement: Statement
    private let layout: TableLayout
    private let target: Database
    private let bindsRowID: Bool

    /// Nil if SQLite doesn't accept the statement: the table could not be created.
    init?(_ tree: PlannedTree, _ count: Int, _ target: Database) throws {
        guard let layout = tree.layout else { return nil }
        let stored = layout.stored.prefix(count).map { layout.columns[$0] }.filter { !$0.isGenerated }
        var names = stored.map(\.name.quotedDatabaseIdentifier)
        bindsRowID = layout.hasRowID && layout.rowIDAlias == nil && layout.rowIDName != nil
        if bindsRowID { names.insert(layout.rowIDName!, at: 0) }
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        // A conflict must not remove another row, whatever the table says.
        let sql = """
            INSERT OR ABORT INTO \(tree.schemaEntry.name.quotedDatabaseIdentifier)(\(names.joined(separator: ", ")))
            VALUES (\(marks))
            """
        (self.layout, self.target) = (layout, target)
        do {
            statement = try target.makeStatement(sql: sql)
        } catch let error as DatabaseError where error.isOfSchema {
            return nil
        }
    }

    /// Saves a row. Returns false if it violates a constraint.
    func run(_ row: StoredRecord, _ rowID: Int64, _ encoding: TextEncoding) throws -> Bool {
        let raw = RawStatement(statement.sqliteStatement)
        var index: CInt = 1
        if bindsRowID {
            try target.check(StatementParameter(statement.sqliteStatement, index).bind(rowID))
            index += 1
        }
        for (place, value) in row.values.enumerated() {
            let column = layout.stored[place]
            if layout.columns[column].isGenerated { continue }
            let parameter = StatementParameter(statement.sqliteStatement, index)
            let code = column == layout.rowIDAlias ? parameter.bind(rowID) : parameter.bind(value, of: row, encoding)
            try target.check(code)
            index += 1
        }
        let code = raw.step()
        let error = code == StepCode.done ? nil : DatabaseError(code, on: target.sqliteConnection)
        raw.reset()
        guard let error else { return true }
        guard error.isOfSchema, error.resultCode != .SQLITE_CORRUPT else { throw error }
        return false
    }
}

extension StatementParameter {
    /// Binds a value as it is stored.
    func bind(_ value: StoredRecord.Value, of row: StoredRecord, _ encoding: TextEncoding) -> CInt {
        switch value {
        case .null: bindNull()
        case .integer(let integer): bind(integer)
        case .real(let real): bind(real)
        case .text(let range):
            row.bytes.withUnsafeBytes { bytes in
                bind(text: UnsafeRawBufferPointer(rebasing: bytes[range]), encoding: encoding.rawValue)
            }
        case .blob(let range):
            row.bytes.withUnsafeBytes { bind(blob: UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
    }
}

/// The table of rows whose table is unknown. It gets columns as rows need them.
private final class LostTable {
    let name: String
    private(set) var isCreated = false
    private let target: Database
    private let encoding: TextEncoding
    private var columnCount = 0
    private var statement: Statement?

    private static let most = 1995, own = ["rootpgno", "pgno", "cell", "nfield", "id"]

    init(_ target: Database, _ encoding: TextEncoding, name: String) {
        (self.target, self.encoding, self.name) = (target, encoding, name)
    }

    /// Saves a row with the numbers of its page and cell.
    func save(_ row: StoredRecord, rowID: Int64?, root: Int, page: Int, cell: Int) throws {
        let statement = try self.statement(for: min(row.values.count, LostTable.most)),
            pointer = statement.sqliteStatement
        for (index, number) in [root, page, cell, row.values.count].enumerated() {
            try target.check(StatementParameter(pointer, CInt(index + 1)).bind(Int64(number)))
        }
        let id = StatementParameter(pointer, 5)
        try target.check(rowID.map { id.bind($0) } ?? id.bindNull())
        for index in 0..<columnCount {
            let parameter = StatementParameter(pointer, CInt(index + 6))
            let code =
                index < row.values.count ? parameter.bind(row.values[index], of: row, encoding) : parameter.bindNull()
            try target.check(code)
        }
        let code = RawStatement(pointer).step()
        guard code == StepCode.done else { throw DatabaseError(code, on: target.sqliteConnection) }
        try target.check(RawStatement(pointer).reset())
    }

    private func statement(for count: Int) throws -> Statement {
        if let statement, count <= columnCount { return statement }
        statement = nil
        let table = name.quotedDatabaseIdentifier
        if !isCreated {
            let columns = LostTable.own.map { "\($0) INTEGER" }.joined(separator: ", ")
            try target.execute(sql: "CREATE TABLE \(table)(\(columns))")
            isCreated = true
        }
        while columnCount < count {
            try target.execute(sql: "ALTER TABLE \(table) ADD COLUMN c\(columnCount)")
            columnCount += 1
        }
        let marks = (0..<columnCount + LostTable.own.count).map { _ in "?" }.joined(separator: ", ")
        let made = try target.makeStatement(sql: "INSERT INTO \(table) VALUES (\(marks))")
        statement = made
        return made
    }
}

import CSQLCipher

extension Permissions {
    /// Resolves the restrictions with the schema of the connection.
    ///
    /// - throws: `SQLITE_MISUSE` with the reason `unfitRestrictions` for names that do not exist.
    init(_ restrictions: Restrictions, _ db: Database) throws {
        let all = try db.schemaRows("PRAGMA table_list").map(ListedTable.init)
        reserved = Set(all.map(\.folded))
        reserved.formUnion(try db.schemaRows("PRAGMA module_list").map { ($0["name"] as String).foldedSQLName })
        // Newer SQLites list some of them only after their first use.
        reserved.formUnion(HarmlessFunctions.ofRows)
        temporary = Set(all.filter { $0.schema == "temp" }.map(\.folded))
        let readable = Dictionary(
            all.filter { $0.schema == "main" && $0.isReadable }.map { ($0.folded, $0) }, uniquingKeysWith: { $1 })
        for source in restrictions.tables ?? readable.values.map({ .table($0.name) }) {
            guard let table = readable[source.name.foldedSQLName] else {
                throw DatabaseError.unfit(
                    "the restrictions name the table \(source.name), which the main database does not have",
                    "Name a table or view of the main database that is not SQLite's own")
            }
            objects[table.folded] = try Self.object(table, source.columns, objects[table.folded], db)
        }
        rowFunctions = HarmlessFunctions.ofRows.subtracting(all.map(\.folded))
        try addFunctions(restrictions.functions, db)
        try addOwnerReads(db)
        // The functions of full-text tables find the table by a number, which could be that of a view's.
        let virtual = all.filter { $0.kind == "virtual" && objects[$0.folded] == nil }.map(\.folded)
        if !ownerTables.isDisjoint(with: virtual) {
            functions.subtract(HarmlessFunctions.ofFullText.subtracting(["match"]))
        }
    }

    private struct ListedTable {
        let schema, name, kind: String
        let folded: String
        let columnCount: Int

        init(_ row: Row) {
            columnCount = row["ncol"]
            (schema, name, kind) = (row["schema"], row["name"], row["type"])
            folded = name.foldedSQLName
        }

        var isReadable: Bool { kind != "shadow" && !folded.hasPrefix("sqlite_") }
    }

    private static func object(
        _ table: ListedTable, _ columns: Set<String>?, _ former: Object?, _ db: Database
    ) throws -> Object {
        let kind = RestrictedSchema.Kind(rawValue: table.kind) ?? .table
        guard columns != nil else {
            return Object(name: table.name, kind: kind, columnCount: table.columnCount, columns: [], visible: nil)
        }
        let names = try db.schemaRows(pragma: "table_xinfo", table.name, in: "main").map { $0["name"] as String }
        let all = Set(names.map(\.foldedSQLName))
        var visible = columns.map { Set($0.map(\.foldedSQLName)) }
        if let visible {
            guard table.kind != "virtual" else {
                throw DatabaseError.unfit(
                    "the restrictions limit the columns of the virtual table \(table.name)",
                    "Allow all of its columns, or a view with some of them")
            }
            if let unknown = visible.subtracting(all).subtracting(["rowid"]).sorted().first {
                throw DatabaseError.unfit(
                    "the restrictions name the column \(table.name).\(unknown.unfoldedSQLName), which does not exist",
                    "Name columns of the table")
            }
        }
        if let former { visible = former.visible.flatMap { known in visible.map(known.union) } }
        if visible?.isSuperset(of: all) == true { visible = nil }
        return Object(name: table.name, kind: kind, columnCount: table.columnCount, columns: all, visible: visible)
    }

    private mutating func addFunctions(_ others: Set<String>, _ db: Database) throws {
        let rows = try db.schemaRows("SELECT DISTINCT name, builtin FROM pragma_function_list")
        let known = Set(rows.map { ($0["name"] as String).foldedSQLName })
        // What the program has replaced is its own, and has to be named.
        let replaced = Set(rows.filter { $0["builtin"] == 0 }.map { ($0["name"] as String).foldedSQLName })
        functions = HarmlessFunctions.builtIn.subtracting(replaced).union(HarmlessFunctions.ofFullText)
        for name in others {
            let folded = name.foldedSQLName
            guard known.contains(folded), !WritingSQL.functions.contains(folded) else {
                throw DatabaseError.unfit(
                    known.contains(folded)
                        ? "the restrictions name the function \(name), which writes or loads code"
                        : "the restrictions name the function \(name), which does not exist",
                    "Name functions that the connection has and that only compute")
            }
            functions.insert(folded)
        }
    }

    // MARK: - Views

    /// Records what the allowed views read. Connects their virtual tables, and all others that may be read: a virtual
    /// table may run SQL of its own when it is connected.
    private mutating func addOwnerReads(_ db: Database) throws {
        let recorder = ViewReads()
        for object in objects.values where object.kind != .table {
            recorder.record("SELECT * FROM main.\(object.name.quotedDatabaseIdentifier)", db)
        }
        (ownerReads, ownerFunctions) = (recorder.reads, recorder.functions)
        ownerTables = recorder.tables
        guard objects.values.contains(where: { $0.kind == .view }) else { return }
        let rows = try db.schemaRows("SELECT name, sql FROM main.sqlite_master WHERE type = 'view'")
        let texts = Dictionary(
            rows.map { (($0["name"] as String).foldedSQLName, $0["sql"] as String) }, uniquingKeysWith: { $1 })
        // An optimized query reports names that these did not.
        var waiting = objects.filter { $0.value.kind == .view }.map(\.key), known = Set(waiting)
        while let view = waiting.popLast() {
            guard let text = texts[view] else { continue }
            let names = SourceNames(text)
            ownerTables.formUnion(names.commonTables)
            reserved.formUnion(names.commonTables)
            for source in names.sources {
                ownerTables.insert(source.name)
                if texts[source.name] != nil, known.insert(source.name).inserted { waiting.append(source.name) }
            }
        }
    }
}

/// The recorder of what views read, by SQLite's reports on each of them alone.
private final class ViewReads: StatementRestriction {
    let number = 0
    let maximumRowCount = Int.max

    private(set) var reads: [String: Set<Permissions.Read>] = [:]
    private(set) var functions: [String: Set<String>] = [:]
    private(set) var tables: Set<String> = []

    /// Compiles a query of a view. A view that does not compile reads nothing.
    func record(_ sql: String, _ db: Database) {
        let former = db.authorizer.restriction
        db.authorizer.restriction = self
        defer { db.authorizer.restriction = former }
        _ = db.compiler.compilation(of: sql)
    }

    func willCompile(_ sql: UnsafeBufferPointer<UInt8>) throws {}

    func verdict(on report: CompilerReport) -> RestrictionVerdict {
        let source = report.source?.foldedSQLName
        switch report.action {
        case SQLITE_READ:
            let table = (report.first ?? "").foldedSQLName
            tables.insert(table)
            guard let source else { break }
            reads[source, default: []].insert(
                Permissions.Read(table: table, column: (report.second ?? "").foldedSQLName))
        case SQLITE_FUNCTION:
            if let source { functions[source, default: []].insert((report.second ?? "").foldedSQLName) }
        default: break
        }
        return .allowed
    }

    func rowOverrun(of sql: String) -> DatabaseError { .aborted }
}

/// The objects of one database that restrictions allow: what a restricted access may read.
///
/// All names are folded: see `foldedSQLName`.
struct Permissions {
    /// A table or a view.
    struct Object {
        let name: String
        let kind: RestrictedSchema.Kind

        let columnCount: Int

        /// The columns, if some of them are hidden.
        let columns: Set<String>

        /// The columns that may be read. Nil for all.
        let visible: Set<String>?

        var hidden: Set<String> { visible.map(columns.subtracting) ?? [] }
    }

    /// A column that the definition of a view reads.
    struct Read: Hashable {
        let table: String
        let column: String
    }

    /// The tables and views that may be read.
    var objects: [String: Object] = [:]

    /// The table-valued functions.
    var rowFunctions: Set<String> = []

    var functions: Set<String> = []

    /// The names that a common table expression must not have: SQLite would report it by this name.
    var reserved: Set<String> = []

    /// The names in the temporary schema, which hide those of the main one.
    var temporary: Set<String> = []

    /// The columns that views read for their owner, by the innermost view or common table expression of their text.
    var ownerReads: [String: Set<Read>] = [:]

    /// The functions that views call for their owner.
    var ownerFunctions: [String: Set<String>] = [:]

    /// The tables that views read for their owner.
    var ownerTables: Set<String> = []

    // MARK: - The text of a statement

    /// Refuses a statement by its names, before SQLite sees it.
    func check(_ names: SourceNames) throws {
        guard ["select", "with", "values", "pragma"].contains(names.firstWord) else {
            throw DatabaseError.restricted(.statement, names.firstWord.uppercased(), "Write a SELECT, WITH or VALUES")
        }
        for name in names.commonTables.sorted() where isReserved(name) {
            throw DatabaseError.restricted(
                .commonTableName, name.unfoldedSQLName, "Give the common table expression or window another name")
        }
        for source in names.sources where !allows(source, names) {
            let schema = source.schema.map { $0 + "." } ?? ""
            throw DatabaseError.restricted(.table, (schema + source.name).unfoldedSQLName)
        }
        try checkJoins(names)
    }

    private func isReserved(_ name: String) -> Bool {
        reserved.contains(name) || ownerReads[name] != nil || ownerFunctions[name] != nil
            || name.hasPrefix("sqlite_") || name.hasPrefix("pragma_")
    }

    private func allows(_ source: SourceNames.Source, _ names: SourceNames) -> Bool {
        if let schema = source.schema { return schema == "main" && objects[source.name] != nil }
        if names.commonTables.contains(source.name) { return true }
        return isSource(source.name)
    }

    /// True for a name without a schema that stands for an allowed object of the main one.
    private func isSource(_ name: String) -> Bool {
        !temporary.contains(name) && (objects[name] != nil || rowFunctions.contains(name))
    }

    /// SQLite does not report the columns that `USING` and `NATURAL JOIN` compare.
    private func checkJoins(_ names: SourceNames) throws {
        for source in names.sources {
            guard let object = objects[source.name], object.visible != nil else { continue }
            if let column = names.joinColumns.intersection(object.hidden).sorted().first {
                throw DatabaseError.restricted(.column, "\(object.name).\(column.unfoldedSQLName)")
            }
            if names.joinsNaturally {
                let column = object.hidden.sorted()[0].unfoldedSQLName
                throw DatabaseError.restricted(
                    .column, "\(object.name).\(column)", "Write JOIN … USING instead of NATURAL JOIN")
            }
        }
    }

    // MARK: - The reports of SQLite's compiler

    func verdict(onRead report: CompilerReport, _ names: SourceNames) -> RestrictionVerdict {
        let table = (report.first ?? "").foldedSQLName, column = (report.second ?? "").foldedSQLName
        let schema = report.schema?.foldedSQLName
        let shown = report.first ?? ""
        if schema == "main" || schema == nil && column.isEmpty {
            if column.isEmpty {
                if isReadWithoutColumns(table, hasSchema: schema != nil, names) { return .allowed }
                // No name in the text stands for the table, so that it is a view's.
                if ownerTables.contains(table), !names.sources.contains(where: { $0.name == table }) {
                    return .allowedToOwner
                }
            } else if rowFunctions.contains(table) {
                return .allowed
            } else if let object = objects[table], object.visible?.contains(column) ?? true {
                return .allowed
            } else if let source = report.source?.foldedSQLName,
                ownerReads[source]?.contains(Read(table: table, column: column)) == true
            {
                return .allowedToOwner
            }
        }
        guard objects[table] != nil, schema == "main" else { return .refused(.restricted(.table, shown)) }
        return .refused(.restricted(.column, "\(shown).\(report.second ?? "")"))
    }

    private func isReadWithoutColumns(_ name: String, hasSchema: Bool, _ names: SourceNames) -> Bool {
        if hasSchema { return objects[name] != nil }
        return names.commonTables.contains(name) || isSource(name)
    }

    func verdict(onFunction report: CompilerReport) -> RestrictionVerdict {
        let function = (report.second ?? "").foldedSQLName
        if functions.contains(function) { return .allowed }
        if let source = report.source?.foldedSQLName, ownerFunctions[source]?.contains(function) == true {
            return .allowedToOwner
        }
        return .refused(.restricted(.function, report.second ?? ""))
    }
}

extension DatabaseError {
    /// The error of an object that a restricted statement may not use.
    static func restricted(_ rule: RestrictionRule, _ object: String, _ advice: String? = nil) -> DatabaseError {
        let message =
            switch rule {
            case .statement: "\(object.isEmpty ? "this statement" : object) is not allowed: only queries are"
            case .table: "the table \(object) does not exist, or may not be read"
            case .column: "the column \(object) may not be read"
            case .function: "the function \(object) may not be called"
            case .pragma: "the pragma \(object) may not be run"
            case .commonTableName: "the name \(object) is taken"
            default: "\(object) is not allowed"
            }
        return DatabaseError(Refusal(rule, object: object), message + "; nothing was read", advice: advice)
    }
}

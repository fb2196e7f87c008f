// SQLite's compiler tells which tables and columns a query reads. Which rows, only the query knows.

extension SQLQuery {
    /// Makes the region of `statement`, written for this query, that of the query: of the rows that the filter lets through,
    /// and of all that is fetched for them.
    ///
    /// That is found out when someone asks for the region: most programs never do.
    func narrowRegion(of statement: Statement, _ tables: JoinedTables) {
        let prefetches = tables.prefetches
        guard !relation.filters.isEmpty || !prefetches.isEmpty else { return }
        let table = relation.source.tableName
        // The table may be read a second time, by a join or by a subquery: then all of its rows count.
        let isReadOnce = tables.count(ofTable: table) == 1
        statement.regionNarrowing = { [self] statement, region in
            let db = statement.database
            var region = region
            // A filter that throws has thrown when the statement was written.
            if let filter = try? relation.filter(db) {
                if filter.isNeverTrue { return DatabaseRegion() }
                if isReadOnce, statement.sql.readsOnce(table), let rowIDs = try? rowIDs(filter, db) {
                    region = region.restricted(toRowIDs: rowIDs, of: table)
                }
            }
            for (path, prefetch) in prefetches {
                // As for the filter: what throws, throws when the rows are fetched.
                if let more = try? prefetch.databaseRegion(at: path, db) { region.formUnion(more) }
            }
            return region
        }
    }

    /// The only rows of the table that can be among the query's; nil when the filter does not name them.
    private func rowIDs(_ filter: SQLExpression, _ db: Database) throws -> Set<Int64>? {
        let table = relation.source.tableName
        guard try db.tableExists(table) else { return nil }
        let key = try db.primaryKey(table)
        guard key.tableHasRowID else { return nil }
        var columns = Set([key.rowIDColumn].compactMap { $0?.foldedSQLName })
        // A column of that name hides the rowid.
        if try !db.columns(in: table).contains(where: { $0.name.foldedSQLName == "rowid" }) { columns.insert("rowid") }
        return filter.rowIDs(in: columns, of: relation.source.aliases)
    }
}

extension SQLExpression {
    /// Whether the condition lets no row through, whatever the row.
    fileprivate var isNeverTrue: Bool {
        switch node {
        case .value(let value): value.isNull || value.integerTruth == false
        case .associative(.and, let conditions): conditions.contains(where: \.isNeverTrue)
        default: false
        }
    }

    /// The rowids for which the condition may be true; nil when it does not name them.
    ///
    /// - parameter columns: the folded names of the rowid.
    fileprivate func rowIDs(in columns: Set<String>, of aliases: [TableAliasBase]) -> Set<Int64>? {
        switch node {
        case .comparison(let lhs, let comparison, let rhs) where comparison == .equal || comparison == .is:
            if let value = rhs.integer, lhs.isColumn(columns, of: aliases) { return [value] }
            if let value = lhs.integer, rhs.isColumn(columns, of: aliases) { return [value] }
            // No rowid is NULL.
            if rhs.isNull, lhs.isColumn(columns, of: aliases) { return [] }
            return nil
        case .listed(let element, let values, isNegated: false) where element.isColumn(columns, of: aliases):
            let integers = values.compactMap(\.integer)
            return integers.count == values.count { !$0.isNull } ? Set(integers) : nil
        case .associative(.and, let conditions):
            return conditions.compactMap { $0.rowIDs(in: columns, of: aliases) }.reduce(nil) { $0?.intersection($1) ?? $1 }
        case .associative(.or, let conditions):
            let alternatives = conditions.compactMap { $0.rowIDs(in: columns, of: aliases) }
            return alternatives.count == conditions.count ? alternatives.reduce(into: []) { $0.formUnion($1) } : nil
        case .qualified(let base, let itsAlias) where aliases.contains(itsAlias):
            return base.rowIDs(in: columns, of: aliases)
        case .value(let value) where value.storage.value as? Int64 == 0:
            return []
        default:
            return nil
        }
    }

    /// Other values, such as strings of digits, SQLite converts; they are left to it.
    private var integer: Int64? {
        if case .value(let value) = node, case .int64(let integer) = value.storage { integer } else { nil }
    }

    private func isColumn(_ columns: Set<String>, of aliases: [TableAliasBase]) -> Bool {
        switch node {
        case .column(let name): columns.contains(name.foldedSQLName)
        case .qualified(let base, let itsAlias) where aliases.contains(itsAlias): base.isColumn(columns, of: aliases)
        default: false
        }
    }
}

extension String {
    /// Whether the text, of one `SELECT`, names the table once, but for the columns that it qualifies.
    fileprivate func readsOnce(_ table: String) -> Bool {
        words(equalTo: "select") == 1
            && replacing(table.quotedDatabaseIdentifier + ".", with: "").words(equalTo: table) == 1
    }

    /// How often a word occurs, whatever its case and the quotes around it.
    fileprivate func words(equalTo word: String) -> Int {
        let word = word.lowercased()
        return lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }.count { $0 == word }
    }
}

// SQLite's compiler reports the tables and columns that a query reads. The rows follow from the query.

extension SQLQuery {
    /// Makes the region of `statement`, written for this query, that of the query: of the rows that the filter lets
    /// through, and of all that is fetched for them.
    ///
    /// Computed when the region is first used, because most programs never use it.
    func narrowRegion(of statement: Statement, _ tables: JoinedTables) {
        let prefetches = tables.prefetches
        guard !relation.filters.isEmpty || !prefetches.isEmpty else { return }
        let table = relation.source.tableName
        statement.regionNarrowing = { [self] statement, region in
            let db = statement.database
            var region = region
            // The errors of the filter were thrown when the statement was written.
            if let filter = try? relation.filter(db) {
                if filter.isNeverTrue { return DatabaseRegion() }
                if (try? readsOnce(table, tables, db)) == true, let rowIDs = try? rowIDs(filter, db) {
                    region = region.restricted(toRowIDs: rowIDs, of: table)
                }
            }
            for (path, prefetch) in prefetches {
                // Errors are thrown when the rows are fetched, like those of the filter.
                if let more = try? prefetch.databaseRegion(at: path, db) { region.formUnion(more) }
            }
            return region
        }
    }

    /// Returns true if the query reads the table in one place. A join or a subquery may read all of its rows again.
    private func readsOnce(_ table: String, _ tables: JoinedTables, _ db: Database) throws -> Bool {
        var writer = SQLWriter(db)
        try write(tables, to: &writer)
        let name = table.foldedSQLName
        return writer.tablesRead.count { $0.foldedSQLName == name } == 1
            && !writer.literals.contains { $0.mayRead(table: name) }
    }

    /// Returns the rowids that the filter names; nil if it names none.
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
    /// True if the condition matches no row at all.
    fileprivate var isNeverTrue: Bool {
        switch node {
        case .value(let value): value.isNull || value.integerTruth == false
        case .associative(.and, let conditions): conditions.contains(where: \.isNeverTrue)
        default: false
        }
    }

    /// Returns the rowids for which the condition may be true; nil if it does not name them.
    ///
    /// - parameter columns: the folded names of the rowid.
    fileprivate func rowIDs(in columns: Set<String>, of aliases: [TableAliasBase]) -> Set<Int64>? {
        switch node {
        case .comparison(let lhs, let comparison, let rhs) where comparison == .equal || comparison == .is:
            if lhs.isColumn(columns, of: aliases) { return rhs.equalRowIDs }
            if rhs.isColumn(columns, of: aliases) { return lhs.equalRowIDs }
            return nil
        case .listed(let element, let values, isNegated: false) where element.isColumn(columns, of: aliases):
            return values.reduce([]) { known, value in value.equalRowIDs.flatMap { known?.union($0) } }
        case .associative(.and, let conditions):
            return conditions.compactMap { $0.rowIDs(in: columns, of: aliases) }.reduce(nil) {
                $0?.intersection($1) ?? $1
            }
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

    /// The rowids that are equal to the value, if the expression is one: SQLite compares a text with a rowid as the
    /// number that it looks like.
    private var equalRowIDs: Set<Int64>? {
        guard case .value(let value) = node else { return nil }
        switch value.storage {
        case .null, .blob: return []
        case .int64, .double: return Int64.fromDatabaseValue(value).map { [$0] } ?? []
        case .string(let text):
            if let number = Int64(text) { return [number] }
            return text.utf8.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? nil : []
        }
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
    /// Returns true if this SQL text may read the table, in a subquery or by its name.
    fileprivate func mayRead(table: String) -> Bool {
        // What qualifies a column reads nothing.
        let text = foldedSQLName.replacing(table + ".", with: "")
            .replacing(table.quotedDatabaseIdentifier + ".", with: "")
        let words = text.split { !$0.isNameCharacter }
        let isNamed = table.allSatisfy(\.isNameCharacter) ? words.contains { $0 == table } : text.contains(table)
        return isNamed || words.contains("select")
    }
}

extension Character {
    fileprivate var isNameCharacter: Bool { isLetter || isNumber || self == "_" || self == "$" }
}

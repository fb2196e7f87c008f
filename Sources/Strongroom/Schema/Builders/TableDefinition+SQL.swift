extension TableDefinition {
    /// Returns the statements that create the table and its indexes.
    func statements(_ db: Database) throws -> [String] {
        var keys = ReferencedKeys(db: db, tableName: name)
        keys.ownKey = try ownKey(in: keys)
        let columns = try resolvedElements(in: keys)
        return try [createTable(db, columns, in: keys)] + createIndexes(on: columns)
    }

    /// An element, with the columns of its foreign key if it is one.
    private struct Resolved {
        var columns: [ColumnDefinition] = []
        var literal: SQL?
        var foreignKey: ResolvedForeignKey?
        var isInKey = false
    }

    private func resolvedElements(in keys: ReferencedKeys) throws -> [Resolved] {
        try elements.enumerated().map { index, element in
            var resolved = Resolved(isInKey: keyElements?.contains(index) ?? false)
            switch element {
            case .column(let column):
                resolved.columns = [column]
            case .literal(let literal):
                resolved.literal = literal
            case .foreignKey(let definition):
                let foreignKey = try definition.resolved(in: keys)
                resolved.foreignKey = foreignKey
                resolved.columns = foreignKey.columns
            }
            return resolved
        }
    }

    /// Returns the primary key as far as the definition declares it: a table may refer to itself.
    private func ownKey(in keys: ReferencedKeys) throws -> [KeyColumn] {
        var candidates: [ColumnDefinition] = []
        for case .column(let column) in elements { candidates.append(column) }
        if let keyElements {
            return try elements[keyElements].flatMap { element -> [KeyColumn] in
                switch element {
                case .column(let column): [KeyColumn(name: column.name, type: column.type)]
                case .foreignKey(let definition):
                    try definition.resolved(in: keys).columns.map { KeyColumn(name: $0.name, type: $0.type) }
                case .literal: []
                }
            }
        }
        if let primaryKey {
            return primaryKey.columns.map { name in
                let column = candidates.first { $0.name.foldedSQLName == name.foldedSQLName }
                return KeyColumn(name: column?.name ?? name, type: column?.type)
            }
        }
        return candidates.filter(\.isPrimaryKey).map { KeyColumn(name: $0.name, type: $0.type) }
    }

    // MARK: - CREATE TABLE

    private func createTable(_ db: Database, _ resolved: [Resolved], in keys: ReferencedKeys) throws -> String {
        var items: [String] = []
        for element in resolved {
            if let literal = element.literal { try items.append(db.inlined(literal)) }
            for column in element.columns { try items.append(column.sql(db, in: keys, isInKey: element.isInKey)) }
        }
        items += try constraintItems(db, resolved, in: keys)
        var sql = "CREATE "
        if options.contains(.temporary) { sql += "TEMPORARY " }
        sql += "TABLE "
        if options.contains(.ifNotExists) { sql += "IF NOT EXISTS " }
        sql += "\(name.quotedDatabaseIdentifier) (\(items.joined(separator: ", ")))"
        var suffixes: [String] = []
        if options.contains(.strict) { suffixes.append("STRICT") }
        if options.contains(.withoutRowID) { suffixes.append("WITHOUT ROWID") }
        if !suffixes.isEmpty { sql += " " + suffixes.joined(separator: ", ") }
        return sql
    }

    private func constraintItems(_ db: Database, _ resolved: [Resolved], in keys: ReferencedKeys) throws -> [String] {
        var items: [String] = []
        if let key = primaryKey ?? bodyKey(of: resolved) {
            items.append("PRIMARY KEY (\(Database.list(key.columns)))" + key.conflictResolution.conflictClause)
        }
        items += uniqueKeys.map { "UNIQUE (\(Database.list($0.columns)))" + $0.conflictResolution.conflictClause }
        items += try foreignKeys.map { key in
            let destination = try key.destinationColumns ?? keys.columns(of: key.table).map(\.name)
            return "FOREIGN KEY (\(Database.list(key.columns))) \(key.rule.sql(table: key.table, columns: destination))"
        }
        items += resolved.compactMap(\.foreignKey).filter(\.standsApart).map(\.constraint)
        items += try checks.map { "CHECK (\(try db.inlined($0)))" }
        items += try constraints.map { try db.inlined($0) }
        return items
    }

    private func bodyKey(of resolved: [Resolved]) -> PrimaryKey? {
        guard keyElements != nil else { return nil }
        let columns = resolved.filter(\.isInKey).flatMap(\.columns).map(\.name)
        return PrimaryKey(columns: columns, conflictResolution: keyConflictResolution)
    }

    // MARK: - CREATE INDEX

    private func createIndexes(on resolved: [Resolved]) throws -> [String] {
        let options: IndexOptions = self.options.contains(.ifNotExists) ? .ifNotExists : []
        var statements: [String] = []
        for element in resolved {
            guard let foreignKey = element.foreignKey, foreignKey.standsApart else { continue }
            let isUnique = foreignKey.definition.isUnique
            guard isUnique || foreignKey.definition.isIndexed && !element.isInKey else { continue }
            let columns = foreignKey.columns.map(\.name)
            statements.append(
                IndexDefinition(
                    name: IndexDefinition.defaultName(on: name, columns: columns), table: name,
                    options: isUnique ? options.union(.unique) : options, columns: columns
                ).sql)
        }
        // The primary key has an index of its own.
        for column in resolved.filter({ $0.foreignKey == nil || !$0.isInKey }).flatMap(\.columns) {
            if let index = column.index(on: name, options) { statements.append(index.sql) }
        }
        return statements
    }
}

extension ColumnDefinition {
    /// Returns the index that the column needs. Nil if it needs none, or a constraint creates it.
    func index(on table: String, _ options: IndexOptions = []) -> IndexDefinition? {
        guard case .index = indexing else { return nil }
        return IndexDefinition(name: "\(table)_on_\(name)", table: table, options: options, columns: [name])
    }
}

/// An index on columns, as builders create it.
struct IndexDefinition {
    var name: String
    var table: String
    var options: IndexOptions
    /// The SQL of the indexed columns or expressions.
    var items: [String]
    var condition: String?

    init(name: String, table: String, options: IndexOptions, items: [String], condition: String? = nil) {
        self.name = name
        self.table = table
        self.options = options
        self.items = items
        self.condition = condition
    }

    init(name: String, table: String, options: IndexOptions, columns: [String], condition: String? = nil) {
        self.init(
            name: name, table: table, options: options, items: columns.map(\.quotedDatabaseIdentifier),
            condition: condition)
    }

    /// Returns the default name of an index.
    static func defaultName(on table: String, columns: [String]) -> String {
        "index_\(table)_on_\(columns.joined(separator: "_"))"
    }

    var sql: String {
        var sql = "CREATE "
        if options.contains(.unique) { sql += "UNIQUE " }
        sql += "INDEX "
        if options.contains(.ifNotExists) { sql += "IF NOT EXISTS " }
        sql += "\(name.quotedDatabaseIdentifier) ON \(table.quotedDatabaseIdentifier)(\(items.joined(separator: ", ")))"
        if let condition { sql += " WHERE \(condition)" }
        return sql
    }
}

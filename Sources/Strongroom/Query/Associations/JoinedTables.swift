/// The tables that one query reads, with the names that distinguish them.
struct JoinedTables {
    private struct Table {
        var source: SQLSource
        let relation: SQLRelation
        let join: SQLJoin?

        /// The table that this one is joined to.
        let parent: Int?

        /// The condition of the join.
        var condition: SQLExpression?
        var name: String?

        var named: NamedTable { NamedTable(source, name: name) }
    }

    /// Each table comes before those that are joined to it.
    private var tables: [Table] = []

    init(_ relation: SQLRelation, _ db: Database) throws {
        try add(relation, joinedBy: nil, to: nil, db)
        assignNames()
    }

    private mutating func add(
        _ relation: SQLRelation, joinedBy join: SQLJoin?, to parent: Int?, _ db: Database
    ) throws {
        let index = tables.count
        tables.append(Table(source: relation.source, relation: relation, join: join, parent: parent))
        if let join, let parent { tables[index].condition = try condition(join, left: parent, right: index, db) }
        var keys: Set<String> = []
        for child in relation.joins {
            try check(child, in: join, isNew: keys.insert(child.key).inserted)
            try add(child.relation, joinedBy: child, to: index, db)
        }
    }

    private func check(_ join: SQLJoin, in outer: SQLJoin?, isNew: Bool) throws {
        func misuse(_ message: String) -> DatabaseError { DatabaseError(resultCode: .SQLITE_MISUSE, message: message) }
        if let obstacle = join.obstacle {
            throw misuse(
                """
                the association \(join.key) can't be joined, because it has \(obstacle): leave that out, or use \
                including(all:)
                """)
        }
        if !isNew { throw misuse("two associations have the key \(join.key): give one another key with forKey(_:)") }
        if outer?.kind == .optional, join.kind == .required {
            throw misuse("the association \(join.key) can't be required behind an optional one: make it optional, too")
        }
    }

    private mutating func condition(_ join: SQLJoin, left: Int, right: Int, _ db: Database) throws -> SQLExpression? {
        switch join.condition {
        case .always:
            return nil
        case .expression(let make):
            let made = make()
            tables[left].source.aliases.append(made.left)
            tables[right].source.aliases.append(made.right)
            return made.condition
        case .foreignKey:
            let (leftAlias, rightAlias) = (TableAliasBase(aliasName: nil), TableAliasBase(aliasName: nil))
            tables[left].source.aliases.append(leftAlias)
            tables[right].source.aliases.append(rightAlias)
            return try .associative(
                .and,
                join.condition.columns(db).map {
                    .comparison(rightAlias[Column($0.right)], .equal, leftAlias[Column($0.left)])
                })
        }
    }

    /// Names each table, with a number where its name is not unique. A single table needs no name.
    private mutating func assignNames() {
        guard tables.count > 1 else { return tables[0].name = tables[0].source.name }
        var taken = Set(tables.compactMap { $0.source.name?.foldedSQLName })
        let nameless = Dictionary(grouping: tables.filter { $0.source.name == nil }) {
            $0.source.tableName.foldedSQLName
        }
        for index in tables.indices {
            if let name = tables[index].source.name {
                tables[index].name = name
                continue
            }
            let tableName = tables[index].source.tableName
            var name = tableName
            if nameless[tableName.foldedSQLName]!.count > 1 || taken.contains(tableName.foldedSQLName) {
                name = (1...).lazy.map { "\(tableName)\($0)" }
                    .first { !taken.contains($0.foldedSQLName) && nameless[$0.foldedSQLName] == nil }!
            }
            taken.insert(name.foldedSQLName)
            tables[index].name = name
        }
    }

    var names: [NamedTable] { tables.map(\.named) }

    // MARK: - Writing

    static func write(_ commonTables: [SQLCommonTable], to writer: inout SQLWriter) throws {
        guard !commonTables.isEmpty else { return }
        writer.append(commonTables.contains(where: \.isRecursive) ? "WITH RECURSIVE " : "WITH ")
        try writer.append(commonTables, separator: ", ") { try $0.write(to: &$1) }
        writer.append(" ")
    }

    var hasCommonTables: Bool { tables.contains { !$0.relation.commonTables.isEmpty } }

    /// The definitions for all tables.
    private var commonTables: [SQLCommonTable] {
        guard hasCommonTables else { return [] }
        var definitions = tables[0].relation
        for table in tables.dropFirst() {
            for definition in table.relation.commonTables { definitions.define(definition) }
        }
        return definitions.commonTables
    }

    func writeCommonTables(to writer: inout SQLWriter) throws {
        try Self.write(commonTables, to: &writer)
    }

    /// Writes the selections of all tables.
    func writeSelection(to writer: inout SQLWriter) throws {
        let db = writer.db
        var isFirst = true
        func write(_ selection: [SQLSelection], to writer: inout SQLWriter) throws {
            for selected in selection {
                if !isFirst { writer.append(", ") }
                isFirst = false
                try selected.write(to: &writer)
            }
        }
        for table in tables {
            try writer.within(table.named) { try write(table.relation.selection(db), to: &$0) }
        }
        if isFirst { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "a request must select something") }
    }

    /// `FROM`, with all joins and their conditions.
    func writeSources(to writer: inout SQLWriter) throws {
        for table in tables {
            switch table.join?.kind {
            case nil: writer.append(" FROM ")
            case .required: writer.append(" JOIN ")
            case .optional: writer.append(" LEFT JOIN ")
            }
            table.named.write(to: &writer)
            guard table.join != nil else { continue }
            let conditions = try [table.condition, table.relation.filter(writer.db)].compactMap { $0 }
            guard !conditions.isEmpty else { continue }
            writer.append(" ON ")
            try writer.within(table.named) { try SQLExpression.associative(.and, conditions).write(to: &$0) }
        }
    }

    func writeOrdering(to writer: inout SQLWriter) throws {
        let db = writer.db
        var isFirst = true
        for (index, table) in tables.enumerated() {
            let terms = try table.relation.ordering(db, isReversed: isReversed(index)) {
                try stableOrdering(of: table, db)
            }
            for term in terms {
                writer.append(isFirst ? " ORDER BY " : ", ")
                isFirst = false
                try writer.within(table.named) { try term.write(to: &$0) }
            }
        }
    }

    /// Returns true if the order of a table is reversed. Reversing a relation also reverses the tables joined to it.
    private func isReversed(_ index: Int) -> Bool {
        let isItself = tables[index].relation.isReversed
        return tables[index].parent.map { isReversed($0) != isItself } ?? isItself
    }

    /// Returns the order of the primary key of a table, or of all selected columns without one.
    private func stableOrdering(of table: Table, _ db: Database) throws -> [SQLOrdering] {
        let name = table.source.tableName
        if !commonTables.contains(where: { $0.name.foldedSQLName == name.foldedSQLName }),
            try db.knowsPrimaryKey(ofTable: name)
        {
            return try db.primaryKey(name).columns.map { Column($0).sqlOrdering }
        }
        guard table.join == nil else { return [] }
        let count = try table.relation.selection(db).reduce(0) {
            try $0 + (columnCount(of: $1, table.source, tables.map(\.source), db) ?? 0)
        }
        return (0..<count).map { SQL(sql: "\($0 + 1)").sqlExpression.sqlOrdering }
    }

    // MARK: - Rows

    /// The row adapter that makes scopes of joined tables; nil if there are no scopes and no hidden columns.
    func adapter(for statement: Statement, _ db: Database) throws -> (any RowAdapter)? {
        guard tables.count > 1 else { return nil }
        let isSelected = try tables.indices.map { index in
            let relation = tables[index].relation
            if try !relation.selection(db).isEmpty { return true }
            // Rows associated with a row behind foreign keys are found by the first row.
            return !relation.prefetches.isEmpty && !path(to: index).allSatisfy(\.condition.isForeignKey)
        }
        guard isSelected.dropFirst().contains(true) else { return nil }
        let counts = try columnCounts(of: statement, db)
        let starts = counts.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1) }
        return adapter(at: 0, isSelected) { starts[$0]..<starts[$0 + 1] }
    }

    private func adapter(at index: Int, _ isSelected: [Bool], _ range: (Int) -> Range<Int>) -> any RowAdapter {
        var scopes: [String: any RowAdapter] = [:]
        for child in tables.indices where tables[child].parent == index && showsRows(child, isSelected) {
            scopes[tables[child].join!.key] = adapter(at: child, isSelected, range)
        }
        return RangeRowAdapter(range(index)).addingScopes(scopes)
    }

    /// Returns true if a column of the table, or of a table joined to it, is selected.
    private func showsRows(_ index: Int, _ isSelected: [Bool]) -> Bool {
        isSelected[index] || tables.indices.contains { tables[$0].parent == index && showsRows($0, isSelected) }
    }

    private func columnCounts(of statement: Statement, _ db: Database) throws -> [Int] {
        let sources = tables.map(\.source)
        let counts = try tables.map { table in
            var count: Int? = 0
            for selected in try table.relation.selection(db) {
                let columns = try columnCount(of: selected, table.source, sources, db)
                count = count.flatMap { count in columns.map { count + $0 } }
            }
            return count
        }
        let known = counts.reduce(0) { $0 + ($1 ?? 0) }
        guard counts.count(where: { $0 == nil }) <= 1 else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "SQL text is selected from several joined tables: select columns instead")
        }
        return counts.map { $0 ?? max(statement.columnCount - known, 0) }
    }

    private func columnCount(
        of selection: SQLSelection, _ source: SQLSource, _ sources: [SQLSource], _ db: Database
    ) throws -> Int? {
        let definitions = commonTables
        if case .allColumns = selection.node,
            definitions.contains(where: { $0.name.foldedSQLName == source.tableName.foldedSQLName })
        {
            return try db.reusableStatement { writer in
                try Self.write(definitions, to: &writer)
                writer.append("SELECT * FROM " + source.tableName.quotedDatabaseIdentifier)
            }.columnCount
        }
        return try selection.columnCount(of: source, among: sources, db)
    }

    /// The prefetches of all tables, each with the path to the row it belongs to.
    var prefetches: [(path: [SQLJoin], prefetch: SQLPrefetch)] {
        tables.indices.flatMap { index in
            tables[index].relation.prefetches.map { (path: path(to: index), prefetch: $0) }
        }
    }

    private func path(to index: Int) -> [SQLJoin] {
        guard let parent = tables[index].parent else { return [] }
        return path(to: parent) + [tables[index].join!]
    }
}

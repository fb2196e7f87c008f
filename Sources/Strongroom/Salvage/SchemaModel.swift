/// An empty database in memory with the tables of a damaged one: SQLite itself tells how they store their rows.
struct SchemaModel {
    let database: Database

    /// Runs `body` with an empty model.
    static func with<T>(_ body: (SchemaModel) throws -> T) throws -> T {
        let database = try Database(
            path: ":memory:", description: "DatabaseFile.salvage", configuration: Configuration())
        return try database.withSoleAccess {
            try $0.setUp()
            return try body(SchemaModel(database: $0))
        }
    }

    /// Creates a table, and returns how it stores its rows. Nil if SQLite doesn't accept it.
    func layout(of entry: SchemaEntry) -> TableLayout? {
        let known = ["sqlite_sequence": 2, "sqlite_stat1": 3, "sqlite_stat4": 6]
        if entry.isInternal {
            guard let count = known[entry.name.lowercased()] else { return nil }
            return SchemaModel.plain(SchemaModel.internalColumns.first { $0.count == count } ?? [])
        }
        guard let statement = SchemaStatement(entry) else { return nil }
        do {
            try statement.run(database)
            return try layout(ofTable: entry.name)
        } catch {
            return nil
        }
    }

    /// Creates an index, and returns the layout of its entries: its columns, and the rowid or the primary key. Nil if
    /// SQLite doesn't accept it.
    func layout(ofIndex entry: SchemaEntry, _ table: TableLayout) -> TableLayout? {
        do {
            if entry.sql != nil {
                guard let statement = SchemaStatement(entry) else { return nil }
                try statement.run(database)
            }
            let rows = try Row.fetchAll(database, sql: "PRAGMA index_xinfo(\(entry.name.quotedDatabaseIdentifier))")
            guard !rows.isEmpty else { return nil }
            let columns = rows.map { row -> TableLayout.Column in
                let index: Int = row["cid"]
                if index == -1 { return TableLayout.Column(name: "rowid", affinity: .integer, isRequired: true) }
                guard index >= 0, index < table.columns.count else {
                    return TableLayout.Column(name: "", affinity: .blob)
                }
                var column = table.columns[index]
                if index == table.rowIDAlias { column.affinity = .integer }
                return column
            }
            return TableLayout(columns: columns, stored: Array(columns.indices), hasRowID: false)
        } catch {
            return nil
        }
    }

    private static let internalColumns = [
        ["name", "seq"], ["tbl", "idx", "stat"], ["tbl", "idx", "neq", "nlt", "ndlt", "sample"],
    ]

    private static func plain(_ names: [String]) -> TableLayout {
        TableLayout(
            columns: names.map { TableLayout.Column(name: $0, affinity: .blob) }, stored: Array(names.indices),
            rowIDName: "rowid")
    }

    // MARK: - Tables

    private func layout(ofTable name: String) throws -> TableLayout {
        let quoted = name.quotedDatabaseIdentifier
        let rows = try Row.fetchAll(database, sql: "PRAGMA main.table_xinfo(\(quoted))")
        let facts = try Row.fetchOne(database, sql: "PRAGMA main.table_list(\(quoted))")
        let isStrict = (facts?["strict"] as Int?) == 1, hasRowID = (facts?["wr"] as Int?) != 1
        let columns = rows.map { row in
            TableLayout.Column(
                name: row["name"],
                affinity: isStrict && (row["type"] as String).uppercased() == "ANY"
                    ? .blob : .init(declared: row["type"]),
                isRequired: (row["notnull"] as Int) == 1 || !hasRowID && (row["pk"] as Int) > 0,
                hasDefault: (row["dflt_value"] as String?) != nil,
                isGenerated: [2, 3].contains(row["hidden"] as Int),
                strictType: isStrict ? (row["type"] as String).uppercased() : nil)
        }
        // Virtual columns are computed, stored ones are in the record.
        let stored = rows.indices.filter { (rows[$0]["hidden"] as Int) != 2 }
        let key = rows.indices.filter { (rows[$0]["pk"] as Int) > 0 }.sorted {
            (rows[$0]["pk"] as Int) < (rows[$1]["pk"] as Int)
        }
        guard hasRowID else {
            return TableLayout(columns: columns, stored: key + stored.filter { !key.contains($0) }, hasRowID: false)
        }
        let alias = try key.count == 1 && !hasIndexOfKey(quoted) ? key.first : nil
        let taken = Set(columns.map { $0.name.foldedSQLName })
        let rowID = ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
        return TableLayout(columns: columns, stored: stored, rowIDAlias: alias, rowIDName: rowID)
    }

    private func hasIndexOfKey(_ table: String) throws -> Bool {
        try Row.fetchAll(database, sql: "PRAGMA main.index_list(\(table))").contains {
            ($0["origin"] as String) == "pk"
        }
    }
}

/// The key that identifies the rows of a table: the columns of the primary key, or the rowid if none was declared.
///
/// Source: <https://www.sqlite.org/rowidtable.html>.
public struct PrimaryKeyInfo: Sendable {
    /// The columns, in the order of the key. `["rowid"]` if no key was declared.
    public let columns: [String]

    /// The column that is an alias of the rowid. Nil if there is none.
    public let rowIDColumn: String?

    /// A Boolean value that indicates whether the key is the rowid, with or without a column.
    public let isRowID: Bool

    /// True if the rows have a rowid, which may be the key.
    let tableHasRowID: Bool

    /// True if the key is a rowid without a column.
    var isHidden: Bool { isRowID && rowIDColumn == nil }

    /// Returns the key of a declared column that is the rowid.
    static func rowID(_ column: String) -> PrimaryKeyInfo {
        PrimaryKeyInfo(columns: [column], rowIDColumn: column, isRowID: true, tableHasRowID: true)
    }

    /// The key of a table whose rowid has no column.
    static let hiddenRowID = PrimaryKeyInfo(columns: ["rowid"], rowIDColumn: nil, isRowID: true, tableHasRowID: true)

    /// Returns the key of declared columns that are not the rowid.
    static func columns(_ columns: [String], tableHasRowID: Bool) -> PrimaryKeyInfo {
        PrimaryKeyInfo(columns: columns, rowIDColumn: nil, isRowID: false, tableHasRowID: tableHasRowID)
    }
}

extension Database {
    /// Returns the primary key of a table, or for a view the answer of the ``schemaSource``.
    ///
    /// - parameters:
    ///   - tableName: the name of the table or view.
    ///   - schemaName: the name of the schema. Default: nil, for SQLite's search order: temp, main, attached databases.
    /// - throws: `SQLITE_ERROR` if there is no such table or schema, and for a view without a known key.
    public func primaryKey(_ tableName: String, in schemaName: String? = nil) throws -> PrimaryKeyInfo {
        guard let key = try primaryKey(of: existingRelation(tableName, in: schemaName)) else {
            throw DatabaseError(message: "database view \(tableName) has no primary key")
        }
        return key
    }

    /// Returns the primary key. Nil for a view without a known key.
    func primaryKey(of relation: Relation) throws -> PrimaryKeyInfo? {
        if let known = relation.primaryKey { return known }
        let key = try relation.isView ? viewKey(of: relation) : tableKey(of: relation)
        relation.primaryKey = key
        return key
    }

    private func viewKey(of view: Relation) throws -> PrimaryKeyInfo? {
        guard let names = try schemaSource?.columnsForPrimaryKey(self, inView: view.id), !names.isEmpty
        else { return nil }
        let columns = try columns(of: view)
        let key = names.map { name in
            guard let column = columns.first(where: { $0.name.foldedSQLName == name.foldedSQLName }) else {
                fatalError(
                    """
                    The view \(view.id.name) has no column \(name), which the schema source returns as part of its \
                    primary key. Return columns of the view, or nil.
                    """)
            }
            return column.name
        }
        return .columns(key, tableHasRowID: false)
    }

    private func tableKey(of table: Relation) throws -> PrimaryKeyInfo {
        let columns = try columns(of: table)
            .filter { $0.primaryKeyIndex > 0 }
            .sorted { $0.primaryKeyIndex < $1.primaryKeyIndex }
            .map(\.name)
        if columns.isEmpty { return .hiddenRowID }
        // Only a key that is the rowid has no index. A table without rowid has one, and so does INTEGER PRIMARY KEY
        // DESC.
        guard let index = try indexes(on: table).first(where: { $0.origin == .primaryKeyConstraint }) else {
            return columns.count == 1 ? .rowID(columns[0]) : .columns(columns, tableHasRowID: true)
        }
        return try .columns(columns, tableHasRowID: hasRowIDs(index, in: table.id.schemaID))
    }

    /// Returns true if an index refers to rowids. In a table without rowid, it contains the columns themselves.
    private func hasRowIDs(_ index: IndexInfo, in schemaID: DatabaseSchemaID) throws -> Bool {
        let rowIDColumn = -1
        return try schemaRows(pragma: "index_xinfo", index.name, in: schemaID.name).contains {
            ($0["cid"] as Int) == rowIDColumn
        }
    }

    /// Returns the names of the rowid of a table that has one. Columns of the same name hide them.
    ///
    /// <https://www.sqlite.org/lang_createtable.html#rowid>
    func rowIDNames(of table: Relation) throws -> [String] {
        let taken = try Set(columns(of: table).map(\.name.foldedSQLName))
        return ["rowid", "_rowid_", "oid"].filter { !taken.contains($0) }
    }

    /// Returns a name of the rowid. Nil if the table has no rowid, or hides all its names.
    func rowIDName(of table: Relation) throws -> String? {
        guard let key = try primaryKey(of: table), key.tableHasRowID else { return nil }
        return try (key.rowIDColumn ?? rowIDNames(of: table).first)?.quotedDatabaseIdentifier
    }
}

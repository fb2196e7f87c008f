/// An index of a table, whose columns are columns of the table.
///
/// Source: <https://www.sqlite.org/pragma.html#pragma_index_list>.
public struct IndexInfo: Sendable {
    /// The origin of an index.
    public struct Origin: RawRepresentable, Equatable, Sendable, DatabaseValueConvertible {
        public var rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A `CREATE INDEX` statement.
        public static let createIndex = Origin(rawValue: "c")

        /// A `PRIMARY KEY` constraint.
        public static let primaryKeyConstraint = Origin(rawValue: "pk")

        /// A `UNIQUE` constraint.
        public static let uniqueConstraint = Origin(rawValue: "u")
    }

    /// The name, as it was declared, or as SQLite made it up.
    public let name: String

    /// The columns, in the order of the index.
    public let columns: [String]

    /// A Boolean value that indicates whether no two rows have the same values in the columns.
    public let isUnique: Bool

    /// The origin of the index.
    public let origin: Origin
}

extension Database {
    /// The indexes of a table. Those on expressions are left out, and so is the rowid, which has no index.
    ///
    /// - parameter schemaName: by default the name is looked for as SQLite does: in temp, main, and the attached
    ///   databases.
    /// - throws: `SQLITE_ERROR` when there is no such table or schema.
    public func indexes(on tableName: String, in schemaName: String? = nil) throws -> [IndexInfo] {
        try indexes(on: existingTable(tableName, in: schemaName))
    }

    func indexes(on relation: Relation) throws -> [IndexInfo] {
        if let known = relation.indexes { return known }
        try readIndexes(of: relation)
        return relation.indexes ?? []
    }

    /// For each unique index on columns that covers all rows, its folded columns.
    func uniqueKeys(of relation: Relation) throws -> [Set<String>] {
        if let known = relation.uniqueKeys { return known }
        try readIndexes(of: relation)
        return relation.uniqueKeys ?? []
    }

    private func readIndexes(of relation: Relation) throws {
        var indexes: [IndexInfo] = []
        var uniqueKeys: [Set<String>] = []
        let schemaName = relation.id.schemaID.name
        for row in try schemaRows(pragma: "index_list", relation.id.name, in: schemaName) {
            let name: String = row["name"]
            // An expression has no name.
            let columns: [String?] = try schemaRows(pragma: "index_info", name, in: schemaName).map { $0["name"] }
            guard !columns.contains(nil) else { continue }
            let index = IndexInfo(
                name: name,
                columns: columns.compactMap { $0 },
                isUnique: row["unique"],
                origin: row["origin"])
            indexes.append(index)
            let isPartial: Bool = row["partial"]
            if index.isUnique, !isPartial { uniqueKeys.append(Set(index.columns.map(\.foldedSQLName))) }
        }
        relation.indexes = indexes
        relation.uniqueKeys = uniqueKeys
    }

    /// Returns true if no two rows of the table can have the same values in `columns`: they contain the primary key,
    /// the rowid, or all columns of a unique constraint or index.
    ///
    /// Indexes on expressions, and on some of the rows only, do not count. A table that does not exist has no key.
    public func table(_ tableName: String, hasUniqueKey columns: some Collection<String>) throws -> Bool {
        guard let relation = try relation(tableName, in: nil) else { return false }
        let columns = Set(columns.map(\.foldedSQLName))
        if let key = try primaryKey(of: relation) {
            if !key.isHidden, columns.isSuperset(of: key.columns.map(\.foldedSQLName)) { return true }
            if key.tableHasRowID, try !columns.isDisjoint(with: rowIDNames(of: relation)) { return true }
        }
        return try !relation.isView && uniqueKeys(of: relation).contains { columns.isSuperset(of: $0) }
    }
}

/// A foreign key of a table.
///
/// Source: <https://www.sqlite.org/pragma.html#pragma_foreign_key_list>.
public struct ForeignKeyInfo: Sendable {
    /// The number of the foreign key in its table: that of ``ForeignKeyViolation/foreignKeyId``.
    public var id: Int

    /// The table that is referred to, as it is spelled in the foreign key.
    public let destinationTable: String

    /// The referring columns, each with the column that it refers to.
    public let mapping: [(origin: String, destination: String)]

    /// The referring columns.
    public var originColumns: [String] { mapping.map(\.origin) }

    /// The columns that are referred to: those of the primary key if the foreign key does not name any.
    public var destinationColumns: [String] { mapping.map(\.destination) }
}

extension Database {
    /// Returns the foreign keys of a table.
    ///
    /// - parameters:
    ///   - tableName: the name of the table.
    ///   - schemaName: the name of the schema. Default: nil, for SQLite's search order: temp, main, attached databases.
    /// - throws: `SQLITE_ERROR` if there is no such table or schema, and if a foreign key without column names refers
    ///   to a table that does not exist.
    public func foreignKeys(on tableName: String, in schemaName: String? = nil) throws -> [ForeignKeyInfo] {
        let table = try existingTable(tableName, in: schemaName)
        if let known = table.foreignKeys { return known }
        let foreignKeys = try readForeignKeys(of: table)
        table.foreignKeys = foreignKeys
        return foreignKeys
    }

    /// Returns one foreign key of a table, independently of its other ones. Nil if there is none with the number.
    func foreignKey(_ id: Int, on table: Relation) throws -> ForeignKeyInfo? {
        if let known = table.foreignKeys { return known.first { $0.id == id } }
        return try readForeignKeys(of: table) { $0 == id }.first
    }

    private func readForeignKeys(
        of table: Relation, where isWanted: (Int) -> Bool = { _ in true }
    ) throws -> [ForeignKeyInfo] {
        let rows = try schemaRows(pragma: "foreign_key_list", table.id.name, in: table.id.schemaID.name)
        return try Dictionary(grouping: rows) { $0["id"] as Int }
            .filter { isWanted($0.key) }
            .sorted { $0.key < $1.key }
            .map { try foreignKey($0.key, rows: $0.value, in: table.id.schemaID) }
    }

    private func foreignKey(_ id: Int, rows: [Row], in schemaID: DatabaseSchemaID) throws -> ForeignKeyInfo {
        let rows = rows.sorted { ($0["seq"] as Int) < ($1["seq"] as Int) }
        let destinationTable: String = rows[0]["table"]
        let origins: [String] = rows.map { $0["from"] }
        let named: [String?] = rows.map { $0["to"] }
        // Without names, the primary key is meant. A foreign key always refers to its own schema.
        let destinations =
            named.contains(nil)
            ? try primaryKey(destinationTable, in: schemaID.name).columns
            : named.compactMap { $0 }
        return ForeignKeyInfo(
            id: id,
            destinationTable: destinationTable,
            mapping: zip(origins, destinations).map { (origin: $0, destination: $1) })
    }
}

/// A column of a table or view.
///
/// Source: <https://www.sqlite.org/pragma.html#pragma_table_xinfo>.
public struct ColumnInfo: Sendable {
    /// The name, as it was declared.
    public let name: String

    /// The declared type. Empty if there is none.
    public let type: String

    /// A Boolean value that indicates whether the column was declared NOT NULL, or is part of a primary key that is.
    public let isNotNull: Bool

    /// The default value, as an SQL expression. Nil if there is none.
    public let defaultValueSQL: String?

    /// The position of the column in the primary key, from 1. 0 if it is not a part of it.
    public let primaryKeyIndex: Int

    /// Creates a column.
    ///
    /// - parameter row: a row of `PRAGMA table_info` or `PRAGMA table_xinfo`.
    public init(row: Row) {
        primaryKeyIndex = row["pk"]
        defaultValueSQL = row["dflt_value"]
        isNotNull = row["notnull"]
        type = row["type"]
        name = row["name"]
    }
}

extension Database {
    /// Returns the columns of a table or view, including generated ones, without the hidden ones of virtual tables.
    ///
    /// - parameters:
    ///   - tableName: the name of the table or view.
    ///   - schemaName: the name of the schema. Default: nil, for SQLite's search order: temp, main, attached databases.
    /// - throws: `SQLITE_ERROR` if there is no such table or schema.
    public func columns(in tableName: String, in schemaName: String? = nil) throws -> [ColumnInfo] {
        if let relation = try relation(tableName, in: schemaName) { return try columns(of: relation) }
        // Schema tables and table-valued functions have columns, but are not listed.
        let columns = try readColumns(of: tableName, in: schemaName)
        guard !columns.isEmpty else { throw noSuchTable(tableName) }
        return columns
    }

    func columns(of relation: Relation) throws -> [ColumnInfo] {
        if let known = relation.columns { return known }
        let columns = try readColumns(of: relation.id.name, in: relation.id.schemaID.name)
        relation.columns = columns
        return columns
    }

    private func readColumns(of tableName: String, in schemaName: String?) throws -> [ColumnInfo] {
        let hiddenInVirtualTable = 1
        return try schemaRows(pragma: "table_xinfo", tableName, in: schemaName)
            .filter { ($0["hidden"] as Int) != hiddenInVirtualTable }
            .map(ColumnInfo.init)
    }
}

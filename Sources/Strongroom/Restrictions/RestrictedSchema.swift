/// The part of a schema that a restricted access can read, to show to those who write its SQL.
///
/// Its ``description`` is SQL, for a prompt:
///
/// ```swift
/// let schema = try pool.restrictedSchema(restrictions)
/// let prompt = "Write one SELECT of SQLite for this schema:\n\(schema)\n\(question)"
/// ```
public struct RestrictedSchema: Sendable {
    /// The kind of a source.
    public enum Kind: String, Sendable {
        case table, view, virtual
    }

    /// A column that may be read.
    public struct Column: Sendable {
        /// The name.
        public let name: String

        /// The declared type. Empty if there is none.
        public let type: String

        /// A Boolean value that indicates whether the column is declared `NOT NULL`.
        public let isNotNull: Bool

        /// The position in the primary key, from 1. 0 for other columns.
        public let primaryKeyIndex: Int
    }

    /// A table or a view that may be read.
    public struct Source: Sendable {
        /// The name.
        public let name: String

        /// The kind.
        public let kind: Kind

        /// The columns that may be read.
        public let columns: [Column]

        /// The foreign keys whose columns and tables may be read: pairs of column names, and the name of the other
        /// table.
        public let references: [Reference]
    }

    /// A foreign key between sources that may be read.
    public struct Reference: Sendable {
        /// The column of this table.
        public let column: String

        /// The other table.
        public let table: String

        /// The column of the other table.
        public let otherColumn: String
    }

    /// The tables and views, by name.
    public let sources: [Source]

    /// The functions that may be called, by name.
    public let functions: [String]
}

extension RestrictedSchema: CustomStringConvertible {
    /// The schema as `CREATE` statements, without what may not be read.
    public var description: String { sources.map(\.sql).joined(separator: "\n") }
}

extension RestrictedSchema.Source {
    fileprivate var sql: String {
        guard kind != .view else {
            return
                "CREATE VIEW \(name.plainIdentifier) (\(columns.map(\.name.plainIdentifier).joined(separator: ", ")));"
        }
        let key = columns.filter { $0.primaryKeyIndex > 0 }
        var parts = columns.map { column in
            [
                column.name.plainIdentifier, column.type, column.isNotNull ? "NOT NULL" : "",
                key.count == 1 && column.primaryKeyIndex > 0 ? "PRIMARY KEY" : "",
            ].filter { !$0.isEmpty }.joined(separator: " ")
        }
        if key.count > 1 {
            let names = key.sorted { $0.primaryKeyIndex < $1.primaryKeyIndex }.map(\.name.plainIdentifier)
            parts.append("PRIMARY KEY (\(names.joined(separator: ", ")))")
        }
        parts += references.map {
            "FOREIGN KEY (\($0.column.plainIdentifier)) REFERENCES \($0.table.plainIdentifier)"
                + " (\($0.otherColumn.plainIdentifier))"
        }
        let head = kind == .virtual ? "CREATE VIRTUAL TABLE" : "CREATE TABLE"
        return "\(head) \(name.plainIdentifier) (\(parts.joined(separator: ", ")));"
    }
}

extension String {
    /// The string as an SQL identifier, in quotes where it could be read as something else.
    fileprivate var plainIdentifier: String { SQLite.isKeyword(self) ? quotedDatabaseIdentifier : sqlCollationName }
}

extension Database {
    /// The schema that the restricted access can read, to show to those who write its SQL.
    ///
    /// - throws: `SQLITE_MISUSE` outside of a restricted access.
    public var restrictedSchema: RestrictedSchema {
        get throws {
            requireAccess()
            let access = restrictedAccess
            guard access.isActive else {
                throw DatabaseError(
                    refusing: "The access is not restricted",
                    advice: "Ask for restrictedSchema inside of read(restrictedTo:)")
            }
            let permissions = access.permissions
            let sources = try permissions.objects.values.sorted { $0.name < $1.name }.map {
                try source($0, permissions)
            }
            return RestrictedSchema(sources: sources, functions: permissions.functions.sorted())
        }
    }

    private func source(
        _ object: Permissions.Object, _ permissions: Permissions
    ) throws -> RestrictedSchema.Source {
        let rows = try schemaRows(pragma: "table_xinfo", object.name, in: "main")
        let columns = rows.compactMap { row -> RestrictedSchema.Column? in
            let name: String = row["name"]
            // Virtual tables hide columns that only take arguments.
            guard row["hidden"] != 1, object.visible?.contains(name.foldedSQLName) ?? true else { return nil }
            return RestrictedSchema.Column(
                name: name, type: row["type"], isNotNull: row["notnull"] == 1, primaryKeyIndex: row["pk"])
        }
        return RestrictedSchema.Source(
            name: object.name, kind: object.kind, columns: columns, references: try references(of: object, permissions))
    }

    private func references(
        of object: Permissions.Object, _ permissions: Permissions
    ) throws -> [RestrictedSchema.Reference] {
        guard object.kind == .table else { return [] }
        return try schemaRows(pragma: "foreign_key_list", object.name, in: "main").compactMap { row in
            let column: String = row["from"], table: String = row["table"]
            guard let other = permissions.objects[table.foldedSQLName], let otherColumn: String = row["to"],
                object.visible?.contains(column.foldedSQLName) ?? true,
                other.visible?.contains(otherColumn.foldedSQLName) ?? true
            else { return nil }
            return RestrictedSchema.Reference(column: column, table: table, otherColumn: otherColumn)
        }
    }
}

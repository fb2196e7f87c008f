// The contents of the schemas. Names are compared as in SQLite: the case of ASCII letters is ignored.

extension Database {
    /// Returns true if a table with the name exists.
    ///
    /// - parameters:
    ///   - name: the name of the table.
    ///   - schemaName: the name of the schema. Default: nil, for all schemas.
    /// - throws: `SQLITE_ERROR` if there is no such schema.
    public func tableExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        let folded = name.foldedSQLName
        return try anyContents(in: schemaName) { $0.relations[folded]?.isView == false }
    }

    /// Returns true if a view with the name exists.
    ///
    /// - parameters:
    ///   - name: the name of the view.
    ///   - schemaName: the name of the schema. Default: nil, for all schemas.
    /// - throws: `SQLITE_ERROR` if there is no such schema.
    public func viewExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        let folded = name.foldedSQLName
        return try anyContents(in: schemaName) { $0.relations[folded]?.isView == true }
    }

    /// Returns true if a trigger with the name exists.
    ///
    /// - parameters:
    ///   - name: the name of the trigger.
    ///   - schemaName: the name of the schema. Default: nil, for all schemas.
    /// - throws: `SQLITE_ERROR` if there is no such schema.
    public func triggerExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        let folded = name.foldedSQLName
        return try anyContents(in: schemaName) { $0.triggers.contains(folded) }
    }

    private func anyContents(in schemaName: String?, where condition: (SchemaContents) -> Bool) throws -> Bool {
        try validateSchemaCache()
        let schemaIDs = try schemaName.map { try [schemaID(named: $0)] } ?? schemaSearchOrder
        return try schemaIDs.contains { try condition(contents(of: $0)) }
    }

    /// Returns true if the table is one of SQLite's own. <https://www.sqlite.org/fileformat2.html#intschema>
    public static func isSQLiteInternalTable(_ tableName: String) -> Bool {
        tableName.foldedSQLName.hasPrefix("sqlite_")
    }

    /// Returns true if the table is one of this library's own, or of GRDB's in the same file: the list of applied
    /// migrations.
    public static func isGRDBInternalTable(_ tableName: String) -> Bool {
        tableName.foldedSQLName.hasPrefix("grdb_")
    }
}

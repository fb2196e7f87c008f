// What is in the schemas. Names are compared as SQLite does: the case of ASCII letters does not count.

extension Database {
    /// Returns true if a table of that name exists.
    ///
    /// - parameter schemaName: by default all schemas count.
    /// - throws: `SQLITE_ERROR` when there is no such schema.
    public func tableExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        let folded = name.foldedSQLName
        return try anyContents(in: schemaName) { $0.relations[folded]?.isView == false }
    }

    /// Returns true if a view of that name exists.
    ///
    /// - parameter schemaName: by default all schemas count.
    /// - throws: `SQLITE_ERROR` when there is no such schema.
    public func viewExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        let folded = name.foldedSQLName
        return try anyContents(in: schemaName) { $0.relations[folded]?.isView == true }
    }

    /// Returns true if a trigger of that name exists.
    ///
    /// - parameter schemaName: by default all schemas count.
    /// - throws: `SQLITE_ERROR` when there is no such schema.
    public func triggerExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        let folded = name.foldedSQLName
        return try anyContents(in: schemaName) { $0.triggers.contains(folded) }
    }

    private func anyContents(in schemaName: String?, where condition: (SchemaContents) -> Bool) throws -> Bool {
        try validateSchemaCache()
        let schemaIDs = try schemaName.map { try [schemaID(named: $0)] } ?? schemaSearchOrder
        return try schemaIDs.contains { try condition(contents(of: $0)) }
    }

    /// Returns true if SQLite keeps the table for itself. <https://www.sqlite.org/fileformat2.html#intschema>
    public static func isSQLiteInternalTable(_ tableName: String) -> Bool {
        tableName.foldedSQLName.hasPrefix("sqlite_")
    }

    /// Returns true if this library, or GRDB in the same file, keeps the table for itself: the list of migrations
    /// that ran.
    public static func isGRDBInternalTable(_ tableName: String) -> Bool {
        tableName.foldedSQLName.hasPrefix("grdb_")
    }
}

extension ForeignKeyViolation: FetchableRecord {}

extension Database {
    /// Returns a cursor on the rows of the main database that refer to rows that do not exist.
    public func foreignKeyViolations() throws -> RecordCursor<ForeignKeyViolation> {
        try ForeignKeyViolation.fetchCursor(makeStatement(sql: "PRAGMA foreign_key_check"))
    }

    /// Returns a cursor on the rows of a table that refer to rows that do not exist.
    ///
    /// - parameters:
    ///   - tableName: the name of the table.
    ///   - schemaName: the name of the schema. Default: nil, for SQLite's search order: temp, main, attached databases.
    /// - throws: `SQLITE_ERROR` when there is no such table or schema.
    public func foreignKeyViolations(
        in tableName: String, in schemaName: String? = nil
    ) throws -> RecordCursor<ForeignKeyViolation> {
        let id = try existingTable(tableName, in: schemaName).id
        return try ForeignKeyViolation.fetchCursor(
            makeStatement(sql: Self.pragma("foreign_key_check", id.name, in: id.schemaID.name)))
    }

    /// Throws when a row of the main database refers to a row that does not exist.
    ///
    /// - throws: `SQLITE_CONSTRAINT_FOREIGNKEY` for the first such row.
    public func checkForeignKeys() throws {
        try throwFirst(of: foreignKeyViolations())
    }

    /// Throws when a row of a table refers to a row that does not exist.
    ///
    /// - parameters:
    ///   - tableName: the name of the table.
    ///   - schemaName: the name of the schema. Default: nil, for SQLite's search order: temp, main, attached databases.
    /// - throws: `SQLITE_CONSTRAINT_FOREIGNKEY` for the first such row; `SQLITE_ERROR` when there is no such table or
    ///   schema.
    public func checkForeignKeys(in tableName: String, in schemaName: String? = nil) throws {
        try throwFirst(of: foreignKeyViolations(in: tableName, in: schemaName))
    }

    private func throwFirst(of violations: RecordCursor<ForeignKeyViolation>) throws {
        if let violation = try violations.next() { throw violation.databaseError(self) }
    }
}

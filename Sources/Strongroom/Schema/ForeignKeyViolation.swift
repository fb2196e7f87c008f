/// A row that refers to a row that does not exist.
///
/// Source: <https://www.sqlite.org/pragma.html#pragma_foreign_key_check>.
public struct ForeignKeyViolation: Sendable {
    /// The table of the row.
    public var originTable: String

    /// The rowid of the row; nil in a table without rowid.
    public var originRowID: Int64?

    /// The table that the row refers to.
    public var destinationTable: String

    /// The number of the foreign key in its table: that of ``ForeignKeyInfo/id``.
    public var foreignKeyId: Int
}

extension ForeignKeyViolation: FetchableRecord {
    /// - parameter row: a row of `PRAGMA foreign_key_check`.
    public init(row: Row) {
        originTable = row["table"]
        originRowID = row["rowid"]
        destinationTable = row["parent"]
        foreignKeyId = row["fkid"]
    }
}

extension ForeignKeyViolation: CustomStringConvertible {
    /// The tables and the rowid; the rows' contents stay out.
    public var description: String {
        sentence(from: originTable, to: destinationTable, in: rowIDWords)
    }

    /// Tables, columns, and the row with all its values. They may be secrets: keep them out of logs.
    ///
    /// Columns and values are left out where the table or the row has gone since.
    ///
    /// - throws: `SQLITE_ERROR` when a foreign key without column names refers to a table that does not exist.
    public func failureDescription(_ db: Database) throws -> String {
        try sentence(db, row: originRow(db)?.description)
    }

    /// An error with the code `SQLITE_CONSTRAINT_FOREIGNKEY`, whose message names tables, columns and rowid.
    ///
    /// The message shows the row's values only where the configuration sets
    /// ``Configuration/publicStatementArguments``: errors end up in logs.
    public func databaseError(_ db: Database) -> DatabaseError {
        // The violation counts, not that its description could not be had.
        let message = db.configuration.publicStatementArguments
            ? try? failureDescription(db)
            : try? sentence(db, row: nil)
        return DatabaseError(resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: message ?? description)
    }

    private func sentence(_ db: Database, row: String?) throws -> String {
        let words = row ?? rowIDWords
        guard let foreignKey = try foreignKey(db) else {
            return sentence(from: originTable, to: destinationTable, in: words)
        }
        return sentence(
            from: "\(originTable)(\(foreignKey.originColumns.joined(separator: ", ")))",
            to: "\(destinationTable)(\(foreignKey.destinationColumns.joined(separator: ", ")))",
            in: words)
    }

    private func sentence(from origin: String, to destination: String, in row: String?) -> String {
        "FOREIGN KEY constraint violation - from \(origin) to \(destination)" + (row.map { ", in \($0)" } ?? "")
    }

    private var rowIDWords: String? { originRowID.map { "rowid \($0)" } }

    private func foreignKey(_ db: Database) throws -> ForeignKeyInfo? {
        guard let table = try db.relation(originTable, in: nil) else { return nil }
        return try db.foreignKey(foreignKeyId, on: table)
    }

    private func originRow(_ db: Database) throws -> Row? {
        guard let originRowID,
              let table = try db.relation(originTable, in: nil),
              let rowID = try db.rowIDName(of: table)
        else { return nil }
        return try Row.fetchOne(
            db.makeStatement(sql: "SELECT * FROM \(table.id.sql) WHERE \(rowID) = ?"),
            arguments: [originRowID])
    }
}

extension Database {
    /// A cursor on the rows of the main database that refer to rows that do not exist.
    public func foreignKeyViolations() throws -> RecordCursor<ForeignKeyViolation> {
        try ForeignKeyViolation.fetchCursor(makeStatement(sql: "PRAGMA foreign_key_check"))
    }

    /// A cursor on the rows of a table that refer to rows that do not exist.
    ///
    /// - parameter schemaName: by default the name is looked for as SQLite does: in temp, main, and the attached databases.
    /// - throws: `SQLITE_ERROR` when there is no such table or schema.
    public func foreignKeyViolations(
        in tableName: String, in schemaName: String? = nil) throws -> RecordCursor<ForeignKeyViolation>
    {
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
    /// - parameter schemaName: by default the name is looked for as SQLite does: in temp, main, and the attached databases.
    /// - throws: `SQLITE_CONSTRAINT_FOREIGNKEY` for the first such row; `SQLITE_ERROR` when there is no such table or schema.
    public func checkForeignKeys(in tableName: String, in schemaName: String? = nil) throws {
        try throwFirst(of: foreignKeyViolations(in: tableName, in: schemaName))
    }

    private func throwFirst(of violations: RecordCursor<ForeignKeyViolation>) throws {
        if let violation = try violations.next() { throw violation.databaseError(self) }
    }
}

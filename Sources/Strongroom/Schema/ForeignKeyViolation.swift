/// A row that refers to a row that does not exist.
///
/// Source: <https://www.sqlite.org/pragma.html#pragma_foreign_key_check>.
public struct ForeignKeyViolation: Sendable {
    /// The table of the row.
    public var originTable: String

    /// The rowid of the row. Nil in a table without rowid.
    public var originRowID: Int64?

    /// The table that the row refers to.
    public var destinationTable: String

    /// The number of the foreign key in its table: that of ``ForeignKeyInfo/id``.
    public var foreignKeyId: Int
}

extension ForeignKeyViolation {
    /// Creates a violation.
    ///
    /// - parameter row: a row of `PRAGMA foreign_key_check`.
    public init(row: Row) {
        originTable = row["table"]
        originRowID = row["rowid"]
        destinationTable = row["parent"]
        foreignKeyId = row["fkid"]
    }
}

extension ForeignKeyViolation: CustomStringConvertible {
    /// The tables and the rowid, without the contents of rows.
    public var description: String {
        message(from: originTable, to: destinationTable, in: rowIDWords)
    }

    /// Returns the tables, the columns, and the row with all its values. They may be secrets: keep them out of logs.
    ///
    /// Omits columns and values if the table or the row has been removed since.
    ///
    /// - throws: `SQLITE_ERROR` if a foreign key without column names refers to a table that does not exist.
    public func failureDescription(_ db: Database) throws -> String {
        try message(db, row: originRow(db)?.description)
    }

    /// Returns an error with the code `SQLITE_CONSTRAINT_FOREIGNKEY`, whose message contains the tables, columns and
    /// rowid.
    ///
    /// The message contains the row's values only if the configuration sets ``Configuration/publicStatementArguments``,
    /// because errors are often logged.
    public func databaseError(_ db: Database) -> DatabaseError {
        // An error of the description does not replace that of the violation.
        let message =
            db.configuration.publicStatementArguments
            ? try? failureDescription(db)
            : try? message(db, row: nil)
        return DatabaseError(resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: message ?? description)
    }

    private func message(_ db: Database, row: String?) throws -> String {
        let words = row ?? rowIDWords
        guard let foreignKey = try foreignKey(db) else {
            return message(from: originTable, to: destinationTable, in: words)
        }
        return message(
            from: "\(originTable)(\(foreignKey.originColumns.joined(separator: ", ")))",
            to: "\(destinationTable)(\(foreignKey.destinationColumns.joined(separator: ", ")))",
            in: words)
    }

    private func message(from origin: String, to destination: String, in row: String?) -> String {
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

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

extension ForeignKeyViolation {
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
        message(from: originTable, to: destinationTable, in: rowIDWords)
    }

    /// Tables, columns, and the row with all its values. They may be secrets: keep them out of logs.
    ///
    /// Columns and values are left out where the table or the row has gone since.
    ///
    /// - throws: `SQLITE_ERROR` when a foreign key without column names refers to a table that does not exist.
    public func failureDescription(_ db: Database) throws -> String {
        try message(db, row: originRow(db)?.description)
    }

    /// An error with the code `SQLITE_CONSTRAINT_FOREIGNKEY`, whose message names tables, columns and rowid.
    ///
    /// The message shows the row's values only where the configuration sets
    /// ``Configuration/publicStatementArguments``: errors end up in logs.
    public func databaseError(_ db: Database) -> DatabaseError {
        // The violation counts, not that its description could not be had.
        let message = db.configuration.publicStatementArguments
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

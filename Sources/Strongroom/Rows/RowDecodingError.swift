/// A value or a record that a row does not have, or that can't be converted to the type asked for.
public struct RowDecodingError: Error, Sendable {
    let reason: String

    /// What was asked for: the name of a column, or the key of a scope or of prefetched rows.
    let subject: String

    let columnNames: [String]
    let sql: String?

    @usableFromInline
    init(reason: String, column: String, row: Row) {
        self.init(reason: reason, subject: "column: \(column.debugDescription)", row: row)
    }

    init(reason: String, key: String, row: Row) {
        self.init(reason: reason, subject: "key: \(key.debugDescription)", row: row)
    }

    private init(reason: String, subject: String, row: Row) {
        self.reason = reason
        self.subject = subject
        self.columnNames = row.columns.names
        self.sql = row.statement.map { $0.database.showable($0) }
    }
}

extension RowDecodingError: CustomStringConvertible {
    public var description: String {
        var text = "\(reason) - \(subject), columns: [\(columnNames.joined(separator: ", "))]"
        if let sql { text += ", while executing `\(sql)`" }
        return text
    }
}

/// A value that a row does not have, or that can't be converted to the type asked for.
public struct RowDecodingError: Error, Sendable {
    let reason: String

    /// The name of the column, as it was asked for.
    let column: String

    let columnNames: [String]
    let sql: String?

    @usableFromInline
    init(reason: String, column: String, row: Row) {
        self.reason = reason
        self.column = column
        self.columnNames = row.columns.names
        self.sql = row.statement.map { $0.database.showable($0) }
    }
}

extension RowDecodingError: CustomStringConvertible {
    public var description: String {
        var text = "\(reason) - column: \(column.debugDescription), columns: [\(columnNames.joined(separator: ", "))]"
        if let sql { text += ", while executing `\(sql)`" }
        return text
    }
}

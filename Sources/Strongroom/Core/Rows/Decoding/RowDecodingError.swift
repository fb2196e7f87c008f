/// A value or a record that a row does not have, or that can't be converted to the type asked for.
///
/// Its description shows the row, because that is where the mistake is: keep it out of logs where rows are secrets.
public struct RowDecodingError: Error, Sendable {
    private let reason: String
    private let column: (name: String, index: Int)?
    private let row: String
    private let sql: String?
    private let arguments: StatementArguments?

    /// The missing part of the row: a column, a scope, or prefetched rows.
    @usableFromInline
    init(missing reason: String, in row: Row) {
        self.init(reason, column: nil, row)
    }

    /// A column that can't be converted, as the statement gives it, whatever adapters make of it.
    init(_ reason: String, at index: Int, of row: Row) {
        let whole = row.unadapted
        let position = row.position(of: index)
        self.init(reason, column: (whole.columns.names[position], position), whole)
    }

    /// A column that can't be converted, as the row shows it.
    init(_ reason: String, shownAt index: Int, of row: Row) {
        self.init(reason, column: (row.columns.names[index], index), row)
    }

    private init(_ reason: String, column: (name: String, index: Int)?, _ row: Row) {
        self.reason = reason
        self.column = column
        self.row = row.description
        // Where an adapter has been at work, the SQL names other columns than the row does.
        let statement = row.layout == nil ? row.statement : nil
        self.sql = statement.map { $0.showableSQL.trimmingSQL() }
        self.arguments = statement.flatMap(\.publicArguments)
    }
}

extension RowDecodingError: CustomStringConvertible {
    /// The reason, the column, the row and the SQL; arguments only where the configuration made them public.
    public var description: String {
        var details: [String] = []
        if let column { details.append("column: \(column.name.debugDescription), column index: \(column.index)") }
        details.append("row: \(row)")
        if let sql { details.append("sql: `\(sql)`") }
        if let arguments { details.append("arguments: \(arguments)") }
        return reason + " - " + details.joined(separator: ", ")
    }
}

extension Statement {
    /// The arguments, where messages may show them: when there are none, or when the configuration made them public.
    fileprivate var publicArguments: StatementArguments? {
        arguments.isEmpty || database.configuration.publicStatementArguments ? arguments : nil
    }
}

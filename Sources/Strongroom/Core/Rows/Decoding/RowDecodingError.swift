/// An error for a value or record that a row doesn't have, or that can't be converted to the requested type.
///
/// Its description contains the types of the row's values, and the values themselves only if the configuration sets
/// ``Configuration/publicStatementArguments``, and for the current row of a cursor or a fetch.
public struct RowDecodingError: Error, Sendable {
    private let reason: String
    private let column: (name: String, index: Int)?
    private let row: String
    private let sql: String?
    private let arguments: StatementArguments?

    /// Creates an error for a missing part of the row: a column, a scope, or prefetched rows.
    @usableFromInline
    init(missing reason: String, in row: Row) {
        self.init(reason, column: nil, row)
    }

    /// Creates an error for a column that can't be converted, at its index in the statement.
    init(_ reason: String, at index: Int, of row: Row) {
        let whole = row.unadapted
        let position = row.position(of: index)
        self.init(reason, column: (whole.columns.names[position], position), whole)
    }

    /// Creates an error for a column that can't be converted, at its index in the row.
    init(_ reason: String, shownAt index: Int, of row: Row) {
        self.init(reason, column: (row.columns.names[index], index), row)
    }

    private init(_ reason: String, column: (name: String, index: Int)?, _ row: Row) {
        self.reason = reason
        self.column = column
        self.row = row.showableDescription
        // With an adapter, the SQL has other columns than the row.
        let statement = row.layout == nil ? row.statement : nil
        self.sql = statement.map { $0.showableSQL.trimmingSQL() }
        self.arguments = statement.flatMap(\.publicArguments)
    }
}

extension RowDecodingError: CustomStringConvertible {
    /// The reason, the column, the row and the SQL. Contains values and arguments only if the configuration makes them
    /// public.
    public var description: String {
        var details: [String] = []
        if let column { details.append("column: \(column.name.debugDescription), column index: \(column.index)") }
        details.append("row: \(row)")
        if let sql { details.append("sql: `\(sql)`") }
        if let arguments { details.append("arguments: \(arguments)") }
        return reason + " - " + details.joined(separator: ", ")
    }
}

extension Row {
    /// The description of the row, with the types of values that must not be shown.
    fileprivate var showableDescription: String {
        showsValues ? description : "[" + map { "\($0.0):\($0.1.typeName)" }.joined(separator: " ") + "]"
    }

    /// The value at an index in the row, or its type if it must not be shown.
    func showable(_ value: DatabaseValue) -> String { showsValues ? "\(value)" : value.typeName }

    /// True if messages may contain the values. Not known of copies.
    private var showsValues: Bool { statement?.database.configuration.publicStatementArguments ?? false }
}

extension DatabaseValue {
    fileprivate var typeName: String {
        switch storage {
        case .null: "NULL"
        case .int64: "INTEGER"
        case .double: "REAL"
        case .string: "TEXT"
        case .blob: "BLOB"
        }
    }
}

extension Statement {
    /// The arguments, if messages may contain them: if there are none, or the configuration makes them public.
    fileprivate var publicArguments: StatementArguments? {
        arguments.isEmpty || database.configuration.publicStatementArguments ? arguments : nil
    }
}

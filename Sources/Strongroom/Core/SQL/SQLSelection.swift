/// Appends the selection of a query.
public struct SQLSelection: SQLSelectable, Sendable {
    indirect enum Node: Sendable {
        case expression(SQLExpression)
        case named(SQLExpression, String)
        case literal(SQL)
        case allColumns
        case someColumns(any SQLColumnChoice)
        case qualified(SQLSelection, TableAliasBase)
    }

    let node: Node

    /// The value as a selection.
    public var sqlSelection: SQLSelection { self }

    func write(to writer: inout SQLWriter) throws {
        switch node {
        case .expression(let expression): try expression.write(to: &writer)
        case .named(let expression, let name):
            try expression.write(to: &writer)
            writer.append(" AS " + name.quotedDatabaseIdentifier)
        case .literal(let sql): try sql.write(to: &writer)
        case .allColumns: writer.appendAllColumns()
        case .someColumns(let choice):
            guard let columns = try columns(of: choice, writer) else { return writer.appendAllColumns() }
            writer.append(columns, separator: ", ") { $1.append(column: $0) }
        case .qualified(let selection, let alias): try writer.qualified(by: alias) { try selection.write(to: &$0) }
        }
    }

    private func columns(of choice: any SQLColumnChoice, _ writer: SQLWriter) throws -> [String]? {
        guard let table = writer.innermostSource?.tableName else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "allColumns(excluding:) selects from a table, and there is none here")
        }
        return try choice.columns(of: table, writer.destination)
    }

    /// The expression of the selection, without its name. Nil for other selections.
    var expression: SQLExpression? {
        switch node {
        case .expression(let expression), .named(let expression, _): expression
        case .qualified(let selection, let alias):
            selection.expression.map { SQLExpression(node: .qualified($0, alias)) }
        case .literal, .allColumns, .someColumns: nil
        }
    }

    /// True if the number of rows doesn't depend on the selection.
    var isIgnoredByCount: Bool {
        switch node {
        case .expression, .allColumns, .someColumns: true
        case .qualified(let selection, _): selection.isIgnoredByCount
        case .named, .literal: false
        }
    }
}

/// A type that selects some columns of a table. Layers above the core implement it.
protocol SQLColumnChoice: Sendable {
    /// Returns the names, in the order of the table. Nil for all columns.
    func columns(of tableName: String, _ destination: any SQLDestination) throws -> [String]?
}

/// All columns of a table: `*`.
public struct AllColumns: SQLSelectable, Sendable {
    /// Creates a selection.
    public init() {}

    /// The value as a selection.
    public var sqlSelection: SQLSelection { SQLSelection(node: .allColumns) }
}

extension SQLSelectable where Self == AllColumns {
    /// A selection of all columns: `*`.
    public static var allColumns: AllColumns { AllColumns() }
}

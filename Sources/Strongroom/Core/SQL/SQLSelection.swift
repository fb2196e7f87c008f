/// What a query selects.
public struct SQLSelection: SQLSelectable, Sendable {
    indirect enum Node: Sendable {
        case expression(SQLExpression)
        case named(SQLExpression, String)
        case literal(SQL)
        case allColumns
        case allColumnsExcluding(Set<String>)
        case qualified(SQLSelection, TableAliasBase)
    }

    let node: Node

    public var sqlSelection: SQLSelection { self }

    func write(to writer: inout SQLWriter) throws {
        switch node {
        case .expression(let expression): try expression.write(to: &writer)
        case .named(let expression, let name):
            try expression.write(to: &writer)
            writer.append(" AS " + name.quotedDatabaseIdentifier)
        case .literal(let sql): try sql.write(to: &writer)
        case .allColumns: writer.appendAllColumns()
        case .allColumnsExcluding(let excluded):
            guard let columns = try Self.columns(excluding: excluded, writer) else { return writer.appendAllColumns() }
            writer.append(columns, separator: ", ") { $1.append(column: $0) }
        case .qualified(let selection, let alias): try writer.qualified(by: alias) { try selection.write(to: &$0) }
        }
    }

    /// The columns that are left; nil for all.
    private static func columns(excluding excluded: Set<String>, _ writer: SQLWriter) throws -> [String]? {
        guard let table = writer.innermostSource?.tableName else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "allColumns(excluding:) selects from a table, and there is none here")
        }
        let all = try writer.db.columns(in: table).map(\.name)
        let left = all.filter { !excluded.contains($0.lowercased()) }
        return left.count == all.count ? nil : left
    }

    /// How many columns the selection has; nil where only SQLite can tell.
    ///
    /// - parameter others: the tables that aliases may mean.
    func columnCount(of source: SQLSource, among others: [SQLSource] = [], _ db: Database) throws -> Int? {
        switch node {
        case .expression, .named: 1
        case .literal: nil
        case .allColumns: try db.columns(in: source.tableName).count
        case .allColumnsExcluding(let excluded):
            try db.columns(in: source.tableName).count { !excluded.contains($0.name.lowercased()) }
        case .qualified(let selection, let alias):
            try selection.columnCount(of: others.first { $0.aliases.contains(alias) } ?? source, among: others, db)
        }
    }

    /// The expression, if the selection is one; its name does not matter.
    var expression: SQLExpression? {
        switch node {
        case .expression(let expression), .named(let expression, _): expression
        case .qualified(let selection, let alias):
            selection.expression.map { SQLExpression(node: .qualified($0, alias)) }
        case .literal, .allColumns, .allColumnsExcluding: nil
        }
    }

    /// Whether rows are counted without what is selected of them.
    var isIgnoredByCount: Bool {
        switch node {
        case .expression, .allColumns, .allColumnsExcluding: true
        case .qualified(let selection, _): selection.isIgnoredByCount
        case .named, .literal: false
        }
    }
}

/// All columns of a table: `*`.
public struct AllColumns: SQLSelectable, Sendable {
    public init() {}

    public var sqlSelection: SQLSelection { SQLSelection(node: .allColumns) }
}

/// All columns of a table but some.
public struct AllColumnsExcluding: SQLSelectable, Sendable {
    private let excludedColumns: Set<String>

    /// Names are compared without regard to case.
    public init(_ excludedColumns: some Collection<String>) {
        self.excludedColumns = Set(excludedColumns.map { $0.lowercased() })
    }

    public var sqlSelection: SQLSelection { SQLSelection(node: .allColumnsExcluding(excludedColumns)) }
}

extension SQLSelectable where Self == AllColumns {
    /// All columns: `*`.
    public static var allColumns: AllColumns { AllColumns() }
}

extension SQLSelectable where Self == AllColumnsExcluding {
    /// All columns but these.
    public static func allColumns(excluding excludedColumns: some Collection<String>) -> Self {
        AllColumnsExcluding(excludedColumns)
    }

    /// All columns but these.
    public static func allColumns(excluding excludedColumns: some Collection<any ColumnExpression>) -> Self {
        AllColumnsExcluding(excludedColumns.map(\.name))
    }
}

/// All columns of a table except some.
public struct AllColumnsExcluding: SQLSelectable, Sendable {
    private let excludedColumns: Set<String>

    /// Creates a selection. Names are compared without regard to case.
    public init(_ excludedColumns: some Collection<String>) {
        self.excludedColumns = Set(excludedColumns.map { $0.foldedSQLName })
    }

    /// The selection.
    public var sqlSelection: SQLSelection { SQLSelection(node: .someColumns(self)) }
}

extension AllColumnsExcluding: SQLColumnChoice {
    func columns(of tableName: String, _ destination: any SQLDestination) throws -> [String]? {
        let all = try destination.database.columns(in: tableName).map(\.name)
        let left = all.filter { !excludedColumns.contains($0.foldedSQLName) }
        return left.count == all.count ? nil : left
    }
}

extension SQLSelectable where Self == AllColumnsExcluding {
    /// Returns a selection of all columns except these.
    public static func allColumns(excluding excludedColumns: some Collection<String>) -> Self {
        AllColumnsExcluding(excludedColumns)
    }

    /// Returns a selection of all columns except these.
    public static func allColumns(excluding excludedColumns: some Collection<any ColumnExpression>) -> Self {
        AllColumnsExcluding(excludedColumns.map(\.name))
    }
}

extension SQLSelection {
    /// Returns the number of columns in the selection. Nil if only SQLite can determine it.
    ///
    /// - parameter others: the tables to which aliases can refer.
    func columnCount(of source: SQLSource, among others: [SQLSource] = [], _ db: Database) throws -> Int? {
        switch node {
        case .expression, .named: 1
        case .literal: nil
        case .allColumns: try db.columns(in: source.tableName).count
        case .someColumns(let choice):
            try choice.columns(of: source.tableName, db)?.count ?? db.columns(in: source.tableName).count
        case .qualified(let selection, let alias):
            try selection.columnCount(of: others.first { $0.aliases.contains(alias) } ?? source, among: others, db)
        }
    }
}

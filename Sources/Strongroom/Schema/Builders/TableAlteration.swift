/// The changes of a table, which are made one by one, in their order.
///
/// Source: <https://www.sqlite.org/lang_altertable.html>.
public final class TableAlteration {
    private enum Change {
        case add(ColumnDefinition)
        case addLiteral(SQL)
        case rename(String, to: String)
        case drop(String)
    }

    private let name: String
    private var changes: [Change] = []

    init(name: String) {
        self.name = name
    }

    /// Adds a column at the end.
    ///
    /// - parameters:
    ///   - name: the name of the column.
    ///   - type: the declared type. Default: nil, for a column that stores values of any type unconverted.
    @discardableResult
    public func add(column name: String, _ type: Database.ColumnType? = nil) -> ColumnDefinition {
        let column = ColumnDefinition(name: name, type: type)
        changes.append(.add(column))
        return column
    }

    /// Adds a column that is defined in SQL.
    public func addColumn(sql: String) {
        changes.append(.addLiteral(SQL(sql: sql)))
    }

    /// Adds a column that is defined in SQL. Interpolated values become literals.
    public func addColumn(literal: SQL) {
        changes.append(.addLiteral(literal))
    }

    /// Renames a column, and all references to it in the schema.
    public func rename(column name: String, to newName: String) {
        changes.append(.rename(name, to: newName))
    }

    /// Removes a column. No index, constraint, trigger or view may use it.
    public func drop(column name: String) {
        changes.append(.drop(name))
    }

    func run(_ db: Database) throws {
        for change in changes {
            for statement in try statements(change, db) { try db.execute(sql: statement) }
        }
    }

    private func statements(_ change: Change, _ db: Database) throws -> [String] {
        let alter = "ALTER TABLE \(name.quotedDatabaseIdentifier) "
        switch change {
        case .add(let column):
            let definition = try column.sql(db, in: ReferencedKeys(db: db, tableName: name))
            return [alter + "ADD COLUMN " + definition] + [column.index(on: name)?.sql].compactMap { $0 }
        case .addLiteral(let literal):
            return [alter + "ADD COLUMN " + (try db.inlined(literal))]
        case .rename(let name, let newName):
            return [alter + "RENAME COLUMN \(name.quotedDatabaseIdentifier) TO \(newName.quotedDatabaseIdentifier)"]
        case .drop(let name):
            return [alter + "DROP COLUMN \(name.quotedDatabaseIdentifier)"]
        }
    }
}

// Tables and record types in SQL literals.

extension SQLInterpolation {
    /// The table of a record type, quoted: `FROM \(Player.self)`.
    public mutating func appendInterpolation(_ table: (some TableRecord).Type) {
        appendInterpolation(identifier: table.databaseTableName)
    }

    /// The table of a record type, quoted.
    public mutating func appendInterpolation(_ table: any TableRecord.Type) {
        appendInterpolation(identifier: table.databaseTableName)
    }

    /// A table, quoted.
    public mutating func appendInterpolation<T>(_ table: Table<T>) {
        appendInterpolation(identifier: table.tableName)
    }

    /// The table of a record, quoted.
    public mutating func appendInterpolation(tableOf record: some TableRecord) {
        appendInterpolation(identifier: type(of: record).databaseTableName)
    }

    /// The table of a record, quoted.
    public mutating func appendInterpolation(tableOf record: any TableRecord) {
        appendInterpolation(identifier: type(of: record).databaseTableName)
    }

    /// Appends the selection of a record type, each column with its table: `SELECT \(columnsOf: Player.self)`.
    ///
    /// - parameters:
    ///   - recordType: the record type.
    ///   - tableAlias: the name of the table in the statement, if it has another.
    public mutating func appendInterpolation(columnsOf recordType: (some TableRecord).Type, tableAlias: String? = nil) {
        let tableName = recordType.databaseTableName
        let alias = TableAliasBase(aliasName: tableAlias ?? tableName, tableName: tableName)
        for (index, selection) in recordType.databaseSelection.enumerated() {
            if index > 0 { appendLiteral(", ") }
            elements.append(.selection(alias[any: selection]))
        }
    }
}

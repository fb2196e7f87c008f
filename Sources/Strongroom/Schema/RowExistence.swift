/// True if the row of an aliased table exists: not all columns that identify it are NULL.
private struct RowExistence: SQLExpressionWriting {
    let alias: TableAliasBase
    var isNegated = false

    var negated: SQLExpression {
        SQLExpression(node: .custom(RowExistence(alias: alias, isNegated: !isNegated)))
    }

    func write(to writer: inout SQLWriter) throws {
        guard let table = writer.source(of: alias)?.tableName else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "unknown table alias: use it with aliased(_:) in the same request")
        }
        let db = writer.db
        let columns =
            try db.knowsPrimaryKey(ofTable: table)
            ? db.keyOfRows(inTable: table)
            : db.columns(in: table).map(\.name)
        let conditions = columns.map {
            SQLExpression.comparison(Column($0).sqlExpression, isNegated ? .is : .isNot, .null)
        }
        try writer.qualified(by: alias) {
            try SQLExpression.associative(isNegated ? .and : .or, conditions).write(to: &$0)
        }
    }
}

extension TableAlias {
    /// An expression that is true if the row exists, for optional joins.
    public var exists: SQLExpression { SQLExpression(node: .custom(RowExistence(alias: self))) }
}

extension SQLQuery {
    /// `DELETE` of the query's rows. <https://www.sqlite.org/lang_delete.html>
    func writeDelete(returning selection: [SQLSelection] = [], to writer: inout SQLWriter) throws {
        try JoinedTables.write(relation.commonTables, to: &writer)
        try writer.withSource(relation.source) { writer in
            writer.append("DELETE FROM ")
            writeChangedTable(to: &writer)
            try writeChangedRows(isReturning: !selection.isEmpty, to: &writer)
            try Self.writeReturning(selection, to: &writer)
        }
    }

    /// `UPDATE` of the query's rows. <https://www.sqlite.org/lang_update.html>
    func writeUpdate(
        _ assignments: [ColumnAssignment],
        onConflict conflictResolution: Database.ConflictResolution?,
        returning selection: [SQLSelection] = [],
        to writer: inout SQLWriter) throws
    {
        try JoinedTables.write(relation.commonTables, to: &writer)
        try writer.withSource(relation.source) { writer in
            writer.append("UPDATE ")
            writer.append(conflictResolution.sqlClause)
            writeChangedTable(to: &writer)
            writer.append(" SET ")
            try writer.append(assignments, separator: ", ") { try $0.write(to: &$1) }
            try writeChangedRows(isReturning: !selection.isEmpty, to: &writer)
            try Self.writeReturning(selection, to: &writer)
        }
    }

    private func writeChangedTable(to writer: inout SQLWriter) {
        writer.append(relation.source.tableName.quotedDatabaseIdentifier)
        guard let name = relation.source.name, name != relation.source.tableName else { return }
        writer.append(" AS " + name.quotedDatabaseIdentifier)
    }

    /// The filter; or the keys of the rows, where a filter can't tell them.
    private func writeChangedRows(isReturning: Bool, to writer: inout SQLWriter) throws {
        if grouping == nil, having.isEmpty, relation.joins.isEmpty {
            if limit == nil { return try writeFilter(to: &writer) }
            // What is returned would stand between the filter and the limit.
            if !isReturning, relation.source.name == nil, Self.canLimitChanges {
                try writeFilter(to: &writer)
                return try writeOrdering(JoinedTables(relation, writer.db), to: &writer)
            }
        }
        let key = try writer.db.keyOfRows(inTable: relation.source.tableName)
        var rows = self
        rows.isDistinct = false
        rows.relation = relation.unselected
        rows.relation.commonTables = []
        rows.relation.selection = [{ _ in key.map { Column($0).sqlSelection } }]
        writer.append(key.count == 1 ? " WHERE " : " WHERE (")
        writer.append(key, separator: ", ") { $1.append(column: $0) }
        writer.append(key.count == 1 ? " IN (" : ") IN (")
        try rows.write(to: &writer)
        writer.append(")")
    }

    /// Whether SQLite knows `DELETE … LIMIT`: only if it was compiled for that.
    /// <https://www.sqlite.org/compile.html#enable_update_delete_limit>
    private static let canLimitChanges = Database.isCompiled(with: "ENABLE_UPDATE_DELETE_LIMIT")

    private static func writeReturning(_ selection: [SQLSelection], to writer: inout SQLWriter) throws {
        guard !selection.isEmpty else { return }
        writer.append(" RETURNING ")
        try writer.append(selection, separator: ", ") { try $0.write(to: &$1) }
    }
}

extension Database {
    /// The columns that tell apart the rows of a table best: one if there is one, and never NULL.
    func keyOfRows(inTable tableName: String) throws -> [String] {
        let key = try primaryKey(tableName)
        return key.isRowID || !key.tableHasRowID ? key.columns : [Column.rowID.name]
    }
}

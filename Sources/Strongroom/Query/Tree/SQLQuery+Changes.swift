extension SQLQuery {
    /// `DELETE` of the query's rows. <https://www.sqlite.org/lang_delete.html>
    func writeDelete(returning selection: [SQLSelection] = [], to writer: inout SQLWriter) throws {
        try JoinedTables.write(relation.commonTables, to: &writer)
        let isFiltered = identifiesRowsByFilter(isReturning: !selection.isEmpty)
        let table = changedTable(isFiltered: isFiltered)
        try writer.withTables([table]) { writer in
            writer.append("DELETE FROM ")
            Self.write(table, to: &writer)
            try writeChangedRows(isFiltered: isFiltered, to: &writer)
            try Self.writeReturning(selection, to: &writer)
        }
    }

    /// `UPDATE` of the query's rows. <https://www.sqlite.org/lang_update.html>
    func writeUpdate(
        _ assignments: [ColumnAssignment],
        onConflict conflictResolution: Database.ConflictResolution?,
        returning selection: [SQLSelection] = [],
        to writer: inout SQLWriter
    ) throws {
        try JoinedTables.write(relation.commonTables, to: &writer)
        let isFiltered = identifiesRowsByFilter(isReturning: !selection.isEmpty)
        let table = changedTable(isFiltered: isFiltered)
        try writer.withTables([table]) { writer in
            writer.append("UPDATE ")
            writer.append(conflictResolution.sqlClause)
            Self.write(table, to: &writer)
            writer.append(" SET ")
            try writer.append(assignments, separator: ", ") { try $0.write(to: &$1) }
            try writeChangedRows(isFiltered: isFiltered, to: &writer)
            try Self.writeReturning(selection, to: &writer)
        }
    }

    /// Returns the table under its alias; under its own name where a query for the keys of the rows has the alias.
    private func changedTable(isFiltered: Bool) -> NamedTable {
        NamedTable(relation.source, name: isFiltered ? relation.source.name : nil)
    }

    private static func write(_ table: NamedTable, to writer: inout SQLWriter) {
        writer.append(table.source.tableName.quotedDatabaseIdentifier)
        guard let name = table.name, name != table.source.tableName else { return }
        writer.append(" AS " + name.quotedDatabaseIdentifier)
    }

    /// True if a filter, perhaps with a limit, determines the rows.
    private func identifiesRowsByFilter(isReturning: Bool) -> Bool {
        guard grouping == nil, having.isEmpty, relation.joins.isEmpty else { return false }
        // RETURNING would stand between the filter and the limit.
        return limit == nil || !isReturning && relation.source.name == nil && Self.canLimitChanges
    }

    /// The filter, or the keys of the rows if a filter can't express them.
    private func writeChangedRows(isFiltered: Bool, to writer: inout SQLWriter) throws {
        if isFiltered {
            try writeFilter(to: &writer)
            if limit != nil { try writeOrdering(JoinedTables(relation, writer.db), to: &writer) }
            return
        }
        let key = try writer.db.keyOfRows(inTable: relation.source.tableName)
        var rows = selecting(key)
        rows.relation.commonTables = []
        writer.append(key.count == 1 ? " WHERE " : " WHERE (")
        writer.append(key, separator: ", ") { $1.append(column: $0) }
        writer.append(key.count == 1 ? " IN (" : ") IN (")
        try rows.write(to: &writer)
        writer.append(")")
    }

    /// True if SQLite was compiled with `DELETE … LIMIT`.
    /// <https://www.sqlite.org/compile.html#enable_update_delete_limit>
    private static let canLimitChanges = SQLite.isCompiled(with: "ENABLE_UPDATE_DELETE_LIMIT")

    private static func writeReturning(_ selection: [SQLSelection], to writer: inout SQLWriter) throws {
        guard !selection.isEmpty else { return }
        writer.append(" RETURNING ")
        try writer.append(selection, separator: ", ") { try $0.write(to: &$1) }
    }
}

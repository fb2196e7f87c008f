/// A `SELECT` statement on a relation. <https://www.sqlite.org/lang_select.html>
struct SQLQuery: SQLQueryWriting {
    struct Limit: Sendable {
        let limit: Int
        let offset: Int?

        var sql: String { offset.map { "\(limit) OFFSET \($0)" } ?? "\(limit)" }
    }

    var relation: SQLRelation
    var isDistinct = false
    var grouping: SQLRelation.Connected<[SQLExpression]>?
    var having: [SQLRelation.Connected<SQLExpression>] = []
    var limit: Limit?

    /// True if the filter is known to match at most one row.
    var isSingle = false

    init(tableName: String, selection: [SQLSelection]) {
        relation = SQLRelation(source: SQLSource(tableName: tableName), selection: [{ _ in selection }])
    }

    // MARK: - Writing

    func write(to writer: inout SQLWriter) throws {
        try write(JoinedTables(relation, writer.db), to: &writer)
    }

    func write(_ tables: JoinedTables, to writer: inout SQLWriter) throws {
        try tables.writeCommonTables(to: &writer)
        try writer.withTables(tables.names) { writer in
            writer.append(isDistinct ? "SELECT DISTINCT " : "SELECT ")
            try tables.writeSelection(to: &writer)
            try tables.writeSources(to: &writer)
            try writeConditions(to: &writer)
            try writeOrdering(tables, to: &writer)
        }
    }

    /// The parts of the statement that determine its rows.
    func writeConditions(to writer: inout SQLWriter) throws {
        let db = writer.db
        try writeFilter(to: &writer)
        if let groups = try grouping?(db), !groups.isEmpty {
            writer.append(" GROUP BY ")
            try writer.append(groups, separator: ", ") { try $0.write(to: &$1) }
        }
        if !having.isEmpty {
            writer.append(" HAVING ")
            try SQLExpression.associative(.and, having.map { try $0(db) }).write(to: &writer)
        }
    }

    func writeFilter(to writer: inout SQLWriter) throws {
        guard let filter = try relation.filter(writer.db) else { return }
        writer.append(" WHERE ")
        try filter.write(to: &writer)
    }

    func writeOrdering(_ tables: JoinedTables, to writer: inout SQLWriter) throws {
        try tables.writeOrdering(to: &writer)
        if let limit { writer.append(" LIMIT " + limit.sql) }
    }

    func selection(_ db: Database) throws -> [SQLSelection] {
        try relation.selection(db)
    }

    // MARK: - One row

    /// Returns the query with a limit of one row, unless it returns one row anyway.
    func limitedToFirstRow(_ db: Database) throws -> SQLQuery {
        guard limit == nil, !isSingle, try !selectsOneRow(db) else { return self }
        var query = self
        query.limit = Limit(limit: 1, offset: nil)
        return query
    }

    /// Returns true if the query returns at most one row: it aggregates all rows, or its filter has a unique key.
    private func selectsOneRow(_ db: Database) throws -> Bool {
        guard relation.joins.isEmpty else { return false }
        if grouping == nil, try selection(db).contains(where: { $0.expression?.isAggregate ?? false }) { return true }
        let columns = try relation.filter(db)?.operands(of: .and).compactMap(\.columnEqualToValue) ?? []
        guard !columns.isEmpty else { return false }
        return try db.hasUniqueKey(within: columns, inTable: relation.source.tableName)
    }

    // MARK: - Counting

    /// The query that counts the rows.
    func writeCount(to writer: inout SQLWriter) throws {
        let selection = try selection(writer.db)
        let tables = try JoinedTables(relation, writer.db)
        let isPlain =
            limit == nil && grouping == nil && having.isEmpty && relation.joins.isEmpty
            && !tables.hasCommonTables
        let single = selection.count == 1 ? selection[0].expression : nil
        if isPlain, isDistinct, let expression = single {
            try writeSimpleCount(
                of: .function(
                    .init(
                        name: "COUNT", arguments: [expression], isAggregate: true, isDistinct: true)), tables,
                to: &writer)
        } else if isPlain, !isDistinct, single != nil || selection.allSatisfy(\.isIgnoredByCount) {
            try writeSimpleCount(of: .literal("COUNT(*)"), tables, to: &writer)
        } else {
            var query = self
            query.relation.removeOrder()
            query.relation.prefetches = []
            writer.append("SELECT COUNT(*) FROM (")
            try query.write(to: &writer)
            writer.append(")")
        }
    }

    private func writeSimpleCount(
        of counted: SQLExpression.Node, _ tables: JoinedTables, to writer: inout SQLWriter
    ) throws {
        try writer.withTables(tables.names) { writer in
            writer.append("SELECT ")
            try SQLExpression(node: counted).write(to: &writer)
            try tables.writeSources(to: &writer)
            try writeFilter(to: &writer)
        }
    }
}

/// A table that a query reads, under its own name or another.
struct SQLSource: Sendable {
    var tableName: String
    var alias: TableAliasBase?

    /// Whether columns may be called by `name` in SQL.
    func answers(to name: String) -> Bool {
        (alias?.name ?? tableName).foldedSQLName == name.foldedSQLName
    }

    func write(to writer: inout SQLWriter) {
        writer.append(tableName.quotedDatabaseIdentifier)
        if let name = alias?.name { writer.append(" " + name.quotedDatabaseIdentifier) }
    }
}

/// Rows of a table: which ones, in which order, and what of them. What joins would join.
///
/// What depends on the schema is a function of the connection, called each time the SQL is written.
struct SQLRelation: Sendable {
    typealias Connected<Value> = @Sendable (Database) throws -> Value

    var source: SQLSource
    var selection: [Connected<[SQLSelection]>]
    var filters: [Connected<SQLExpression>] = []
    var orderings: [Connected<[SQLOrdering]>] = []
    var isReversed = false

    /// Whether the primary key tells apart rows that the order does not.
    var hasStableOrder = false

    func filter(_ db: Database) throws -> SQLExpression? {
        guard !filters.isEmpty else { return nil }
        return try .associative(.and, filters.map { try $0(db) })
    }

    func ordering(_ db: Database) throws -> [SQLOrdering] {
        var terms = try orderings.flatMap { try $0(db) }
        if hasStableOrder {
            terms += try db.primaryKey(source.tableName).columns.map { Column($0).sqlOrdering }
        }
        return isReversed ? terms.map(\.reversed) : terms
    }
}

/// A `SELECT` statement on a relation. <https://www.sqlite.org/lang_select.html>
struct SQLQuery: Sendable {
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

    /// Whether the filter is known to let through one row at most.
    var isSingle = false

    init(tableName: String, selection: [SQLSelection]) {
        relation = SQLRelation(source: SQLSource(tableName: tableName), selection: [{ _ in selection }])
    }

    // MARK: - Writing

    func write(to writer: inout SQLWriter) throws {
        let db = writer.db
        try writer.withSource(relation.source) { writer in
            writer.append(isDistinct ? "SELECT DISTINCT " : "SELECT ")
            let selection = try selection(db)
            guard !selection.isEmpty else {
                throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "a request must select something")
            }
            try writer.append(selection, separator: ", ") { try $0.write(to: &$1) }
            writer.append(" FROM ")
            relation.source.write(to: &writer)
            try writeConditions(to: &writer)
            try writeOrdering(to: &writer)
        }
    }

    /// Everything that decides which rows there are.
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

    func writeOrdering(to writer: inout SQLWriter) throws {
        let ordering = try relation.ordering(writer.db)
        if !ordering.isEmpty {
            writer.append(" ORDER BY ")
            try writer.append(ordering, separator: ", ") { try $0.write(to: &$1) }
        }
        if let limit { writer.append(" LIMIT " + limit.sql) }
    }

    func selection(_ db: Database) throws -> [SQLSelection] {
        try relation.selection.flatMap { try $0(db) }
    }

    // MARK: - One row

    /// The query for who reads its first row only.
    func limitedToFirstRow(_ db: Database) throws -> SQLQuery {
        guard limit == nil, !isSingle, try !selectsOneRow(db) else { return self }
        var query = self
        query.limit = Limit(limit: 1, offset: nil)
        return query
    }

    /// Whether there can't be two rows: all is summed up, or a unique key is given.
    private func selectsOneRow(_ db: Database) throws -> Bool {
        if grouping == nil, try selection(db).contains(where: { $0.expression?.isAggregate ?? false }) { return true }
        let columns = try relation.filter(db)?.operands(of: .and).compactMap(\.columnEqualToValue) ?? []
        guard !columns.isEmpty else { return false }
        return try db.hasUniqueKey(within: columns, inTable: relation.source.tableName)
    }

    // MARK: - Counting

    /// The query that counts the rows.
    func writeCount(to writer: inout SQLWriter) throws {
        let selection = try selection(writer.db)
        let isPlain = limit == nil && grouping == nil && having.isEmpty
        if isPlain, isDistinct, selection.count == 1, let expression = selection[0].expression {
            try writeSimpleCount(of: .function(.init(
                name: "COUNT", arguments: [expression], isAggregate: true, isDistinct: true)), to: &writer)
        } else if isPlain, !isDistinct, selection.allSatisfy(\.keepsRows) {
            try writeSimpleCount(of: .literal("COUNT(*)"), to: &writer)
        } else {
            var query = self
            query.relation.orderings = []
            query.relation.hasStableOrder = false
            writer.append("SELECT COUNT(*) FROM (")
            try query.write(to: &writer)
            writer.append(")")
        }
    }

    private func writeSimpleCount(of counted: SQLExpression.Node, to writer: inout SQLWriter) throws {
        try writer.withSource(relation.source) { writer in
            writer.append("SELECT ")
            try SQLExpression(node: counted).write(to: &writer)
            writer.append(" FROM ")
            relation.source.write(to: &writer)
            try writeFilter(to: &writer)
        }
    }
}

extension Database {
    /// Whether no two rows of a table can have the same values in these columns, or in some of them.
    func hasUniqueKey(within columns: [String], inTable tableName: String) throws -> Bool {
        guard let relation = try relation(tableName, in: nil) else { return false }
        let columns = Set(columns.map(\.foldedSQLName))
        if let key = try primaryKey(of: relation), !relation.isView {
            if key.columns.allSatisfy({ columns.contains($0.foldedSQLName) }) { return true }
            if key.tableHasRowID, columns.contains("rowid"), key.isRowID { return true }
        }
        return try !relation.isView && uniqueKeys(of: relation).contains { $0.isSubset(of: columns) }
    }
}

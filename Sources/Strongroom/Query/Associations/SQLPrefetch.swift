/// Rows that are fetched for the rows of another query: `including(all:)`.
struct SQLPrefetch: Sendable {
    private(set) var association: SQLAssociation

    /// The key of the prefetched rows.
    var key: String { association.prefetchKey }

    mutating func changeRelations(_ change: (inout SQLRelation) -> Void) {
        association.changeRelations(change)
    }

    /// Returns a prefetch that fetches the rows of both; nil if their paths differ.
    func merged(with other: SQLPrefetch) -> SQLPrefetch? {
        guard association.hasSameSteps(as: other.association) else { return nil }
        var merged = self
        merged.association.destination.query.relation.merge(other.association.destination.query.relation)
        return merged
    }

    /// The keys of the tables between.
    var pivotKeys: [String] { association.steps.dropLast().map(\.keyName) }

    mutating func setPivot(_ relation: SQLRelation, at step: Int) {
        association.setRelation(relation, at: step)
    }

    /// Fetches the associated rows of `rows`, and adds them to their prefetched rows.
    ///
    /// - parameters:
    ///     - origin: the query that gave the rows.
    ///     - path: the joins that lead to the row with the association.
    func fetch(for rows: [Row], of origin: SQLQuery, at path: [SQLJoin], _ db: Database) throws {
        guard !rows.isEmpty else { return }
        let way = way(along: path)
        let columns = try way.prefetch.association.steps[0].condition.columns(db)
        let keys = try rows.map { try Self.key(of: $0, at: way.keyPath, columns.map(\.left)) }
        let query = try way.prefetch.query(for: keys, of: way.keyPath.isEmpty ? origin : nil, columns, db)
        let found = try query.map { try Self.fetch($0, columns.map(\.right), db) } ?? [:]
        for (row, key) in zip(rows, keys) {
            row.prefetchedRows.insert(key.flatMap { found[$0] } ?? [], forKey: way.prefetch.key, at: path.map(\.key))
        }
    }

    /// Returns the query for the associated rows of `rows`; nil if there can be none.
    func query(for rows: [Row], of origin: SQLQuery, at path: [SQLJoin], _ db: Database) throws -> SQLQuery? {
        let way = way(along: path)
        let columns = try way.prefetch.association.steps[0].condition.columns(db)
        let keys = try rows.map { try Self.key(of: $0, at: way.keyPath, columns.map(\.left)) }
        return try way.prefetch.query(for: keys, of: way.keyPath.isEmpty ? origin : nil, columns, db)
    }

    /// Returns the prefetch as seen from the first row of the path, where foreign keys make the rows in between
    /// unnecessary.
    private func way(along path: [SQLJoin]) -> (prefetch: SQLPrefetch, keyPath: [String]) {
        if !path.isEmpty, path.allSatisfy(\.condition.isForeignKey) {
            return (SQLPrefetch(association: association.behind(path)), [])
        }
        return (self, path.map(\.key))
    }

    /// Returns the values that rows belong to; nil when one of them is NULL.
    private static func key(of row: Row, at path: [String], _ columns: [String]) throws -> [DatabaseValue]? {
        guard let row = path.reduce(row, { $0?.scopes[$1] }) else { return nil }
        let values = try columns.map { column in
            guard let index = row.index(of: column) else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: """
                        including(all:) needs the column \(column), which the request does not select: select it, too
                        """)
            }
            return row.databaseValue(at: index)
        }
        return values.contains(where: \.isNull) ? nil : values
    }

    /// Orders keys, so that the same keys give the same SQL.
    private static func isOrdered(_ lhs: [DatabaseValue], _ rhs: [DatabaseValue]) -> Bool {
        for (left, right) in zip(lhs, rhs) where left != right {
            return switch (left.storage, right.storage) {
            case (.int64(let left), .int64(let right)): left < right
            case (.string(let left), .string(let right)): left < right
            default: left.description < right.description
            }
        }
        return false
    }

    private static func fetch(
        _ query: SQLQuery, _ columns: [String], _ db: Database
    ) throws -> [[DatabaseValue]: [Row]] {
        let pivots = columns.map(SQLAssociation.originColumn)
        var found: [[DatabaseValue]: [Row]] = [:]
        for row in try query.prepared(db).allRows(db) {
            let origin = row.unadapted
            found[pivots.map { origin[$0] }, default: []].append(row)
        }
        return found
    }

    /// Returns the query for the rows that belong to some keys.
    ///
    /// - parameter origin: the query that returned the keys, which need not be repeated then. Nil if it can't return
    ///   them.
    private func query(
        for keys: [[DatabaseValue]?], of origin: SQLQuery?, _ columns: [(left: String, right: String)],
        _ db: Database
    ) throws -> SQLQuery? {
        let keys = Set(keys.compactMap { $0 }).sorted(by: Self.isOrdered)
        guard !keys.isEmpty else { return nil }
        if columns.count > 1, let origin, try origin.returnsSameRows(db) {
            return query(forKeysOf: origin.selecting(columns.map(\.left)))
        }
        return query(for: keys)
    }

    private func query(for keys: [[DatabaseValue]]) -> SQLQuery {
        association.query(selectingOrigins: true) { _, columns in
            if columns.count == 1 {
                return .list(Column(columns[0].right).sqlExpression, in: keys.map { .value($0[0]) })
            }
            return .matching(keys.map { key in zip(columns, key).map { (column: $0.right, value: $1) } })
        }
    }

    private func query(forKeysOf origin: SQLQuery) -> SQLQuery {
        let keys = SQLSubquery(node: .table(Self.originTable))
        var query = association.query(selectingOrigins: true) { _, columns in
            let row = SQLExpression(node: .row(columns.map { Column($0.right).sqlExpression }))
            return SQLExpression(node: .contained(row, in: keys, isNegated: false))
        }
        query.relation.define(
            SQLCommonTable(
                name: Self.originTable, columns: nil, isRecursive: false, query: SQLSubquery(node: .query(origin))))
        return query
    }

    /// The table alias that GRDB uses.
    private static let originTable = "grdb_base"

    /// Returns the region that the prefetched rows come from, for all base rows.
    func databaseRegion(at path: [SQLJoin], _ db: Database) throws -> DatabaseRegion {
        if !path.isEmpty, path.allSatisfy(\.condition.isForeignKey) {
            return try SQLPrefetch(association: association.behind(path)).databaseRegion(at: [], db)
        }
        return try association.query(selectingOrigins: true) { _, columns in
            .associative(.and, columns.map { .comparison(Column($0.right).sqlExpression, .isNot, .null) })
        }.databaseRegion(db)
    }
}

extension SQLQuery {
    /// Returns the query for some columns of its rows.
    func selecting(_ columns: [String]) -> SQLQuery {
        var query = self
        query.isDistinct = false
        query.relation = relation.unselected
        query.relation.selection = [{ _ in columns.map { Column($0).sqlSelection } }]
        if limit == nil { query.relation.removeOrder() }
        return query
    }

    /// Returns true if the query certainly returns the same rows with another selection. A limit needs a unique
    /// order for that, and no condition may use a name that the selection defines.
    fileprivate func returnsSameRows(_ db: Database) throws -> Bool {
        guard grouping == nil, having.isEmpty, try relation.selectsColumnsOnly(db) else { return false }
        if limit == nil { return true }
        guard relation.joins.isEmpty, !isDistinct else { return false }
        let key = try db.primaryKey(relation.source.tableName).columns
        let order = try relation.ordering(db, isReversed: false) { key.map { Column($0).sqlOrdering } }
        let columns = Set(order.compactMap { $0.columnName?.foldedSQLName })
        return key.allSatisfy { columns.contains($0.foldedSQLName) }
    }
}

extension SQLRelation {
    fileprivate func selectsColumnsOnly(_ db: Database) throws -> Bool {
        try selection(db).allSatisfy(\.isColumns) && joins.allSatisfy { try $0.relation.selectsColumnsOnly(db) }
    }
}

extension SQLSelection {
    /// True if columns are selected under their own names, or under a name that prefetching assigns.
    fileprivate var isColumns: Bool {
        switch node {
        case .allColumns, .someColumns: true
        case .expression(let expression): expression.columnName != nil
        case .named(_, let name): name.hasPrefix(SQLAssociation.originColumn(""))
        case .qualified(let selection, _): selection.isColumns
        case .literal: false
        }
    }
}

extension SQLOrdering {
    fileprivate var columnName: String? {
        switch node {
        case .expression(let expression), .term(let expression, _): expression.columnName
        case .qualified(let ordering, _): ordering.columnName
        case .literal: nil
        }
    }
}

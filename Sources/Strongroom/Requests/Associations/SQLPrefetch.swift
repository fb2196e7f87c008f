/// Rows that are fetched for the rows of another query: `including(all:)`.
struct SQLPrefetch: Sendable {
    private(set) var association: SQLAssociation

    /// Under which name they hang on the row that they are for.
    var key: String { association.prefetchKey }

    mutating func changeRelations(_ change: (inout SQLRelation) -> Void) {
        association.changeRelations(change)
    }

    /// What both ask for; nil where they go different ways.
    func merged(with other: SQLPrefetch) -> SQLPrefetch? {
        guard association.isSameWay(as: other.association) else { return nil }
        var merged = self
        merged.association.destination.query.relation.merge(other.association.destination.query.relation)
        return merged
    }

    /// Fetches what belongs to `rows`, and hangs it on them.
    ///
    /// - parameter path: the joins that lead to the row that counts.
    func fetch(for rows: [Row], at path: [SQLJoin], _ db: Database) throws {
        guard !rows.isEmpty else { return }
        let way = way(along: path)
        let columns = try way.prefetch.association.steps[0].condition.columns(db)
        let keys = try rows.map { try Self.key(of: $0, at: way.keyPath, columns.map(\.left)) }
        let found = try way.prefetch.fetch(Set(keys.compactMap { $0 }).sorted(by: Self.isOrdered), columns.map(\.right), db)
        for (row, key) in zip(rows, keys) {
            row.prefetchedRows.insert(key.flatMap { found[$0] } ?? [], forKey: way.prefetch.key, at: path.map(\.key))
        }
    }

    /// The queries of what belongs to `rows`: one, unless there are too many keys.
    func queries(for rows: [Row], at path: [SQLJoin], _ db: Database) throws -> [SQLQuery] {
        let way = way(along: path)
        let columns = try way.prefetch.association.steps[0].condition.columns(db)
        let keys = try rows.compactMap { try Self.key(of: $0, at: way.keyPath, columns.map(\.left)) }
        return way.prefetch.batches(of: Set(keys).sorted(by: Self.isOrdered), columns: columns.count, db)
            .map(way.prefetch.query)
    }

    /// What the first row refers to says enough, so that nothing need be selected of the rows between.
    private func way(along path: [SQLJoin]) -> (prefetch: SQLPrefetch, keyPath: [String]) {
        if !path.isEmpty, path.allSatisfy(\.condition.isForeignKey) {
            return (SQLPrefetch(association: association.behind(path)), [])
        }
        return (self, path.map(\.key))
    }

    /// The values that rows belong to; nil when one of them is NULL.
    private static func key(of row: Row, at path: [String], _ columns: [String]) throws -> [DatabaseValue]? {
        guard let row = path.reduce(row, { $0?.scopes[$1] }) else { return nil }
        let values = try columns.map { column in
            guard let index = row.index(of: column) else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "including(all:) needs the column \(column), which the request does not select: select it, too")
            }
            return row.databaseValue(at: index)
        }
        return values.contains(where: \.isNull) ? nil : values
    }

    /// The same order for the same keys, so that the same rows are fetched by the same SQL.
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

    private func fetch(
        _ keys: [[DatabaseValue]], _ columns: [String], _ db: Database) throws -> [[DatabaseValue]: [Row]]
    {
        let pivots = columns.map(SQLAssociation.originColumn)
        var found: [[DatabaseValue]: [Row]] = [:]
        for some in batches(of: keys, columns: columns.count, db) {
            for row in try query(for: some).prepared(db).allRows(db) {
                let origin = row.unadapted
                found[pivots.map { origin[$0] }, default: []].append(row)
            }
        }
        return found
    }

    /// As many keys as one statement takes, each.
    private func batches(of keys: [[DatabaseValue]], columns: Int, _ db: Database) -> [[[DatabaseValue]]] {
        // Half of what a statement takes: the association has arguments of its own.
        let size = max(1, db.maximumStatementArgumentCount / 2 / max(1, columns))
        return stride(from: 0, to: keys.count, by: size).map { Array(keys[$0..<min($0 + size, keys.count)]) }
    }

    private func query(for keys: [[DatabaseValue]]) -> SQLQuery {
        association.query(selectingOrigins: true) { _, columns in
            if columns.count == 1 { return .list(Column(columns[0].right).sqlExpression, in: keys.map { .value($0[0]) }) }
            return .associative(.or, keys.map { key in
                .associative(.and, zip(columns, key).map {
                    .equality(Column($0.right).sqlExpression, .equal, .value($1))
                })
            })
        }
    }

    /// What the rows are fetched from, whatever rows they are for.
    func databaseRegion(at path: [SQLJoin], _ db: Database) throws -> DatabaseRegion {
        if !path.isEmpty, path.allSatisfy(\.condition.isForeignKey) {
            return try SQLPrefetch(association: association.behind(path)).databaseRegion(at: [], db)
        }
        let columns = try association.steps[0].condition.columns(db)
        // Two keys that are no rowids: neither nothing is read, nor single rows.
        return try query(for: [[DatabaseValue]](repeating: columns.map { _ in "".databaseValue }, count: 2)).databaseRegion(db)
    }
}

extension SQLQuery {
    /// The query as a statement, with what its rows show and what belongs to them.
    func prepared(_ db: Database) throws -> PreparedRequest {
        let tables = try JoinedTables(relation, db)
        let statement = try db.reusableStatement { try write(tables, to: &$0) }
        narrowRegion(of: statement, tables)
        let prefetches = tables.prefetches
        var request = try PreparedRequest(statement: statement, adapter: tables.adapter(for: statement, db))
        if prefetches.isEmpty { return request }
        request.prefetch = { db, rows in
            for (path, prefetch) in prefetches { try prefetch.fetch(for: rows, at: path, db) }
        }
        request.associated = { db, rows in
            try prefetches.map { path, prefetch in
                let keyPath = (path.map(\.key) + [prefetch.key]).joined(separator: ".")
                return (keyPath, try prefetch.queries(for: rows, at: path, db))
            }
        }
        return request
    }

    /// What the query reads, further statements included.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        let tables = try JoinedTables(relation, db)
        let statement = try db.reusableStatement { try write(tables, to: &$0) }
        narrowRegion(of: statement, tables)
        return statement.databaseRegion
    }
}

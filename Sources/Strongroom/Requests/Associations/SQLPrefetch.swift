/// Rows that are fetched for the rows of another query: `including(all:)`.
struct SQLPrefetch: Sendable {
    private(set) var association: SQLAssociation

    /// Under which name they hang on the row that they are for.
    var key: String { association.prefetchKey }

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
        // What the first row refers to says enough, so that nothing need be selected of the rows between.
        if !path.isEmpty, path.allSatisfy(\.condition.isForeignKey) {
            return try SQLPrefetch(association: association.behind(path)).fetch(for: rows, keysAt: [], at: path.map(\.key), db)
        }
        try fetch(for: rows, keysAt: path.map(\.key), at: path.map(\.key), db)
    }

    private func fetch(for rows: [Row], keysAt keyPath: [String], at path: [String], _ db: Database) throws {
        let columns = try association.steps[0].condition.columns(db)
        let keys = try rows.map { try Self.key(of: $0, at: keyPath, columns.map(\.left)) }
        let found = try fetch(Set(keys.compactMap { $0 }).sorted(by: Self.isOrdered), columns.map(\.right), db)
        for (row, key) in zip(rows, keys) {
            row.prefetchedRows.insert(key.flatMap { found[$0] } ?? [], forKey: self.key, at: path)
        }
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
        // Half of what a statement takes: the association has arguments of its own.
        let batch = max(1, db.maximumStatementArgumentCount / 2 / max(1, columns.count))
        for start in stride(from: 0, to: keys.count, by: batch) {
            let some = Array(keys[start..<min(start + batch, keys.count)])
            for row in try query(for: some).prepared(db).allRows(db) {
                let origin = row.unadapted
                found[pivots.map { origin[$0] }, default: []].append(row)
            }
        }
        return found
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
        return try PreparedRequest(
            statement: statement,
            adapter: tables.adapter(for: statement, db),
            prefetch: prefetches.isEmpty ? nil : { db, rows in
                for (path, prefetch) in prefetches { try prefetch.fetch(for: rows, at: path, db) }
            })
    }

    /// What the query reads, further statements included.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        let tables = try JoinedTables(relation, db)
        let statement = try db.reusableStatement { try write(tables, to: &$0) }
        narrowRegion(of: statement, tables)
        return statement.databaseRegion
    }
}

/// Rows that are fetched for the rows of another query: `including(all:)`.
struct SQLPrefetch: Sendable {
    let association: SQLAssociation

    /// Under which name they hang on the row that they are for.
    var key: String { association.prefetchKey }

    /// Fetches what belongs to `rows`, and hangs it on them.
    ///
    /// - parameter path: the scopes that lead to the row that counts.
    func fetch(for rows: [Row], at path: [String], _ db: Database) throws {
        guard !rows.isEmpty else { return }
        let columns = try association.steps[0].condition.columns(db)
        let keys = try rows.map { try Self.key(of: $0, at: path, columns.map(\.left)) }
        let found = try fetch(Array(Set(keys.compactMap { $0 })), columns.map(\.right), db)
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
    func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try query(for: []).databaseRegion(db)
    }
}

extension SQLQuery {
    /// The query as a statement, with what its rows show and what belongs to them.
    func prepared(_ db: Database) throws -> PreparedRequest {
        let tables = try JoinedTables(relation, db)
        let statement = try db.reusableStatement { try write(tables, to: &$0) }
        if db.recordedRegion != nil { try narrowRegion(of: statement, db) }
        let prefetches = tables.prefetches
        let pivotCount = try pivots.reduce(0) { try $0 + $1(db).count }
        return try PreparedRequest(
            statement: statement,
            adapter: tables.adapter(for: statement, pivotCount: pivotCount, db),
            prefetch: prefetches.isEmpty ? nil : { db, rows in
                for (path, prefetch) in prefetches { try prefetch.fetch(for: rows, at: path, db) }
            })
    }

    /// What the query reads, further statements included.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        let tables = try JoinedTables(relation, db)
        let statement = try db.reusableStatement { try write(tables, to: &$0) }
        try narrowRegion(of: statement, db)
        return try tables.prefetches.reduce(statement.databaseRegion) { try $0.union($1.prefetch.databaseRegion(db)) }
    }
}

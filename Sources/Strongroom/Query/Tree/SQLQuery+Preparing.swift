extension SQLQuery {
    /// Returns the compiled query, with its row adapter and its prefetches.
    func prepared(_ db: Database) throws -> PreparedRequest {
        let tables = try JoinedTables(relation, db)
        let statement = try db.reusableStatement { try write(tables, to: &$0) }
        narrowRegion(of: statement, tables)
        let prefetches = tables.prefetches
        var request = try PreparedRequest(statement: statement, adapter: tables.adapter(for: statement, db))
        if prefetches.isEmpty { return request }
        request.prefetch = { db, rows in
            for (path, prefetch) in prefetches { try prefetch.fetch(for: rows, of: self, at: path, db) }
        }
        request.associated = { db, rows in
            try prefetches.map { path, prefetch in
                let keyPath = (path.map(\.key) + [prefetch.key]).joined(separator: ".")
                let query = try prefetch.query(for: rows, of: self, at: path, db)
                return (keyPath, query.map { query in { try query.prepared(db) } })
            }
        }
        return request
    }

    /// Returns the region that the query and its prefetches read.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        let tables = try JoinedTables(relation, db)
        let statement = try db.reusableStatement { try write(tables, to: &$0) }
        narrowRegion(of: statement, tables)
        return statement.databaseRegion
    }
}

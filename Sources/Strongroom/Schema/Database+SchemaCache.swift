// The cached facts about the schemas. A connection detects its own changes by its statements, and those of other
// connections by two counters in the file.

extension SchemaCache {
    /// Updates the cache after a statement that may have changed a schema, or rolled such a change back.
    func didRun(_ statement: Statement, isDone: Bool, in db: Database) {
        let isCommitted = db.isAutocommit
        if statement.compilation.changesSchema {
            removeAll()
            isProvisional = !isCommitted
        } else if isProvisional {
            switch statement.compilation.transaction {
            case .rollback, .rollbackSavepoint: removeAll()
            default: if isCommitted { removeAll() }
            }
            if isCommitted { isProvisional = false }
        }
    }
}

extension Database {
    var schemaCache: SchemaCache { part(SchemaCache.self) }

    // MARK: - Sources

    /// Runs `block` with another schema source of the connection, or with none for nil.
    public func withSchemaSource<T>(
        _ schemaSource: (any DatabaseSchemaSource)?, execute block: () throws -> T
    ) rethrows -> T {
        let former = self.schemaSource
        self.schemaSource = schemaSource
        schemaCache.removeViewKeys()
        defer {
            self.schemaSource = former
            schemaCache.removeViewKeys()
        }
        return try block()
    }

    // MARK: - Validity

    /// Discards the cached facts about the schemas, and the prepared statements.
    ///
    /// Only needed after a change of the schema that bypasses SQLite. Changes in SQL, through any connection, are
    /// detected.
    public func clearSchemaCache() {
        requireAccess()
        schemaCache.removeAll()
        statements.removeAll()
    }

    /// Returns the cache. Empties it unless it describes what the next statement will see.
    @discardableResult
    func validateSchemaCache() throws -> SchemaCache {
        requireAccess()
        let cache = schemaCache
        if !cache.isEmpty, cache.settledTransaction != transactions.endings { try validate(cache) }
        return cache
    }

    private func validate(_ cache: SchemaCache) throws {
        if cache.isProvisional, isAutocommit {
            // A failure rolled the transaction back, and its changes of the schema.
            cache.isProvisional = false
            return cache.removeAll()
        }
        for index in cache.stamps.indices where try !isCurrent(stampAt: index) {
            return cache.removeAll()
        }
        let isSettled =
            try transactionState() == .write
            && cache.stamps.allSatisfy {
                try transactionState(of: $0.schemaID.name) != .none
            }
        cache.settledTransaction = isSettled ? transactions.endings : nil
    }

    private func isCurrent(stampAt index: Int) throws -> Bool {
        let stamp = schemaCache.stamps[index]
        // Inside a transaction that has begun to read, its schema can't change. Before, the counter is outdated.
        if try transactionState(of: stamp.schemaID.name) != .none,
            try seenDataVersion(of: stamp.schemaID.name) == stamp.dataVersion
        {
            return true
        }
        guard try schemaVersion(of: stamp.schemaID) == stamp.schemaVersion else { return false }
        schemaCache.stamps[index].dataVersion = try seenDataVersion(of: stamp.schemaID.name)
        return true
    }

    private func makeStamp(of schemaID: DatabaseSchemaID) throws -> SchemaStamp {
        try SchemaStamp(
            schemaID: schemaID,
            schemaVersion: schemaVersion(of: schemaID),
            dataVersion: seenDataVersion(of: schemaID.name))
    }

    private func schemaVersion(of schemaID: DatabaseSchemaID) throws -> Int64 {
        try unrestricted {
            try untraced { try Int64.fetchOne(self, sql: "PRAGMA \(schemaID.sql).schema_version") ?? 0 }
        }
    }

    // MARK: - Contents

    /// The schemas of the connection, in the order in which SQLite looks for a name.
    var schemaSearchOrder: [DatabaseSchemaID] {
        get throws {
            if let known = schemaCache.searchOrder { return known }
            var order = try schemaRows("PRAGMA database_list").map { DatabaseSchemaID(named: $0["name"]) }
            if let index = order.firstIndex(of: .temp) { order.insert(order.remove(at: index), at: 0) }
            schemaCache.searchOrder = order
            return order
        }
    }

    /// Returns the schema with a name, regardless of case. Throws `SQLITE_ERROR` if there is none.
    func schemaID(named name: String) throws -> DatabaseSchemaID {
        let folded = name.foldedSQLName
        if let schemaID = try schemaSearchOrder.first(where: { $0.name.foldedSQLName == folded }) { return schemaID }
        // The schema exists from its first table on.
        if folded == "temp" { return .temp }
        throw DatabaseError(message: "no such schema: \(name)")
    }

    /// Returns the names in a schema.
    func contents(of schemaID: DatabaseSchemaID) throws -> SchemaContents {
        if let known = schemaCache.contents[schemaID] { return known }
        guard try schemaSearchOrder.contains(schemaID) else { return SchemaContents() }
        // The stamp is read first: after a change in between, the stamp is outdated, and not the contents.
        if schemaID != .temp {
            schemaCache.stamps.append(try makeStamp(of: schemaID))
            schemaCache.settledTransaction = nil
        }
        var contents = SchemaContents()
        for row in try schemaRows("SELECT type, name FROM \(schemaID.sql).sqlite_master") {
            let name: String = row["name"]
            switch row["type"] as String {
            case "table", "view":
                let id = DatabaseObjectID(name: name, schemaID: schemaID)
                contents.relations[name.foldedSQLName] = Relation(id: id, isView: row["type"] == "view")
            case "trigger":
                contents.triggers.insert(name.foldedSQLName)
            default:
                break
            }
        }
        schemaCache.contents[schemaID] = contents
        return contents
    }

    /// Returns the rows of a query on a schema. Its statement is not cached, because the result is. It is not traced,
    /// because it is not the program's, and not restricted.
    func schemaRows(_ sql: String) throws -> [Row] {
        try unrestricted { try untraced { try Row.fetchAll(makeStatement(sql: sql)) } }
    }

    /// Returns the rows of a pragma whose argument is the name of a table or an index.
    func schemaRows(pragma: String, _ name: String, in schemaName: String?) throws -> [Row] {
        try schemaRows(Self.pragma(pragma, name, in: schemaName))
    }

    /// Returns the SQL of a pragma whose argument is the name of a table or an index.
    static func pragma(_ pragma: String, _ name: String, in schemaName: String?) -> String {
        let schema = schemaName.map { DatabaseSchemaID(named: $0).sql + "." } ?? ""
        return "PRAGMA \(schema)\(pragma)(\(name.quotedDatabaseIdentifier))"
    }

    // MARK: - Names

    /// Returns the table or view with a name, by SQLite's rules if no schema is given. Nil if there is none.
    ///
    /// - throws: `SQLITE_ERROR` if there is no such schema.
    func relation(_ name: String, in schemaName: String?) throws -> Relation? {
        try validateSchemaCache()
        if let schemaName {
            return try contents(of: schemaID(named: schemaName)).relations[name.foldedSQLName]
        }
        let folded = name.foldedSQLName
        if let known = schemaCache.unqualifiedRelations[folded] { return known }
        for schemaID in try schemaSearchOrder {
            guard let relation = try contents(of: schemaID).relations[folded] else { continue }
            schemaCache.unqualifiedRelations[folded] = relation
            return relation
        }
        return nil
    }

    /// Returns the table or view with a name. Throws `SQLITE_ERROR` if there is none.
    func existingRelation(_ name: String, in schemaName: String?) throws -> Relation {
        guard let relation = try relation(name, in: schemaName) else { throw noSuchTable(name) }
        return relation
    }

    /// Returns the table with a name. Throws `SQLITE_ERROR` if there is none, or if it is a view.
    func existingTable(_ name: String, in schemaName: String?) throws -> Relation {
        guard let table = try relation(name, in: schemaName), !table.isView else { throw noSuchTable(name) }
        return table
    }

    func noSuchTable(_ name: String) -> DatabaseError {
        DatabaseError(message: "no such table: \(name)")
    }
}

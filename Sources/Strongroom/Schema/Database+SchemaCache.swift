// What is known of the schemas, and for how long. A connection learns of its own changes from its statements, and of
// other connections' changes from two counters in the file.

extension SchemaCache {
    /// Updates the cache after a statement that may have changed a schema, or undone such a change.
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

    /// Runs `block` while `schemaSource` is the connection's source, or none with nil.
    public func withSchemaSource<T>(
        _ schemaSource: (any DatabaseSchemaSource)?, execute block: () throws -> T) rethrows -> T
    {
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

    /// Forgets what is known of the schemas, and the prepared statements.
    ///
    /// Needed only where a schema changes behind SQLite's back: changes in SQL, through any connection, are noticed.
    public func clearSchemaCache() {
        requireAccess()
        schemaCache.removeAll()
        statements.removeAll()
    }

    /// Drops the cache unless it describes what the next statement will see.
    func validateSchemaCache() throws {
        requireAccess()
        if schemaCache.isEmpty || schemaCache.settledTransaction == transactions.endings { return }
        if schemaCache.isProvisional, isAutocommit {
            // A failure rolled the transaction back, and the schema with it.
            schemaCache.isProvisional = false
            return schemaCache.removeAll()
        }
        for index in schemaCache.stamps.indices where try !isCurrent(stampAt: index) {
            return schemaCache.removeAll()
        }
        let isSettled = try transactionState() == .write && schemaCache.stamps.allSatisfy {
            try transactionState(of: $0.schemaID.name) != .none
        }
        schemaCache.settledTransaction = isSettled ? transactions.endings : nil
    }

    private func isCurrent(stampAt index: Int) throws -> Bool {
        let stamp = schemaCache.stamps[index]
        // Inside a transaction that has begun to read, nobody else can change what it sees. Before, the counter is
        // stale.
        if try transactionState(of: stamp.schemaID.name) != .none,
           try dataVersion(of: stamp.schemaID.name) == stamp.dataVersion
        {
            return true
        }
        guard try schemaVersion(of: stamp.schemaID) == stamp.schemaVersion else { return false }
        schemaCache.stamps[index].dataVersion = try dataVersion(of: stamp.schemaID.name)
        return true
    }

    private func makeStamp(of schemaID: DatabaseSchemaID) throws -> SchemaStamp {
        try SchemaStamp(
            schemaID: schemaID,
            schemaVersion: schemaVersion(of: schemaID),
            dataVersion: dataVersion(of: schemaID.name))
    }

    private func schemaVersion(of schemaID: DatabaseSchemaID) throws -> Int64 {
        try untraced { try Int64.fetchOne(self, sql: "PRAGMA \(schemaID.sql).schema_version") ?? 0 }
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

    /// The schema of that name, whatever its case; `SQLITE_ERROR` when there is none.
    func schemaID(named name: String) throws -> DatabaseSchemaID {
        let folded = name.foldedSQLName
        if let schemaID = try schemaSearchOrder.first(where: { $0.name.foldedSQLName == folded }) { return schemaID }
        // It comes into being with its first table.
        if folded == "temp" { return .temp }
        throw DatabaseError(message: "no such schema: \(name)")
    }

    /// The names in a schema.
    func contents(of schemaID: DatabaseSchemaID) throws -> SchemaContents {
        if let known = schemaCache.contents[schemaID] { return known }
        guard try schemaSearchOrder.contains(schemaID) else { return SchemaContents() }
        // The stamp comes first: should the schema change in between, the stamp is outdated, not the contents.
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

    /// The rows of a query on a schema. Its statement is not kept: the result is. The program did not ask: its trace
    /// doesn't show it.
    func schemaRows(_ sql: String) throws -> [Row] {
        try untraced { try Row.fetchAll(makeStatement(sql: sql)) }
    }

    /// The rows of a pragma whose argument is the name of a table or an index.
    func schemaRows(pragma: String, _ name: String, in schemaName: String?) throws -> [Row] {
        try schemaRows(Self.pragma(pragma, name, in: schemaName))
    }

    /// A pragma whose argument is the name of a table or an index.
    static func pragma(_ pragma: String, _ name: String, in schemaName: String?) -> String {
        let schema = schemaName.map { DatabaseSchemaID(named: $0).sql + "." } ?? ""
        return "PRAGMA \(schema)\(pragma)(\(name.quotedDatabaseIdentifier))"
    }

    // MARK: - Names

    /// The table or view that a name stands for, by SQLite's rules when no schema is given; nil when there is none.
    ///
    /// - throws: `SQLITE_ERROR` when there is no such schema.
    func relation(_ name: String, in schemaName: String?) throws -> Relation? {
        try validateSchemaCache()
        if let schemaName {
            return try contents(of: schemaID(named: schemaName)).relations[name.foldedSQLName]
        }
        if let known = schemaCache.unqualifiedRelations[name] { return known }
        let folded = name.foldedSQLName
        for schemaID in try schemaSearchOrder {
            guard let relation = try contents(of: schemaID).relations[folded] else { continue }
            schemaCache.unqualifiedRelations[name] = relation
            return relation
        }
        return nil
    }

    /// The table or view that a name stands for; `SQLITE_ERROR` when there is none.
    func existingRelation(_ name: String, in schemaName: String?) throws -> Relation {
        guard let relation = try relation(name, in: schemaName) else { throw noSuchTable(name) }
        return relation
    }

    /// The table that a name stands for; `SQLITE_ERROR` when there is none, or when it is a view.
    func existingTable(_ name: String, in schemaName: String?) throws -> Relation {
        guard let table = try relation(name, in: schemaName), !table.isView else { throw noSuchTable(name) }
        return table
    }

    func noSuchTable(_ name: String) -> DatabaseError {
        DatabaseError(message: "no such table: \(name)")
    }
}

extension Database {
    /// Notifies observers that a region has changed in a way that SQLite doesn't report.
    ///
    /// Use it for changes through ``sqliteConnection``, by other processes, or in tables that SQLite doesn't report:
    /// see ``TransactionObserver``. The changes belong to the current transaction. If there is none, they count as a
    /// transaction of their own.
    ///
    /// Does nothing if only reads are allowed.
    ///
    /// - throws: the error of the region.
    public func notifyChanges(in region: some DatabaseRegionConvertible) throws {
        requireAccess()
        if configuration.readonly || transactions.readOnlyDepth > 0 { return }
        guard isInsideTransaction else {
            return try inTransaction(.immediate) {
                try notifyChanges(in: region)
                return .commit
            }
        }
        let region = try region.databaseRegion(self)
        try observers.notifyOfChanges(eventKinds(of: region), isEverything: region.isFullDatabase)
    }

    /// Adds a region to those that the running function of a ``ValueObservation`` has read. Does nothing outside of
    /// one.
    ///
    /// Use it in functions that depend on data that SQLite doesn't report. The region is evaluated only inside such a
    /// function.
    ///
    /// - throws: the error of the region.
    public func registerAccess(to region: @autoclosure () -> some DatabaseRegionConvertible) throws {
        requireAccess()
        guard recordsReads else { return }
        let region = try region().databaseRegion(self)
        part(RegionRecorder.self).add(region)
    }

    /// Runs `value`, and returns its result and the region that it read, without SQLite's own tables, whose changes
    /// can't be distinguished.
    ///
    /// Called in a transaction block, which sees all statements.
    func recordingRegion<T>(_ value: () throws -> T) throws -> (T, DatabaseRegion) {
        let recorder = part(RegionRecorder.self), outer = recorder.begin()
        let result = Result(catching: value)
        let region = recorder.end(resuming: outer)
        return try (result.get(), region.ignoringTables(where: Database.isSQLiteInternalTable))
    }

    /// Returns the region that the statement reads, without views: their tables are in it.
    func observedRegion(of statement: Statement) -> DatabaseRegion {
        let region = statement.databaseRegion, views = statement.compilation.views
        if views.isEmpty { return region }
        // If it is unknown, the name stays.
        return (try? region.ignoringTables { try views.contains($0) && isView($0) }) ?? region
    }

    /// Returns true if a name is that of a view, and not of a table in any schema.
    private func isView(_ name: String) throws -> Bool {
        try validateSchemaCache()
        let relations = try schemaSearchOrder.compactMap { try contents(of: $0).relations[name.foldedSQLName] }
        return !relations.isEmpty && relations.allSatisfy(\.isView)
    }

    /// Returns all kinds of changes that modify a region.
    private func eventKinds(of region: DatabaseRegion) throws -> [DatabaseEventKind] {
        try (region.tableNames ?? allTableNames()).flatMap { name -> [DatabaseEventKind] in
            // Without a temporary table, SQLite has no list of them.
            let isTemporary = Self.temporarySchemaTables.contains(name.foldedSQLName)
            if isTemporary, try !schemaSearchOrder.contains(.temp) { return [] }
            // Observers compare names with those of the schema.
            let table = try relation(name, in: nil)?.id.name ?? name
            let columns = try region.columnNames(of: table) ?? Set(columns(in: table).map(\.name))
            return [
                .insert(tableName: table), .delete(tableName: table), .update(tableName: table, columnNames: columns),
            ]
        }
    }

    private static let temporarySchemaTables: Set = ["sqlite_temp_master", "sqlite_temp_schema"]

    private func allTableNames() throws -> [String] {
        try String.fetchAll(self, sql: "SELECT name FROM pragma_table_list WHERE type <> 'view'")
            .filter { !Database.isSQLiteInternalTable($0) }
    }
}

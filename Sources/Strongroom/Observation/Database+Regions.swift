import CStrongroom

extension Database {
    /// Notifies observers that something changed in a region, which SQLite itself doesn't report.
    ///
    /// For changes made through ``sqliteConnection``, by other processes, or to tables that SQLite doesn't report:
    /// see ``TransactionObserver``. They are part of the current transaction, or at once of one of their own.
    ///
    /// Does nothing where only reads are allowed.
    ///
    /// - throws: what the region throws.
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

    /// Counts a region as read by the function of a ``ValueObservation`` that runs at this moment; does nothing
    /// otherwise.
    ///
    /// For functions that depend on more than SQLite reports. The region is made only when it is recorded.
    ///
    /// - throws: what the region throws.
    public func registerAccess(to region: @autoclosure () -> some DatabaseRegionConvertible) throws {
        requireAccess()
        guard recordsReads else { return }
        let region = try region().databaseRegion(self)
        part(RegionRecorder.self).add(region)
    }

    /// Runs `value`, and returns the region that it read, without SQLite's own tables: their changes can't be told
    /// apart.
    ///
    /// Call it in a transaction block, where all runs are seen.
    func recordingRegion<T>(_ value: () throws -> T) throws -> (T, DatabaseRegion) {
        let recorder = part(RegionRecorder.self), outer = recorder.begin()
        let result = Result(catching: value)
        let region = recorder.end(resuming: outer)
        return try (result.get(), region.ignoringTables(where: Database.isSQLiteInternalTable))
    }

    /// The region that the statement reads, without the views: what changes is what they read.
    func observedRegion(of statement: Statement) -> DatabaseRegion {
        let region = statement.databaseRegion, views = statement.compilation.views
        if views.isEmpty { return region }
        // In doubt, the name stays.
        return (try? region.ignoringTables { try views.contains($0) && isView($0) }) ?? region
    }

    /// A Boolean value that indicates whether a name is that of a view, and of no table in any schema.
    private func isView(_ name: String) throws -> Bool {
        try validateSchemaCache()
        let relations = try schemaSearchOrder.compactMap { try contents(of: $0).relations[name.foldedSQLName] }
        return !relations.isEmpty && relations.allSatisfy(\.isView)
    }

    /// All kinds of changes that modify a region.
    private func eventKinds(of region: DatabaseRegion) throws -> [DatabaseEventKind] {
        try (region.tableNames ?? allTableNames()).flatMap { name -> [DatabaseEventKind] in
            // Without a temporary table, there is no list of them.
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

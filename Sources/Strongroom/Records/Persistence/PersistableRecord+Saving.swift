// The functions of `MutablePersistableRecord` that don't change the record here.

extension PersistableRecord {
    // MARK: - Insert

    /// Inserts the record.
    ///
    /// - parameter conflictResolution: by default that of `persistenceConflictPolicy`.
    /// - throws: `SQLITE_CONSTRAINT` and its variants; the errors of callbacks.
    public func insert(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil) throws {
        var record = self
        try record.insertCore(db, conflictResolution)
    }

    /// Inserts the record; returns the row as it is now, as a record of some type.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when the conflict resolution left the record
    ///   out.
    public func insertAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type) throws -> T
    {
        var record = self
        return try record.insertAndFetchCore(db, conflictResolution, returnedType)
    }

    /// Inserts the record; returns what `fetch` makes of the statement that returns the selection.
    public func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T) throws -> T
    {
        Self.requireSelection(selection)
        return try withoutActuallyEscaping(fetch) {
            var record = self
            return try Returning(selection: selection, fetch: $0).value {
                try record.insertCore(db, conflictResolution, $0)
            }
        }
    }

    /// Inserts the record; returns what `fetch` makes of the statement that returns the selection.
    public func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        fetch: (Statement) throws -> T,
        select: (DatabaseComponents) throws -> [any SQLSelectable]) throws -> T
    {
        try insertAndFetch(
            db, onConflict: conflictResolution, selection: select(Self.databaseComponents), fetch: fetch)
    }

    // MARK: - Save

    /// Updates the row of the record's primary key; inserts the record where there is none, or where the key is NULL.
    ///
    /// - parameter conflictResolution: by default that of `persistenceConflictPolicy`.
    public func save(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil) throws {
        var record = self
        try record.saveCore(db, conflictResolution)
    }

    /// Saves the record; returns the row as it is now, as a record of some type.
    public func saveAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type) throws -> T
    {
        var record = self
        return try record.saveAndFetchCore(db, conflictResolution, returnedType)
    }

    /// Saves the record; returns what `fetch` makes of the statement that returns the selection.
    public func saveAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T) throws -> T
    {
        Self.requireSelection(selection)
        return try withoutActuallyEscaping(fetch) {
            var record = self
            return try Returning(selection: selection, fetch: $0).value {
                try record.saveCore(db, conflictResolution, $0)
            }
        }
    }

    // MARK: - Upsert

    /// Inserts the record, or updates the row that it conflicts with, in one statement.
    ///
    /// All columns are overwritten but the primary key. Callbacks are those of an insertion.
    ///
    /// Source: <https://www.sqlite.org/lang_upsert.html>.
    public func upsert(_ db: Database) throws {
        var record = self
        try record.upsertCore(db)
    }

    /// Upserts the record; returns the row as it is now.
    ///
    /// - parameter conflictTarget: the columns of the unique key that may conflict; by default any.
    /// - parameter strategy: what happens to columns without an assignment. Default: they are overwritten.
    /// - parameter assignments: what the update does, given the row that was to be inserted.
    public func upsertAndFetch(
        _ db: Database,
        onConflict conflictTarget: [String] = [], updating strategy: UpsertUpdateStrategy = .allColumns,
        doUpdate assignments: ((TableAlias<Self>) -> [ColumnAssignment])? = nil) throws -> Self
        where Self: FetchableRecord
    {
        try upsertAndFetch(db, as: Self.self, onConflict: conflictTarget, updating: strategy, doUpdate: assignments)
    }

    /// Upserts the record; returns the row as it is now, as a record of some type.
    ///
    /// - parameter conflictTarget: the columns of the unique key that may conflict; by default any.
    /// - parameter strategy: what happens to columns without an assignment. Default: they are overwritten.
    /// - parameter assignments: what the update does, given the row that was to be inserted.
    public func upsertAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, as returnedType: T.Type,
        onConflict conflictTarget: [String] = [], updating strategy: UpsertUpdateStrategy = .allColumns,
        doUpdate assignments: ((TableAlias<Self>) -> [ColumnAssignment])? = nil) throws -> T
    {
        var record = self
        return try record.upsertCore(
            db, as: returnedType, Upsert(conflictTarget, strategy, assignments?(TableAlias(name: "excluded")) ?? []))
    }
}

// The functions of `MutablePersistableRecord` that don't change the record here.

extension PersistableRecord {
    // MARK: - Insert

    /// Inserts the record.
    ///
    /// - parameters:
    ///   - db: the connection.
    ///   - conflictResolution: the conflict resolution. Default: that of `persistenceConflictPolicy`.
    /// - throws: `SQLITE_CONSTRAINT` and its variants; the errors of callbacks.
    @inlinable
    public func insert(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil) throws {
        var record = self
        try record.insertCore(db, conflictResolution)
    }

    /// Inserts the record and returns the row as a record of another type.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when the conflict resolution left the record
    ///   out.
    public func insertAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        var record = self
        return try record.insertAndFetchCore(db, conflictResolution, returnedType)
    }

    /// Inserts the record and returns the result of `fetch` on the statement that returns the selection.
    public func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
        Self.requireSelection(selection)
        return try withoutActuallyEscaping(fetch) {
            var record = self
            return try Returning(selection: selection, fetch: $0).value {
                try record.insertCore(db, conflictResolution, $0)
            }
        }
    }

    /// Inserts the record and returns the result of `fetch` on the statement that returns the selection.
    public func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        fetch: (Statement) throws -> T,
        select: (DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> T {
        try insertAndFetch(
            db, onConflict: conflictResolution, selection: select(Self.databaseComponents), fetch: fetch)
    }

    // MARK: - Save

    /// Updates the row with the record's primary key. Inserts the record if there is no such row, or if the key is
    /// NULL.
    ///
    /// - parameters:
    ///   - db: the connection.
    ///   - conflictResolution: the conflict resolution. Default: that of `persistenceConflictPolicy`.
    public func save(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil) throws {
        var record = self
        try record.saveCore(db, conflictResolution)
    }

    /// Saves the record and returns the row as a record of another type.
    public func saveAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        var record = self
        return try record.saveAndFetchCore(db, conflictResolution, returnedType)
    }

    /// Saves the record and returns the result of `fetch` on the statement that returns the selection.
    public func saveAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
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
    /// All columns but the primary key are overwritten. The callbacks are those of an insertion.
    ///
    /// Source: <https://www.sqlite.org/lang_upsert.html>.
    public func upsert(_ db: Database) throws {
        var record = self
        try record.upsertCore(db)
    }

    /// Upserts the record and returns the resulting row.
    ///
    /// - parameters:
    ///   - db: the connection.
    ///   - conflictTarget: the columns of the unique key that may conflict. Default: any unique key.
    ///   - strategy: the treatment of columns without an assignment. Default: they are overwritten.
    ///   - assignments: returns the assignments of the update, given the row that could not be inserted.
    public func upsertAndFetch(
        _ db: Database,
        onConflict conflictTarget: [String] = [], updating strategy: UpsertUpdateStrategy = .allColumns,
        doUpdate assignments: ((TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> Self
    where Self: FetchableRecord {
        try upsertAndFetch(db, as: Self.self, onConflict: conflictTarget, updating: strategy, doUpdate: assignments)
    }

    /// Upserts the record and returns the resulting row as a record of another type.
    ///
    /// - parameters:
    ///   - db: the connection.
    ///   - returnedType: the type of the returned record.
    ///   - conflictTarget: the columns of the unique key that may conflict. Default: any unique key.
    ///   - strategy: the treatment of columns without an assignment. Default: they are overwritten.
    ///   - assignments: returns the assignments of the update, given the row that could not be inserted.
    public func upsertAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, as returnedType: T.Type,
        onConflict conflictTarget: [String] = [], updating strategy: UpsertUpdateStrategy = .allColumns,
        doUpdate assignments: ((TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> T {
        var record = self
        return try record.upsertCore(
            db, as: returnedType, Upsert(conflictTarget, strategy, assignments?(TableAlias(name: "excluded")) ?? []))
    }
}

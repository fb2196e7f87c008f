// Inserting, saving, deleting. The functions that return records use `RETURNING`:
// <https://www.sqlite.org/lang_returning.html>.

extension MutablePersistableRecord {
    // MARK: - Insert

    /// Inserts the record.
    ///
    /// - parameters:
    ///   - db: the connection.
    ///   - conflictResolution: the conflict resolution. Default: that of ``persistenceConflictPolicy``.
    /// - throws: `SQLITE_CONSTRAINT` and its variants; the errors of callbacks.
    @inlinable
    public mutating func insert(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws {
        try insertCore(db, conflictResolution)
    }

    /// Inserts the record and returns the row as a record of another type.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when the conflict resolution left the record
    ///   out.
    public mutating func insertAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        try insertAndFetchCore(db, conflictResolution, returnedType)
    }

    /// Inserts the record and returns the result of `fetch` on the statement that returns the selection.
    public mutating func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
        Self.requireSelection(selection)
        return try withoutActuallyEscaping(fetch) {
            try Returning(selection: selection, fetch: $0).value { try insertCore(db, conflictResolution, $0) }
        }
    }

    /// Inserts the record and returns the result of `fetch` on the statement that returns the selection.
    public mutating func insertAndFetch<T>(
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
    ///   - conflictResolution: the conflict resolution. Default: that of ``persistenceConflictPolicy``.
    public mutating func save(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws {
        try saveCore(db, conflictResolution)
    }

    /// Saves the record and returns the row as a record of another type.
    public mutating func saveAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        try saveAndFetchCore(db, conflictResolution, returnedType)
    }

    /// Saves the record and returns the result of `fetch` on the statement that returns the selection.
    public mutating func saveAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
        Self.requireSelection(selection)
        return try withoutActuallyEscaping(fetch) {
            try Returning(selection: selection, fetch: $0).value { try saveCore(db, conflictResolution, $0) }
        }
    }

    // MARK: - Upsert

    /// Inserts the record, or updates the row that it conflicts with, in one statement.
    ///
    /// All columns but the primary key are overwritten. The callbacks are those of an insertion.
    ///
    /// Source: <https://www.sqlite.org/lang_upsert.html>.
    public mutating func upsert(_ db: Database) throws {
        try upsertCore(db)
    }

    /// Upserts the record and returns the resulting row.
    ///
    /// - parameters:
    ///   - db: the connection.
    ///   - conflictTarget: the columns of the unique key that may conflict. Default: any unique key.
    ///   - strategy: the treatment of columns without an assignment. Default: they are overwritten.
    ///   - assignments: returns the assignments of the update, given the row that could not be inserted.
    public mutating func upsertAndFetch(
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
    public mutating func upsertAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, as returnedType: T.Type,
        onConflict conflictTarget: [String] = [], updating strategy: UpsertUpdateStrategy = .allColumns,
        doUpdate assignments: ((TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> T {
        try upsertCore(
            db, as: returnedType, Upsert(conflictTarget, strategy, assignments?(TableAlias(name: "excluded")) ?? []))
    }
}

extension MutablePersistableRecord {
    // MARK: - Copies

    /// Inserts a copy of the record and returns it.
    public func inserted(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self {
        var record = self
        try record.insertCore(db, conflictResolution)
        return record
    }

    /// Saves a copy of the record and returns it.
    public func saved(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self {
        var record = self
        try record.saveCore(db, conflictResolution)
        return record
    }

    /// Inserts the record and returns the resulting row.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when the conflict resolution left the record
    ///   out.
    public func insertAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self
    where Self: FetchableRecord {
        var record = self
        return try record.insertAndFetchCore(db, conflictResolution, Self.self)
    }

    /// Saves the record and returns the resulting row.
    public func saveAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self
    where Self: FetchableRecord {
        var record = self
        return try record.saveAndFetchCore(db, conflictResolution, Self.self)
    }

    mutating func insertAndFetchCore<T: FetchableRecord & TableRecord>(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, _ type: T.Type
    ) throws -> T {
        do {
            return try Self.returningRecord(type).value { try insertCore(db, conflictResolution, $0) }
        } catch is NoRow {
            throw recordNotFound(db)
        }
    }

    mutating func saveAndFetchCore<T: FetchableRecord & TableRecord>(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, _ type: T.Type
    ) throws -> T {
        do {
            return try Self.returningRecord(type).value { try saveCore(db, conflictResolution, $0) }
        } catch is NoRow {
            throw recordNotFound(db)
        }
    }

    // MARK: - Delete

    /// Deletes the row with the record's primary key. Returns true if there was one.
    @discardableResult
    public func delete(_ db: Database) throws -> Bool {
        try willDelete(db)
        var deleted: Bool?
        try aroundDelete(db) {
            let hasDeleted = try deleteWithoutCallbacks(db)
            deleted = hasDeleted
            return hasDeleted
        }
        guard let deleted else { throw Self.notDone("aroundDelete", "delete") }
        didDelete(deleted: deleted)
        return deleted
    }

    private func deleteWithoutCallbacks(_ db: Database) throws -> Bool {
        let writer = try RecordWriter(db, self)
        guard let statement = try writer.deleteStatement() else { return false }
        let changes = ChangeCount(db, inTable: writer.tableName)
        try statement.run()
        return try changes.ofLatestStatement() > 0
    }

    /// Returns a Boolean value that indicates whether the table has a row with the record's primary key.
    public func exists(_ db: Database) throws -> Bool {
        guard let statement = try RecordWriter(db, self).existsStatement() else { return false }
        return try Bool.fetchOne(statement)!
    }
}

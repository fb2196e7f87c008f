// Updating. The functions that return records use `RETURNING`: <https://www.sqlite.org/lang_returning.html>.

extension MutablePersistableRecord {
    // MARK: - Update

    /// Updates all columns of the row with the record's primary key.
    ///
    /// - parameters:
    ///   - db: the connection.
    ///   - conflictResolution: the conflict resolution. Default: that of ``persistenceConflictPolicy``.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no such row; `SQLITE_CONSTRAINT`
    ///   and its variants; the errors of callbacks.
    public func update(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil) throws {
        try updateCore(db, conflictResolution)
    }

    /// Updates some columns of the row with the record's primary key.
    public func update(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<String>
    ) throws {
        try updateCore(db, conflictResolution, columns: Set(columns))
    }

    /// Updates some columns of the row with the record's primary key.
    public func update(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<some ColumnExpression>
    ) throws {
        try update(db, onConflict: conflictResolution, columns: columns.map(\.name))
    }

    // MARK: - Update and return

    /// Updates all columns and returns the resulting row.
    public func updateAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self
    where Self: FetchableRecord {
        try updateAndFetch(db, onConflict: conflictResolution, as: Self.self)
    }

    /// Updates all columns and returns the resulting row as a record of another type.
    public func updateAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        try Self.returningRecord(returnedType).value { try updateCore(db, conflictResolution, $0) }
    }

    /// Updates all columns and returns the result of `fetch` on the statement that returns the selection.
    public func updateAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
        try updateAndFetch(db, conflictResolution, columns: nil, selection, fetch)
    }

    /// Updates some columns and returns the result of `fetch` on the statement that returns the selection.
    public func updateAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<String>, selection: [any SQLSelectable], fetch: (Statement) throws -> T
    ) throws -> T {
        try updateAndFetch(db, conflictResolution, columns: Set(columns), selection, fetch)
    }

    /// Updates some columns and returns the result of `fetch` on the statement that returns the selection.
    public func updateAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<some ColumnExpression>, selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
        try updateAndFetch(db, conflictResolution, columns: Set(columns.map(\.name)), selection, fetch)
    }

    private func updateAndFetch<T>(
        _ db: Database,
        _ conflictResolution: Database.ConflictResolution?,
        columns: Set<String>?,
        _ selection: [any SQLSelectable],
        _ fetch: (Statement) throws -> T
    ) throws -> T {
        Self.requireSelection(selection)
        return try withoutActuallyEscaping(fetch) {
            try Returning(selection: selection, fetch: $0).value {
                try updateCore(db, conflictResolution, columns: columns, $0)
            }
        }
    }

    // MARK: - Update what changed

    /// Updates the columns that differ from another record. Returns true if there was one.
    @discardableResult
    public func updateChanges<Record: MutablePersistableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        from record: Record
    ) throws -> Bool {
        let columns = try databaseChanges(from: record).keys
        if columns.isEmpty { return false }
        try update(db, onConflict: conflictResolution, columns: columns)
        return true
    }

    /// Modifies the record and updates the columns that changed. Returns true if there was one.
    @discardableResult
    public mutating func updateChanges(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        modify: (inout Self) throws -> Void
    ) throws -> Bool {
        let columns = try databaseChanges(modify: modify).keys
        if columns.isEmpty { return false }
        try update(db, onConflict: conflictResolution, columns: columns)
        return true
    }

    /// Modifies the record, and updates the columns that changed; returns the row as it is now, nil when nothing
    /// changed.
    public mutating func updateChangesAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        modify: (inout Self) throws -> Void
    ) throws -> Self?
    where Self: FetchableRecord {
        try updateChangesAndFetch(db, onConflict: conflictResolution, as: Self.self, modify: modify)
    }

    /// Modifies the record, and updates the columns that changed; returns the row as it is now, as a record of some
    /// type, nil when nothing changed.
    public mutating func updateChangesAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type,
        modify: (inout Self) throws -> Void
    ) throws -> T? {
        let columns = try databaseChanges(modify: modify).keys
        if columns.isEmpty { return nil }
        return try Self.returningRecord(returnedType).value {
            try updateCore(db, conflictResolution, columns: Set(columns), $0)
        }
    }

    /// Modifies the record, and updates the columns that changed; returns what `fetch` makes of the statement that
    /// returns the selection, nil when nothing changed.
    public mutating func updateChangesAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T,
        modify: (inout Self) throws -> Void
    ) throws -> T? {
        let columns = try databaseChanges(modify: modify).keys
        if columns.isEmpty { return nil }
        return try updateAndFetch(
            db, onConflict: conflictResolution, columns: columns, selection: selection, fetch: fetch)
    }
}

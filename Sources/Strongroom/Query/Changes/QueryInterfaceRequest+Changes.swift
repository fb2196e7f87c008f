// Deleting and updating the rows of a request. Requests with a limit or groups change the rows they would fetch. The
// rows of a view are those that its triggers change.

extension QueryInterfaceRequest {
    // MARK: - Delete

    /// Deletes the rows, and returns their number.
    @discardableResult
    public func deleteAll(_ db: Database) throws -> Int {
        let statement = try db.reusableStatement { try query.writeDelete(to: &$0) }
        let changes = ChangeCount(db, inTable: databaseTableName)
        try statement.execute()
        return try changes.ofLatestStatement()
    }

    /// Returns a statement that deletes the rows and returns a selection of them.
    ///
    /// - precondition: something is selected.
    public func deleteAndFetchStatement(_ db: Database, selection: [any SQLSelectable]) throws -> Statement {
        requireSelection(selection)
        return try db.reusableStatement { try query.writeDelete(returning: selection.map(\.sqlSelection), to: &$0) }
    }

    // MARK: - Update

    /// Updates the rows, and returns their number. Without an assignment, nothing is done.
    ///
    /// - parameters:
    ///   - db: the connection.
    ///   - conflictResolution: the conflict resolution. Default: that of the record type, if it has a persistence
    ///     conflict policy.
    ///   - assignments: the new values of columns.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Int {
        guard let statement = try updateStatement(db, conflictResolution, assignments, returning: []) else { return 0 }
        let changes = ChangeCount(db, inTable: databaseTableName)
        try statement.execute()
        return try changes.ofLatestStatement()
    }

    /// Updates the rows, and returns their number.
    ///
    /// - parameters:
    ///   - db: the connection.
    ///   - conflictResolution: the conflict resolution. Default: that of the record type, if it has a persistence
    ///     conflict policy.
    ///   - assignments: the new values of columns.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, assignments)
    }

    /// Returns a statement that updates the rows and returns a selection of them.
    ///
    /// - precondition: something is assigned and something is selected.
    public func updateAndFetchStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment],
        selection: [any SQLSelectable]
    ) throws -> Statement {
        requireSelection(selection)
        guard
            let statement = try updateStatement(
                db, conflictResolution, assignments, returning: selection.map(\.sqlSelection))
        else {
            fatalError("An update that returns rows has to assign something: give at least one assignment.")
        }
        return statement
    }

    private func updateStatement(
        _ db: Database,
        _ conflictResolution: Database.ConflictResolution?,
        _ assignments: [ColumnAssignment],
        returning selection: [SQLSelection]
    ) throws -> Statement? {
        let assignments = assignments.filter { $0.value != nil }
        guard !assignments.isEmpty else { return nil }
        let policy = (RowDecoder.self as? any MutablePersistableRecord.Type)?.persistenceConflictPolicy
        return try db.reusableStatement {
            try query.writeUpdate(
                assignments,
                onConflict: conflictResolution ?? policy?.conflictResolutionForUpdate,
                returning: selection,
                to: &$0)
        }
    }

    private func requireSelection(_ selection: [any SQLSelectable]) {
        precondition(!selection.isEmpty, "A statement that returns rows has to select something of them.")
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord {
    // MARK: - With components

    /// Updates the rows: `updateAll(db) { $0.score.set(to: 0) }`, and returns their number.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignment: (DatabaseComponents) throws -> ColumnAssignment
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, [assignment(RowDecoder.databaseComponents)])
    }

    /// Updates the rows: `updateAll(db) { [$0.score += 1, $0.level += 1] }`, and returns their number.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }

    /// Returns a statement that deletes the rows and returns a selection of them.
    public func deleteAndFetchStatement(
        _ db: Database, select: (DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> Statement {
        try deleteAndFetchStatement(db, selection: select(RowDecoder.databaseComponents))
    }

    /// Returns a statement that updates the rows and returns a selection of them.
    public func updateAndFetchStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment],
        select: (DatabaseComponents) -> [any SQLSelectable]
    ) throws -> Statement {
        try updateAndFetchStatement(
            db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents),
            selection: select(RowDecoder.databaseComponents))
    }

    /// Deletes the rows; returns the ids that they had.
    public func deleteAndFetchIds(_ db: Database) throws -> Set<RowDecoder.ID>
    where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible & StatementColumnConvertible {
        let key = try Column(db.singleKeyColumn(ofTable: databaseTableName))
        return try RowDecoder.ID.fetchSet(deleteAndFetchStatement(db, selection: [key]))
    }
}

extension QueryInterfaceRequest where RowDecoder: FetchableRecord & TableRecord {
    // MARK: - Records that were deleted

    /// Returns a cursor on the deleted rows. All rows are deleted before the first record is returned.
    public func deleteAndFetchCursor(_ db: Database) throws -> RecordCursor<RowDecoder> {
        try RowDecoder.fetchCursor(deleteAndFetchStatement(db, selection: RowDecoder.databaseSelection))
    }

    /// Deletes the rows, and returns their former values.
    public func deleteAndFetchAll(_ db: Database) throws -> [RowDecoder] {
        try Array(deleteAndFetchCursor(db))
    }

    /// Deletes the rows, and returns their former values.
    public func deleteAndFetchSet(_ db: Database) throws -> Set<RowDecoder> where RowDecoder: Hashable {
        try Set(deleteAndFetchCursor(db))
    }

    // MARK: - Records that were updated

    /// Returns a cursor on the updated rows. All rows are updated before the first record is returned.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> RecordCursor<RowDecoder> {
        try RowDecoder.fetchCursor(
            updateAndFetchStatement(
                db, onConflict: conflictResolution, assignments, selection: RowDecoder.databaseSelection))
    }

    /// Updates the rows, and returns their new values.
    public func updateAndFetchAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> [RowDecoder] {
        try Array(updateAndFetchCursor(db, onConflict: conflictResolution, assignments))
    }

    /// Updates the rows, and returns their new values.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Set<RowDecoder> where RowDecoder: Hashable {
        try Set(updateAndFetchCursor(db, onConflict: conflictResolution, assignments))
    }

    /// Returns a cursor on the updated rows. All rows are updated before the first record is returned.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> RecordCursor<RowDecoder> {
        try updateAndFetchCursor(db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }

    /// Updates the rows, and returns their new values.
    public func updateAndFetchAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> [RowDecoder] {
        try updateAndFetchAll(db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }

    /// Updates the rows, and returns their new values.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Set<RowDecoder>
    where RowDecoder: Hashable {
        try updateAndFetchSet(db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }
}

// The functions that all ways to save a record call, with callbacks. `PersistableRecord` has the same ones without
// `mutating`: it calls these on a copy, because its callbacks change nothing.

/// A statement that saves a record: its returned selection, and the function that runs it.
struct Saving {
    var selection: [any SQLSelectable] = []
    var run: (Statement) throws -> Void

    static var plain: Saving { Saving { try $0.run() } }
}

/// A statement that saves a record, and the value that is made of its returned rows.
struct Returning<T> {
    var selection: [any SQLSelectable]
    var fetch: (Statement) throws -> T

    /// Returns the value after `save` has run the statement. The code below does without the type of the value, and so
    /// without looking up types at run time.
    func value(_ save: (Saving) throws -> Void) throws -> T {
        var value: T?
        try save(Saving(selection: selection) { value = try fetch($0) })
        return value!
    }
}

extension MutablePersistableRecord {
    // MARK: - Callbacks

    /// Runs `saving` with the callbacks `willSave`, `aroundSave` and `didSave`.
    @inlinable
    mutating func saveWithCallbacks(_ db: Database, _ save: (inout Self) throws -> PersistenceSuccess) throws {
        try willSave(db)
        var success: PersistenceSuccess?
        // On a copy, because the record itself may change meanwhile.
        let record = self
        try record.aroundSave(db) {
            let saved = try save(&self)
            success = saved
            return saved
        }
        guard let success else { throw Self.notDone("aroundSave", "save") }
        didSave(success)
    }

    /// Inserts the record, with the callbacks of an insertion.
    @inlinable
    mutating func insertWithCallbacks(
        _ db: Database, _ insert: (Self) throws -> InsertionSuccess
    ) throws -> PersistenceSuccess {
        try willInsert(db)
        var success: InsertionSuccess?
        try aroundInsert(db) {
            let inserted = try insert(self)
            success = inserted
            return inserted
        }
        guard let success else { throw Self.notDone("aroundInsert", "insert") }
        didInsert(success)
        return PersistenceSuccess(success)
    }

    /// Updates the record, with the callbacks of an update.
    private func updateWithCallbacks(
        _ db: Database, columns: Set<String>?, _ update: () throws -> PersistenceSuccess
    ) throws -> PersistenceSuccess {
        let columns = try columns ?? Set(PersistenceContainer(self).columns)
        try willUpdate(db, columns: columns)
        var success: PersistenceSuccess?
        try aroundUpdate(db, columns: columns) {
            let updated = try update()
            success = updated
            return updated
        }
        guard let success else { throw Self.notDone("aroundUpdate", "update") }
        didUpdate(success)
        return success
    }

    /// Returns the error for a callback that did not call its function argument, or did not throw its error.
    @usableFromInline
    static func notDone(_ callback: String, _ function: String) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "\(Self.self).\(callback) must call its function argument and throw its error: try \(function)()")
    }

    // MARK: - Ways to save

    /// Inserts the record. In a program that inserts many, this is compiled for their type: callbacks that do nothing
    /// cost nothing then.
    @inlinable
    mutating func insertCore(_ db: Database, _ conflictResolution: Database.ConflictResolution?) throws {
        try saveWithCallbacks(db) { record in
            try record.insertWithCallbacks(db) { try $0.insertRow(db, conflictResolution) }
        }
    }

    @inlinable
    func insertRow(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?
    ) throws -> InsertionSuccess {
        // The class that the record really is: it may be known by its superclass here.
        let type = type(of: self)
        let statements = try db.recordStatements(of: type, tableName: type.databaseTableName)
        var container = statements.container()
        try encode(to: &container)
        return try statements.insert(
            consume container, conflictResolution ?? Self.persistenceConflictPolicy.conflictResolutionForInsert, db)
    }

    mutating func insertCore(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, _ saving: Saving
    ) throws {
        try saveWithCallbacks(db) { try $0.insertInside(db, conflictResolution, saving) }
    }

    private mutating func insertInside(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?,
        _ saving: Saving
    ) throws -> PersistenceSuccess {
        try insertWithCallbacks(db) { record in
            let writer = try RecordWriter(db, record)
            let statement = try writer.insertStatement(onConflict: conflictResolution, returning: saving.selection)
            return try writer.insert { try saving.run(statement) }
        }
    }

    func updateCore(
        _ db: Database,
        _ conflictResolution: Database.ConflictResolution?,
        columns: Set<String>? = nil,
        _ saving: Saving = .plain
    ) throws {
        // Updates do not change the record, so a copy will do.
        var record = self
        try record.saveWithCallbacks(db) { record in
            try record.updateInside(db, conflictResolution, columns: columns, saving) { _ in }
        }
    }

    /// - parameter missed: called with the error, before it is thrown, if there is no row to update.
    private func updateInside(
        _ db: Database,
        _ conflictResolution: Database.ConflictResolution?,
        columns: Set<String>?,
        _ saving: Saving,
        missed: (RecordError) -> Void
    ) throws -> PersistenceSuccess {
        try updateWithCallbacks(db, columns: columns) {
            let writer = try RecordWriter(db, self)
            func notFound() throws -> RecordError {
                let error = try writer.notFound()
                missed(error)
                return error
            }
            guard
                let statement = try writer.updateStatement(
                    onConflict: conflictResolution, columns: columns, returning: saving.selection)
            else { throw try notFound() }
            let changes = ChangeCount(db, inTable: writer.tableName)
            do {
                try saving.run(statement)
            } catch is NoRow {
                throw try notFound()
            }
            if try changes.ofLatestStatement() == 0 { throw try notFound() }
            return PersistenceSuccess(updated: writer.saved)
        }
    }

    mutating func saveCore(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, _ saving: Saving = .plain
    ) throws {
        try saveWithCallbacks(db) { record in
            if try RecordWriter(db, record).key().isNull {
                return try record.insertInside(db, conflictResolution, saving)
            }
            var isMissing = false
            do {
                return try record.updateInside(db, conflictResolution, columns: nil, saving) { _ in isMissing = true }
            } catch is RecordError where isMissing {
                return try record.insertInside(db, conflictResolution, saving)
            }
        }
    }
}

/// The error of a statement that returned no row.
struct NoRow: Error {}

extension MutablePersistableRecord {
    /// Returns the returned row as a record.
    static func returningRecord<T: FetchableRecord & TableRecord>(_ type: T.Type) -> Returning<T> {
        Returning(selection: type.databaseSelection) { statement in
            guard let record = try T.fetchOne(statement) else { throw NoRow() }
            return record
        }
    }

    static func requireSelection(_ selection: [any SQLSelectable]) {
        precondition(!selection.isEmpty, "A statement that returns rows has to select something of them.")
    }
}

// What all ways to save a record come down to, callbacks included. `PersistableRecord` has the same ways without
// `mutating`: it calls these on a copy, because its callbacks change nothing.

/// How a statement that saves is run, and what it returns.
struct Returning<T> {
    var selection: [any SQLSelectable]

    /// Runs the statement.
    var fetch: (Statement) throws -> T
}

extension Returning<Void> {
    static var nothing: Returning<Void> { Returning(selection: []) { try $0.run() } }
}

extension MutablePersistableRecord {
    // MARK: - Callbacks

    /// `willSave`, `aroundSave`, `didSave` around something that saves.
    mutating func saveWithCallbacks<T>(
        _ db: Database, _ save: (inout Self) throws -> (PersistenceSuccess, T)) throws -> T
    {
        try willSave(db)
        var result: (success: PersistenceSuccess, value: T)?
        // Of a copy: the record itself may change meanwhile.
        let record = self
        try record.aroundSave(db) {
            let saved = try save(&self)
            result = saved
            return saved.0
        }
        guard let result else { Self.stopNotCalled("aroundSave", "save") }
        didSave(result.success)
        return result.value
    }

    /// An insertion with its callbacks, but for those that all saving has.
    mutating func insertWithCallbacks<T>(
        _ db: Database, _ insert: (Self) throws -> (InsertionSuccess, T)) throws -> (PersistenceSuccess, T)
    {
        try willInsert(db)
        var result: (success: InsertionSuccess, value: T)?
        let record = self
        try record.aroundInsert(db) {
            let inserted = try insert(record)
            result = inserted
            return inserted.0
        }
        guard let result else { Self.stopNotCalled("aroundInsert", "insert") }
        didInsert(result.success)
        return (PersistenceSuccess(persistenceContainer: result.success.persistenceContainer), result.value)
    }

    /// An update with its callbacks, but for those that all saving has.
    private func updateWithCallbacks<T>(
        _ db: Database,
        columns: Set<String>?,
        _ update: () throws -> (PersistenceSuccess, T)) throws -> (PersistenceSuccess, T)
    {
        let columns = try columns ?? Set(PersistenceContainer(self).columns)
        try willUpdate(db, columns: columns)
        var result: (success: PersistenceSuccess, value: T)?
        try aroundUpdate(db, columns: columns) {
            let updated = try update()
            result = updated
            return updated.0
        }
        guard let result else { Self.stopNotCalled("aroundUpdate", "update") }
        didUpdate(result.success)
        return result
    }

    static func stopNotCalled(_ callback: String, _ function: String) -> Never {
        fatalError("\(Self.self).\(callback) has to call the function that it gets: \(function)().")
    }

    // MARK: - Ways to save

    mutating func insertCore<T>(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, _ returning: Returning<T>) throws -> T
    {
        try saveWithCallbacks(db) { try $0.insertInside(db, conflictResolution, returning) }
    }

    private mutating func insertInside<T>(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, _ returning: Returning<T>)
        throws -> (PersistenceSuccess, T)
    {
        try insertWithCallbacks(db) { record in
            let writer = try RecordWriter(db, record)
            let statement = try writer.insertStatement(onConflict: conflictResolution, returning: returning.selection)
            let value = try returning.fetch(statement)
            return (try writer.insertionSuccess(rowID: db.lastInsertedRowID), value)
        }
    }

    func updateCore<T>(
        _ db: Database,
        _ conflictResolution: Database.ConflictResolution?,
        columns: Set<String>? = nil,
        _ returning: Returning<T>) throws -> T
    {
        // Updating changes no record: the copy is as good.
        var record = self
        return try record.saveWithCallbacks(db) { record in
            try record.updateInside(db, conflictResolution, columns: columns, returning) { _ in }
        }
    }

    /// - parameter missed: called with the error before it is thrown when there is no row to update.
    private func updateInside<T>(
        _ db: Database,
        _ conflictResolution: Database.ConflictResolution?,
        columns: Set<String>?,
        _ returning: Returning<T>,
        missed: (RecordError) -> Void) throws -> (PersistenceSuccess, T)
    {
        try updateWithCallbacks(db, columns: columns) {
            let writer = try RecordWriter(db, self)
            func notFound() throws -> RecordError {
                let error = try writer.notFound()
                missed(error)
                return error
            }
            guard let statement = try writer.updateStatement(
                onConflict: conflictResolution, columns: columns, returning: returning.selection)
            else { throw try notFound() }
            let value: T
            do {
                value = try returning.fetch(statement)
            } catch is NoRow {
                throw try notFound()
            }
            if db.changesCount == 0 { throw try notFound() }
            return (PersistenceSuccess(persistenceContainer: writer.container), value)
        }
    }

    mutating func saveCore<T>(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, _ returning: Returning<T>) throws -> T
    {
        try saveWithCallbacks(db) { record in
            if try RecordWriter(db, record).key().isNull {
                return try record.insertInside(db, conflictResolution, returning)
            }
            var isMissing = false
            do {
                return try record.updateInside(db, conflictResolution, columns: nil, returning) { _ in isMissing = true }
            } catch is RecordError where isMissing {
                return try record.insertInside(db, conflictResolution, returning)
            }
        }
    }
}

extension RecordWriter {
    func insertionSuccess(rowID: Int64) throws -> InsertionSuccess {
        try InsertionSuccess(
            rowID: rowID,
            rowIDColumn: db.primaryKey(tableName).rowIDColumn,
            persistenceContainer: container)
    }
}

/// The answer of a statement that returned no row.
struct NoRow: Error {}

extension MutablePersistableRecord {
    /// The returned row as a record.
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

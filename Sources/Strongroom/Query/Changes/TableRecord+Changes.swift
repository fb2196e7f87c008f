extension TableRecord {
    // MARK: - Counting, deleting, updating

    /// Returns the number of rows.
    public static func fetchCount(_ db: Database) throws -> Int {
        try all().fetchCount(db)
    }

    /// Deletes all rows, and returns their number.
    @discardableResult
    public static func deleteAll(_ db: Database) throws -> Int {
        try all().deleteAll(db)
    }

    /// Updates all rows, and returns their number.
    ///
    /// - parameters:
    ///   - db: the connection.
    ///   - conflictResolution: the conflict resolution. Default: that of the record type, if it has a persistence
    ///     conflict policy.
    ///   - assignments: the new values of columns.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments)
    }

    /// Updates all rows, and returns their number.
    ///
    /// - parameters:
    ///   - db: the connection.
    ///   - conflictResolution: the conflict resolution. Default: that of the record type, if it has a persistence
    ///     conflict policy.
    ///   - assignments: the new values of columns.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments)
    }

    // MARK: - By key

    /// Returns a Boolean value that indicates whether the table has a row with this primary key.
    public static func exists(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        if key.databaseValue.isNull { return false }
        return try !filter(key: key).isEmpty(db)
    }

    /// Returns a Boolean value that indicates whether the table has a row with this unique key.
    public static func exists(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Bool {
        try !filter(key: key).isEmpty(db)
    }

    /// Deletes the row with this primary key; returns whether there was one.
    @discardableResult
    public static func deleteOne(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        if key.databaseValue.isNull { return false }
        return try filter(key: key).deleteAll(db) > 0
    }

    /// Deletes the row with this unique key; returns whether there was one.
    @discardableResult
    public static func deleteOne(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Bool {
        try filter(key: key).deleteAll(db) > 0
    }

    /// Deletes the rows with these primary keys, and returns their number.
    @discardableResult
    public static func deleteAll(
        _ db: Database, keys: some Collection<some DatabaseValueConvertible>
    ) throws -> Int {
        if keys.isEmpty { return 0 }
        return try filter(keys: keys).deleteAll(db)
    }

    /// Deletes the rows with these unique keys, and returns their number.
    @discardableResult
    public static func deleteAll(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]
    ) throws -> Int {
        if keys.isEmpty { return 0 }
        return try filter(keys: keys).deleteAll(db)
    }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// Returns a Boolean value that indicates whether the table has a row with this id.
    public static func exists(_ db: Database, id: ID) throws -> Bool {
        try exists(db, key: id)
    }

    /// Deletes the row with this id; returns whether there was one.
    @discardableResult
    public static func deleteOne(_ db: Database, id: ID) throws -> Bool {
        try deleteOne(db, key: id)
    }

    /// Deletes the rows with these ids, and returns their number.
    @discardableResult
    public static func deleteAll(_ db: Database, ids: some Collection<ID>) throws -> Int {
        try deleteAll(db, keys: ids)
    }
}

extension TableRecord {
    /// Updates all rows: `updateAll(db) { $0.score.set(to: 0) }`, and returns their number.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignment: (DatabaseComponents) throws -> ColumnAssignment
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignment: assignment)
    }

    /// Updates all rows: `updateAll(db) { [$0.score += 1, $0.level += 1] }`, and returns their number.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments: assignments)
    }
}

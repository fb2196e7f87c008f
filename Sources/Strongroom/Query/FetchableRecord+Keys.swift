extension FetchableRecord where Self: TableRecord {
    // MARK: - All records

    /// Returns a cursor on all records.
    public static func fetchCursor(_ db: Database) throws -> RecordCursor<Self> { try all().fetchCursor(db) }

    /// Returns all records.
    public static func fetchAll(_ db: Database) throws -> [Self] { try all().fetchAll(db) }

    /// Returns the first record, or nil.
    public static func fetchOne(_ db: Database) throws -> Self? { try all().fetchOne(db) }

    // MARK: - By primary key

    /// Returns a cursor on the records with these primary keys, in any order.
    public static func fetchCursor(
        _ db: Database, keys: some Collection<some DatabaseValueConvertible>
    ) throws -> RecordCursor<Self> {
        try filter(keys: keys).fetchCursor(db)
    }

    /// Returns the records with these primary keys, in any order.
    public static func fetchAll(
        _ db: Database, keys: some Collection<some DatabaseValueConvertible>
    ) throws -> [Self] {
        if keys.isEmpty { return [] }
        return try filter(keys: keys).fetchAll(db)
    }

    /// Returns the record with this primary key, or nil.
    public static func fetchOne(_ db: Database, key: some DatabaseValueConvertible) throws -> Self? {
        if key.databaseValue.isNull { return nil }
        return try filter(key: key).fetchOne(db)
    }

    /// Returns the record with this primary key.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is none.
    public static func find(_ db: Database, key: some DatabaseValueConvertible) throws -> Self {
        guard let record = try fetchOne(db, key: key) else { throw recordNotFound(db, key: key) }
        return record
    }

    // MARK: - By unique key

    /// Returns a cursor on the records with these unique keys, in any order.
    public static func fetchCursor(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]
    ) throws -> RecordCursor<Self> {
        try filter(keys: keys).fetchCursor(db)
    }

    /// Returns the records with these unique keys, in any order.
    public static func fetchAll(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]
    ) throws -> [Self] {
        if keys.isEmpty { return [] }
        return try filter(keys: keys).fetchAll(db)
    }

    /// Returns the record with this unique key, or nil.
    public static func fetchOne(_ db: Database, key: [String: (any DatabaseValueConvertible)?]?) throws -> Self? {
        guard let key else { return nil }
        return try filter(key: key).fetchOne(db)
    }

    /// Returns the record with this unique key.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is none.
    public static func find(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Self {
        guard let record = try fetchOne(db, key: key) else { throw recordNotFound(key: key) }
        return record
    }
}

extension FetchableRecord where Self: TableRecord & Hashable {
    /// Returns the distinct records.
    public static func fetchSet(_ db: Database) throws -> Set<Self> { try all().fetchSet(db) }

    /// Returns the records with these primary keys.
    public static func fetchSet(
        _ db: Database, keys: some Collection<some DatabaseValueConvertible>
    ) throws -> Set<Self> {
        if keys.isEmpty { return [] }
        return try filter(keys: keys).fetchSet(db)
    }

    /// Returns the records with these unique keys.
    public static func fetchSet(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]
    ) throws -> Set<Self> {
        if keys.isEmpty { return [] }
        return try filter(keys: keys).fetchSet(db)
    }
}

extension FetchableRecord where Self: TableRecord & Identifiable, ID: DatabaseValueConvertible {
    // MARK: - By id

    /// Returns a cursor on the records with these ids, in any order.
    public static func fetchCursor(_ db: Database, ids: some Collection<ID>) throws -> RecordCursor<Self> {
        try fetchCursor(db, keys: ids)
    }

    /// Returns the records with these ids, in any order.
    public static func fetchAll(_ db: Database, ids: some Collection<ID>) throws -> [Self] {
        try fetchAll(db, keys: ids)
    }

    /// Returns the record with this id, or nil.
    public static func fetchOne(_ db: Database, id: ID) throws -> Self? {
        try fetchOne(db, key: id)
    }

    /// Returns the records with these ids.
    public static func fetchSet(_ db: Database, ids: some Collection<ID>) throws -> Set<Self> where Self: Hashable {
        try fetchSet(db, keys: ids)
    }

    /// Returns the record with this id.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is none.
    public static func find(_ db: Database, id: ID) throws -> Self {
        try find(db, key: id)
    }
}

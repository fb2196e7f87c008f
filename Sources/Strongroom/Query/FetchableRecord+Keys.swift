extension FetchableRecord where Self: TableRecord {
    // MARK: - All records

    /// A cursor on all records.
    public static func fetchCursor(_ db: Database) throws -> RecordCursor<Self> { try all().fetchCursor(db) }

    /// All records.
    public static func fetchAll(_ db: Database) throws -> [Self] { try all().fetchAll(db) }

    /// The first record, or nil.
    public static func fetchOne(_ db: Database) throws -> Self? { try all().fetchOne(db) }

    // MARK: - By primary key

    /// A cursor on the records of those primary keys, in any order.
    public static func fetchCursor(
        _ db: Database, keys: some Collection<some DatabaseValueConvertible>) throws -> RecordCursor<Self>
    {
        try filter(keys: keys).fetchCursor(db)
    }

    /// The records of those primary keys, in any order.
    public static func fetchAll(
        _ db: Database, keys: some Collection<some DatabaseValueConvertible>) throws -> [Self]
    {
        if keys.isEmpty { return [] }
        return try filter(keys: keys).fetchAll(db)
    }

    /// The record of that primary key, or nil.
    public static func fetchOne(_ db: Database, key: some DatabaseValueConvertible) throws -> Self? {
        if key.databaseValue.isNull { return nil }
        return try filter(key: key).fetchOne(db)
    }

    /// The record of that primary key.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is none.
    public static func find(_ db: Database, key: some DatabaseValueConvertible) throws -> Self {
        guard let record = try fetchOne(db, key: key) else { throw recordNotFound(db, key: key) }
        return record
    }

    // MARK: - By unique key

    /// A cursor on the records of those unique keys, in any order.
    public static func fetchCursor(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]) throws -> RecordCursor<Self>
    {
        try filter(keys: keys).fetchCursor(db)
    }

    /// The records of those unique keys, in any order.
    public static func fetchAll(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]) throws -> [Self]
    {
        if keys.isEmpty { return [] }
        return try filter(keys: keys).fetchAll(db)
    }

    /// The record of that unique key, or nil.
    public static func fetchOne(_ db: Database, key: [String: (any DatabaseValueConvertible)?]?) throws -> Self? {
        guard let key else { return nil }
        return try filter(key: key).fetchOne(db)
    }

    /// The record of that unique key.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is none.
    public static func find(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Self {
        guard let record = try fetchOne(db, key: key) else { throw recordNotFound(key: key) }
        return record
    }
}

extension FetchableRecord where Self: TableRecord & Hashable {
    /// The distinct records.
    public static func fetchSet(_ db: Database) throws -> Set<Self> { try all().fetchSet(db) }

    /// The records of those primary keys.
    public static func fetchSet(
        _ db: Database, keys: some Collection<some DatabaseValueConvertible>) throws -> Set<Self>
    {
        if keys.isEmpty { return [] }
        return try filter(keys: keys).fetchSet(db)
    }

    /// The records of those unique keys.
    public static func fetchSet(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]) throws -> Set<Self>
    {
        if keys.isEmpty { return [] }
        return try filter(keys: keys).fetchSet(db)
    }
}

extension FetchableRecord where Self: TableRecord & Identifiable, ID: DatabaseValueConvertible {
    // MARK: - By id

    /// A cursor on the records of those ids, in any order.
    public static func fetchCursor(_ db: Database, ids: some Collection<ID>) throws -> RecordCursor<Self> {
        try fetchCursor(db, keys: ids)
    }

    /// The records of those ids, in any order.
    public static func fetchAll(_ db: Database, ids: some Collection<ID>) throws -> [Self] {
        try fetchAll(db, keys: ids)
    }

    /// The record of that id, or nil.
    public static func fetchOne(_ db: Database, id: ID) throws -> Self? {
        try fetchOne(db, key: id)
    }

    /// The records of those ids.
    public static func fetchSet(_ db: Database, ids: some Collection<ID>) throws -> Set<Self> where Self: Hashable {
        try fetchSet(db, keys: ids)
    }

    /// The record of that id.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is none.
    public static func find(_ db: Database, id: ID) throws -> Self {
        try find(db, key: id)
    }
}

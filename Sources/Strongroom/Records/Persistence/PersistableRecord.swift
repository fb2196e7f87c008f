/// A type whose values can be saved and deleted, and that an insertion changes, to receive the row id.
///
/// ```swift
/// struct Player: MutablePersistableRecord, Encodable {
///     var id: Int64?
///     var name: String
///
///     mutating func didInsert(_ inserted: InsertionSuccess) {
///         id = inserted.rowID
///     }
/// }
///
/// var player = Player(id: nil, name: "Arthur")
/// try player.insert(db)
/// ```
///
/// Callbacks come in this order: `willSave`, `aroundSave` begins, `willInsert`, `aroundInsert` begins, the statement,
/// `aroundInsert` ends, `didInsert`, `aroundSave` ends, `didSave`. Updates follow the same order. Deletions call
/// `willDelete`, `aroundDelete`, `didDelete`. Each `around` function must call its function argument once.
public protocol MutablePersistableRecord: EncodableRecord, TableRecord {
    /// The conflict resolutions of insertions and updates. Default: abort both.
    static var persistenceConflictPolicy: PersistenceConflictPolicy { get }

    /// Called before an insertion. Default: nothing.
    mutating func willInsert(_ db: Database) throws

    /// Called around an insertion. Default: `insert()`.
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws

    /// Called after an insertion, the place to take over the row id. Default: nothing.
    mutating func didInsert(_ inserted: InsertionSuccess)

    /// Called before an update of these columns. Default: nothing.
    func willUpdate(_ db: Database, columns: Set<String>) throws

    /// Called around an update of these columns. Default: `update()`.
    func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws

    /// Called after an update. Default: nothing.
    func didUpdate(_ updated: PersistenceSuccess)

    /// Called before an insertion or an update. Default: nothing.
    func willSave(_ db: Database) throws

    /// Called around an insertion or an update. Default: `save()`.
    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws

    /// Called after an insertion or an update. Default: nothing.
    func didSave(_ saved: PersistenceSuccess)

    /// Called before a deletion. Default: nothing.
    func willDelete(_ db: Database) throws

    /// Called around a deletion. Default: `delete()`.
    func aroundDelete(_ db: Database, delete: () throws -> Bool) throws

    /// Called after a deletion, with whether there was a row. Default: nothing.
    func didDelete(deleted: Bool)
}

extension MutablePersistableRecord {
    /// The conflict resolutions of insertions and updates. Default: abort both.
    public static var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }

    /// Does nothing. Called before an insertion.
    public mutating func willInsert(_ db: Database) throws {}

    /// Calls `insert`. Called around an insertion.
    public func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws { _ = try insert() }

    /// Does nothing. Called after an insertion.
    public mutating func didInsert(_ inserted: InsertionSuccess) {}

    /// Does nothing. Called before an update.
    public func willUpdate(_ db: Database, columns: Set<String>) throws {}

    /// Calls `update`. Called around an update.
    public func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws {
        _ = try update()
    }

    /// Does nothing. Called after an update.
    public func didUpdate(_ updated: PersistenceSuccess) {}

    /// Does nothing. Called before an insertion or an update.
    public func willSave(_ db: Database) throws {}

    /// Calls `save`. Called around an insertion or an update.
    public func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws { _ = try save() }

    /// Does nothing. Called after an insertion or an update.
    public func didSave(_ saved: PersistenceSuccess) {}

    /// Does nothing. Called before a deletion.
    public func willDelete(_ db: Database) throws {}

    /// Calls `delete`. Called around a deletion.
    public func aroundDelete(_ db: Database, delete: () throws -> Bool) throws { _ = try delete() }

    /// Does nothing. Called after a deletion.
    public func didDelete(deleted: Bool) {}
}

/// A type whose values can be saved and deleted without being changed.
public protocol PersistableRecord: MutablePersistableRecord {
    /// Called before an insertion. Default: nothing.
    func willInsert(_ db: Database) throws

    /// Called after an insertion. Default: nothing.
    func didInsert(_ inserted: InsertionSuccess)
}

extension PersistableRecord {
    /// Does nothing. Called before an insertion.
    public func willInsert(_ db: Database) throws {}

    /// Does nothing. Called after an insertion.
    public func didInsert(_ inserted: InsertionSuccess) {}
}

/// The conflict resolutions of a record type, for calls that give none.
///
/// Source: <https://www.sqlite.org/lang_conflict.html>.
public struct PersistenceConflictPolicy: Sendable {
    /// The conflict resolution of insertions.
    public let conflictResolutionForInsert: Database.ConflictResolution
    /// The conflict resolution of updates.
    public let conflictResolutionForUpdate: Database.ConflictResolution

    /// Creates a policy.
    public init(insert: Database.ConflictResolution = .abort, update: Database.ConflictResolution = .abort) {
        self.conflictResolutionForInsert = insert
        self.conflictResolutionForUpdate = update
    }
}

/// The result of an insertion.
///
/// If `OR IGNORE` has inserted nothing, the row id is that of an earlier insertion.
public struct InsertionSuccess {
    /// The id of the row. <https://www.sqlite.org/c3ref/last_insert_rowid.html>
    public var rowID: Int64

    /// An object, because each callback is handed a copy of the success: one reference to count.
    private var columns: SavedColumns

    /// True if SQLite chose the id of the row, and the columns may lack it.
    private var lacksRowID: Bool

    /// The result for columns that know the alias of the rowid, and may lack the id of the row.
    init(rowID: Int64, inserted columns: SavedColumns) {
        self.rowID = rowID
        self.columns = columns
        lacksRowID = columns.rowIDColumn != nil
    }

    fileprivate init(updated columns: SavedColumns) {
        rowID = 0
        self.columns = columns
        lacksRowID = false
    }

    /// The column that is an alias of the rowid. Nil if there is none.
    public var rowIDColumn: String? {
        get { columns.rowIDColumn }
        set { replaceColumns(persistenceContainer, rowIDColumn: newValue) }
    }

    /// The inserted columns, including the id of the row.
    ///
    /// Computed at each use: most programs insert many records without reading it.
    public var persistenceContainer: PersistenceContainer {
        get {
            let container = PersistenceContainer(columns)
            guard lacksRowID, let rowIDColumn else { return container }
            var complete = container
            complete[rowIDColumn] = rowID
            return complete
        }
        set { replaceColumns(newValue, rowIDColumn: rowIDColumn) }
    }

    private mutating func replaceColumns(_ container: PersistenceContainer, rowIDColumn: String?) {
        columns = SavedColumns(container.saved)
        columns.insertion = nil
        columns.rowIDColumn = rowIDColumn
        lacksRowID = false
    }
}

/// The result of an insertion or an update.
public struct PersistenceSuccess {
    private var saved: InsertionSuccess

    @usableFromInline
    init(_ inserted: InsertionSuccess) {
        saved = inserted
    }

    init(updated columns: SavedColumns) {
        saved = InsertionSuccess(updated: columns)
    }

    /// The saved columns, including the id of an inserted row.
    public var persistenceContainer: PersistenceContainer {
        get { saved.persistenceContainer }
        set { saved.persistenceContainer = newValue }
    }
}

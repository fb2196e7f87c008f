/// A type whose values are inserted, updated and deleted, and that changes when it is inserted: it learns its row id.
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
/// `aroundInsert` ends, `didInsert`, `aroundSave` ends, `didSave`; for updates in the same way; for deletions
/// `willDelete`, `aroundDelete`, `didDelete`. Each `around` function has to call the function that it gets, once.
public protocol MutablePersistableRecord: EncodableRecord, TableRecord {
    /// What to do when a record breaks a constraint. Default: to abort.
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
    public static var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }

    public mutating func willInsert(_ db: Database) throws {}

    public func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws { _ = try insert() }

    public mutating func didInsert(_ inserted: InsertionSuccess) {}

    public func willUpdate(_ db: Database, columns: Set<String>) throws {}

    public func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws {
        _ = try update()
    }

    public func didUpdate(_ updated: PersistenceSuccess) {}

    public func willSave(_ db: Database) throws {}

    public func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws { _ = try save() }

    public func didSave(_ saved: PersistenceSuccess) {}

    public func willDelete(_ db: Database) throws {}

    public func aroundDelete(_ db: Database, delete: () throws -> Bool) throws { _ = try delete() }

    public func didDelete(deleted: Bool) {}
}

/// A type whose values are inserted, updated and deleted without being changed by that.
public protocol PersistableRecord: MutablePersistableRecord {
    /// Called before an insertion. Default: nothing.
    func willInsert(_ db: Database) throws

    /// Called after an insertion. Default: nothing.
    func didInsert(_ inserted: InsertionSuccess)
}

extension PersistableRecord {
    public func willInsert(_ db: Database) throws {}

    public func didInsert(_ inserted: InsertionSuccess) {}
}

/// What to do when a record breaks a constraint, unless a call says otherwise.
///
/// Source: <https://www.sqlite.org/lang_conflict.html>.
public struct PersistenceConflictPolicy: Sendable {
    public let conflictResolutionForInsert: Database.ConflictResolution
    public let conflictResolutionForUpdate: Database.ConflictResolution

    public init(insert: Database.ConflictResolution = .abort, update: Database.ConflictResolution = .abort) {
        self.conflictResolutionForInsert = insert
        self.conflictResolutionForUpdate = update
    }
}

/// What an insertion has brought about.
///
/// With `OR IGNORE`, when nothing was inserted, the row id is that of some former insertion.
public struct InsertionSuccess {
    /// The id of the row. <https://www.sqlite.org/c3ref/last_insert_rowid.html>
    public var rowID: Int64

    private var saved: SavedColumns

    init(rowID: Int64, rowIDColumn: String?, encoded: PersistenceContainer) {
        self.rowID = rowID
        self.saved = SavedColumns(encoded, rowIDColumn: rowIDColumn, lacksRowID: rowIDColumn != nil)
    }

    /// The column that is another name of the rowid; nil when there is none.
    public var rowIDColumn: String? {
        get { saved.rowIDColumn }
        set { saved = SavedColumns(persistenceContainer, rowIDColumn: newValue, lacksRowID: false) }
    }

    /// What was inserted, the id of the row included.
    ///
    /// Made when it is asked for: most programs insert many records, and never look.
    public var persistenceContainer: PersistenceContainer {
        get {
            guard saved.lacksRowID, let rowIDColumn else { return saved.container }
            var complete = saved.container
            complete[rowIDColumn] = rowID
            return complete
        }
        set { saved = SavedColumns(newValue, rowIDColumn: rowIDColumn, lacksRowID: false) }
    }
}

/// The columns of a saved record. An object, because each callback is handed a copy of the success: one reference to count.
private final class SavedColumns: Sendable {
    let container: PersistenceContainer
    let rowIDColumn: String?

    /// Whether the row got an id that the record did not give.
    let lacksRowID: Bool

    init(_ container: PersistenceContainer, rowIDColumn: String?, lacksRowID: Bool) {
        self.container = container
        self.rowIDColumn = rowIDColumn
        self.lacksRowID = lacksRowID
    }
}

/// What an insertion or an update has brought about.
public struct PersistenceSuccess {
    private var saved: InsertionSuccess

    init(_ inserted: InsertionSuccess) {
        saved = inserted
    }

    init(updated container: PersistenceContainer) {
        saved = InsertionSuccess(rowID: 0, rowIDColumn: nil, encoded: container)
    }

    /// What was saved, the id of an inserted row included.
    public var persistenceContainer: PersistenceContainer {
        get { saved.persistenceContainer }
        set { saved.persistenceContainer = newValue }
    }
}

/// A base class for records, from a time before records were values.
///
/// Prefer structs that conform to ``FetchableRecord`` and ``PersistableRecord``: classes like these are not sendable,
/// and can't be fetched or saved in asynchronous accesses.
open class Record {
    /// The columns as they were last fetched or saved; nil if that is unknown.
    private var reference: PersistenceContainer?

    /// Creates a record that is not in the database.
    public init() {}

    /// Creates a record from a row. Subclasses call it in their own `init(row:)`.
    public required init(row: Row) throws {
        // A row that the program created is not in the database yet.
        guard row.isFetched else { return }
        var reference = PersistenceContainer()
        for (column, value) in row { reference[column] = value }
        self.reference = reference
    }

    /// The name of the table. Subclasses must override it.
    open class var databaseTableName: String {
        fatalError("\(Self.self) has no table: override databaseTableName.")
    }

    /// The columns that requests select. Default: all.
    open class var databaseSelection: [any SQLSelectable] { [AllColumns()] }

    /// The conflict resolutions of insertions and updates. Default: abort both.
    open class var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }

    /// Sets the columns of the record. Subclasses override it. Default: no column.
    open func encode(to container: inout PersistenceContainer) throws {}

    // MARK: - Changes

    /// A Boolean value that indicates whether a column differs from its last fetched or saved value. True for a record
    /// that was neither fetched nor saved.
    public var hasDatabaseChanges: Bool {
        guard let container = try? PersistenceContainer(self) else { return true }
        return container.contains { $1 != reference?.value(of: $0) }
    }

    /// The columns that differ from their last fetched or saved values, with those values; nil for an unknown value.
    public var databaseChanges: [String: DatabaseValue?] {
        get throws {
            var changes: [String: DatabaseValue?] = [:]
            for (column, value) in try PersistenceContainer(self) {
                let former = reference?.value(of: column)
                if value != former { changes.updateValue(former, forKey: column) }
            }
            return changes
        }
    }

    /// Updates the columns that have changed. Returns true if there was one.
    ///
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row of the record's key.
    @discardableResult
    public final func updateChanges(_ db: Database) throws -> Bool {
        let columns = try databaseChanges.keys
        if columns.isEmpty { return false }
        try update(db, columns: columns)
        return true
    }

    // MARK: - Callbacks

    /// Does nothing. Called before an insertion or an update.
    open func willSave(_ db: Database) throws {}

    /// Calls `save`. Called around an insertion or an update.
    open func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws { _ = try save() }

    /// Does nothing. Called after an insertion or an update.
    open func didSave(_ saved: PersistenceSuccess) {}

    /// Does nothing. Called before an insertion.
    open func willInsert(_ db: Database) throws {}

    /// Called around an insertion. Subclasses that override it have to call `super`, which forgets the changes.
    open func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        reference = try insert().persistenceContainer
    }

    /// Does nothing. Called after an insertion.
    open func didInsert(_ inserted: InsertionSuccess) {}

    /// Does nothing. Called before an update.
    open func willUpdate(_ db: Database, columns: Set<String>) throws {}

    /// Called around an update. Subclasses that override it have to call `super`, which forgets the changes.
    open func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws {
        reference = try update().persistenceContainer
    }

    /// Does nothing. Called after an update.
    open func didUpdate(_ updated: PersistenceSuccess) {}

    /// Does nothing. Called before a deletion.
    open func willDelete(_ db: Database) throws {}

    /// Called around a deletion. Subclasses that override it have to call `super`: there is nothing left to compare
    /// with.
    open func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        _ = try delete()
        reference = nil
    }

    /// Does nothing. Called after a deletion.
    open func didDelete(deleted: Bool) {}
}

extension Record: FetchableRecord, PersistableRecord {}

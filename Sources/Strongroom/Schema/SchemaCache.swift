/// The schemas of a connection's databases, as far as they were read. It is dropped as a whole when one of them may
/// have changed.
final class SchemaCache: ConnectionPart {
    // Unchecked exclusivity: see the article *Layers*.

    /// An open transaction may have changed a schema before anybody asked for it.
    init(_ database: Database) {
        isProvisional = !database.isAutocommit
    }

    /// The schemas in the order in which SQLite looks for a name.
    @exclusivity(unchecked) var searchOrder: [DatabaseSchemaID]?

    /// The contents of the schemas that were read.
    @exclusivity(unchecked) var contents: [DatabaseSchemaID: SchemaContents] = [:]

    /// The tables and views that were asked for without schema, by the name that was given.
    var unqualifiedRelations: [String: Relation] = [:]

    /// The objects derived from the schemas, by type, such as the SQL that saves its records, which names primary
    /// keys.
    @exclusivity(unchecked) private var derived: [ObjectIdentifier: AnyObject] = [:]

    /// The object that was asked for last: many programs save many records of one type.
    @exclusivity(unchecked) private var latestDerived: (type: ObjectIdentifier, value: AnyObject)?

    /// For each schema that was read and that other connections may change, when it was.
    @exclusivity(unchecked) var stamps: [SchemaStamp] = []

    /// The transaction that writes now and has found the stamps current: nobody else can change a schema before it
    /// ends. It is told by how many have ended before.
    @exclusivity(unchecked) var settledTransaction: Int?

    /// True if an open transaction has changed a schema, and may still take the change back.
    @exclusivity(unchecked) var isProvisional: Bool

    var isEmpty: Bool { searchOrder == nil && contents.isEmpty }

    /// Returns the object derived from the schemas for `type`, made by `make` if need be and kept as long as they are.
    func derived<Value: AnyObject>(
        for type: Any.Type, where serves: (Value) -> Bool, make: () -> Value) -> Value
    {
        let id = ObjectIdentifier(type)
        if let latestDerived, latestDerived.type == id, let known = latestDerived.value as? Value, serves(known) {
            return known
        }
        let known = derived[id] as? Value
        let value = if let known, serves(known) { known } else { make() }
        derived[id] = value
        latestDerived = (id, value)
        return value
    }

    /// Forgets all but whether the transaction has changed a schema.
    func removeAll() {
        searchOrder = nil
        contents = [:]
        unqualifiedRelations = [:]
        derived = [:]
        latestDerived = nil
        stamps = []
        settledTransaction = nil
    }

    /// Forgets the keys of views, which a schema source gave.
    func removeViewKeys() {
        derived = [:]
        latestDerived = nil
        for content in contents.values {
            for relation in content.relations.values where relation.isView { relation.primaryKey = nil }
        }
    }
}

/// The state of a schema at some moment.
struct SchemaStamp {
    let schemaID: DatabaseSchemaID

    /// `PRAGMA schema_version`: changes with the schema.
    let schemaVersion: Int64

    /// `SQLITE_FCNTL_DATA_VERSION`: changes with any commit, and costs no read.
    var dataVersion: UInt32
}

/// The names in one schema.
struct SchemaContents {
    /// Tables and views, by folded name.
    var relations: [String: Relation] = [:]

    /// The folded names of the triggers.
    var triggers: Set<String> = []
}

/// A table or a view, with what is known of it so far.
final class Relation {
    let id: DatabaseObjectID
    let isView: Bool

    var columns: [ColumnInfo]?
    var primaryKey: PrimaryKeyInfo?
    var indexes: [IndexInfo]?
    var uniqueKeys: [Set<String>]?
    var foreignKeys: [ForeignKeyInfo]?

    init(id: DatabaseObjectID, isView: Bool) {
        self.id = id
        self.isView = isView
    }
}

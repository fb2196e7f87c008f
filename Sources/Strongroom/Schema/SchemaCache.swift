/// The schemas of a connection's databases, as far as they were read. It is emptied as a whole when one of them may
/// have changed.
final class SchemaCache: ConnectionPart {
    // Unchecked exclusivity: see <doc:Layers>.

    /// An open transaction may have changed a schema before the cache is created.
    init(_ database: Database) {
        isProvisional = !database.isAutocommit
    }

    /// The schemas in the order in which SQLite looks for a name.
    @exclusivity(unchecked) var searchOrder: [DatabaseSchemaID]?

    /// The contents of the schemas that were read.
    @exclusivity(unchecked) var contents: [DatabaseSchemaID: SchemaContents] = [:]

    /// The tables and views that were looked up without a schema, by the given name.
    var unqualifiedRelations: [String: Relation] = [:]

    /// The objects that are derived from the schemas, by type, such as the SQL that saves records of the type.
    @exclusivity(unchecked) private var derived: [ObjectIdentifier: AnyObject] = [:]

    /// The object of the last look-up: many programs save many records of one type.
    @exclusivity(unchecked) private var latestDerived: (type: ObjectIdentifier, value: AnyObject)?

    /// The stamp of each schema that was read and that other connections can change.
    @exclusivity(unchecked) var stamps: [SchemaStamp] = []

    /// The transaction that writes now and has found the stamps current: until it ends, no other connection can change
    /// a schema. It is identified by the number of transactions that have ended before.
    @exclusivity(unchecked) var settledTransaction: Int?

    /// True if an open transaction has changed a schema, and may roll the change back.
    @exclusivity(unchecked) var isProvisional: Bool

    var isEmpty: Bool { searchOrder == nil && contents.isEmpty }

    /// Returns the object of the last look-up if it was for `type`, and the transaction that writes now has found the
    /// schemas current. Nil if a look-up has to tell.
    @inline(__always)
    func latest<Value: AnyObject>(_ class: Value.Type, for type: Any.Type, in transaction: Int) -> Value? {
        settledTransaction == transaction ? latest(Value.self, ObjectIdentifier(type)) : nil
    }

    @inline(__always)
    private func latest<Value: AnyObject>(_ class: Value.Type, _ type: ObjectIdentifier) -> Value? {
        guard let latestDerived, latestDerived.type == type, Swift.type(of: latestDerived.value) == Value.self
        else { return nil }
        // The same class.
        return unsafeDowncast(latestDerived.value, to: Value.self)
    }

    /// Returns the object that is derived from the schemas for `type`. `make` creates it if necessary. It is kept until
    /// they change.
    func derived<Value: AnyObject>(
        for type: Any.Type, where serves: (Value) -> Bool, make: () -> Value
    ) -> Value {
        let id = ObjectIdentifier(type)
        if let known = latest(Value.self, id), serves(known) { return known }
        let known = derived[id] as? Value
        let value = if let known, serves(known) { known } else { make() }
        derived[id] = value
        latestDerived = (id, value)
        return value
    }

    /// Discards everything except the fact that the transaction has changed a schema.
    func removeAll() {
        searchOrder = nil
        contents = [:]
        unqualifiedRelations = [:]
        derived = [:]
        latestDerived = nil
        stamps = []
        settledTransaction = nil
    }

    /// Discards the keys of views, which come from a schema source.
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

    /// `PRAGMA schema_version`, which changes with the schema.
    let schemaVersion: Int64

    /// `SQLITE_FCNTL_DATA_VERSION`, which changes with each commit, and costs no read.
    var dataVersion: UInt32
}

/// The names in one schema.
struct SchemaContents {
    /// Tables and views, by folded name.
    var relations: [String: Relation] = [:]

    /// The folded names of the triggers.
    var triggers: Set<String> = []
}

/// A table or a view, with the facts that were read so far.
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

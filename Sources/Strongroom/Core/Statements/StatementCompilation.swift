/// SQLite's compilation of a statement: what it reads and changes, and whether it affects the schema or the
/// transaction.
///
/// Source: <https://www.sqlite.org/c3ref/set_authorizer.html>.
struct StatementCompilation {
    /// The columns that are read, by table. The empty name means that rows are counted, or read by their rowid.
    var reads: [String: Set<String>] = [:]

    /// The names of tables that the statement doesn't contain: those of views, and of named subqueries.
    var views: Set<String> = []

    /// The tables that are inserted into, deleted from, and updated (with their columns).
    var insertions: Set<String> = []
    var deletions: Set<String> = []
    var updates: [String: Set<String>] = [:]

    /// True if the statement creates, alters, drops, attaches or detaches.
    var changesSchema = false

    /// True if the statement's text or arguments contain a key: it must not be cached, traced or shown in errors.
    var carriesKey = false

    /// True if the statement attaches a database: its arguments may contain a key.
    var attaches = false

    /// The database that the statement vacuums into a file. Empty if it vacuums in place, nil for other statements.
    var vacuumedSchema: String?

    /// True if the statement is a pragma that SQLCipher runs while it is compiled: it returns the same answer each time
    /// it runs.
    var actsWhenCompiled = false

    /// True if the statement writes, but `sqlite3_stmt_readonly` doesn't report it.
    var writesUnseen = false

    /// The number of the restricted access in which the statement was compiled. Zero for others.
    var restriction = 0

    /// True if a view of the database's owner reads what the restricted access may not read by itself: messages may
    /// quote it.
    var readsForOwner = false

    /// True if the statement contains `MATCH`.
    var matches = false

    /// True if the statement reads an attached database.
    var readsAttached = false

    /// True if the statement only changes rows of temporary tables.
    var changesTemporaryRowsOnly: Bool { changesTemporaryRows && !changesOtherRows }
    private var changesTemporaryRows = false, changesOtherRows = false

    /// Records a change of rows in a schema.
    mutating func noteChange(in schema: UnsafePointer<CChar>?) {
        let isTemporary = schema.map { SQLite.isSame($0, "temp") } ?? false
        if isTemporary { changesTemporaryRows = true } else { changesOtherRows = true }
    }

    /// True if the statement is a `PRAGMA` that only returns a value, regardless of `sqlite3_stmt_readonly`.
    var onlyQueries = false

    var transaction: Transaction?

    /// The region of the database that the statement reads.
    var region: DatabaseRegion {
        // With a column, SQLite reports the table's own name. Without one, it reports the name in the statement. The
        // first one is shown.
        let reads = reads.sorted { ($0.value == [""] ? 1 : 0, $0.key) < ($1.value == [""] ? 1 : 0, $1.key) }
        return reads.reduce(into: DatabaseRegion()) { region, read in
            region.formUnion(DatabaseRegion(table: read.key, columns: read.value.contains("") ? nil : read.value))
        }
    }

    /// The kinds of changes that the statement may make.
    var eventKinds: [DatabaseEventKind] {
        insertions.map { .insert(tableName: $0) }
            + deletions.map { .delete(tableName: $0) }
            + updates.map { .update(tableName: $0.key, columnNames: $0.value) }
    }

    /// The effect of a statement on its transaction.
    enum Transaction: Equatable {
        case begin
        case commit
        case rollback
        case beginSavepoint(String)
        case releaseSavepoint(String)
        case rollbackSavepoint(String)
    }
}

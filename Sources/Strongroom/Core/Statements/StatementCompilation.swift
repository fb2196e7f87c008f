import CSQLCipher

/// The result of SQLite's compiler for a statement: what it reads and changes, and whether it touches schema or
/// transactions.
///
/// Source: <https://www.sqlite.org/c3ref/set_authorizer.html>.
struct StatementCompilation {
    /// Columns read, by table. The empty name stands for all: the rows are counted, or read by their rowid.
    var reads: [String: Set<String>] = [:]

    /// Names by which tables are read that the statement itself doesn't name: those of views, and of named subqueries.
    var views: Set<String> = []

    /// Tables inserted into, deleted from, and updated (with the columns).
    var insertions: Set<String> = []
    var deletions: Set<String> = []
    var updates: [String: Set<String>] = [:]

    /// True if the statement creates, alters, drops, attaches or detaches.
    var changesSchema = false

    /// True if the statement's text or arguments carry a key: it must not be cached, traced or shown in errors.
    var carriesKey = false

    /// True if the statement attaches a database: its arguments may have a key among them.
    var attaches = false

    /// The database that the statement vacuums into a file, empty for one that it vacuums in place; nil for other
    /// statements.
    var vacuumedSchema: String?

    /// True if the statement is a pragma that SQLCipher runs, and answers, while it is compiled: it says the same
    /// each time it runs.
    var actsWhenCompiled = false

    /// True if the statement writes although `sqlite3_stmt_readonly` doesn't know.
    var writesUnseen = false

    /// True if the statement has a `MATCH`.
    var matches = false

    /// True if the statement reads a database that was attached.
    var readsAttached = false

    /// True if all rows that the statement changes are in temporary tables.
    var changesTemporaryRowsOnly: Bool { changesTemporaryRows && !changesOtherRows }
    private var changesTemporaryRows = false, changesOtherRows = false

    /// Takes notice of a change of rows in that schema.
    mutating func noteChange(in schema: UnsafePointer<CChar>?) {
        let isTemporary = schema.map { sqlite3_stricmp($0, "temp") == 0 } ?? false
        if isTemporary { changesTemporaryRows = true } else { changesOtherRows = true }
    }

    /// True if the statement is a `PRAGMA` that only asks, whatever `sqlite3_stmt_readonly` says.
    var onlyAsks = false

    var transaction: Transaction?

    /// The part of the database that the statement reads.
    var region: DatabaseRegion {
        // With a column, SQLite tells the table's own name; without one, that in the statement. The first of them is
        // shown.
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

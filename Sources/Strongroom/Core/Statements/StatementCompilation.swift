import CSQLCipher

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

    /// True if the statement contains `MATCH`.
    var matches = false

    /// True if the statement reads an attached database.
    var readsAttached = false

    /// True if the statement only changes rows of temporary tables.
    var changesTemporaryRowsOnly: Bool { changesTemporaryRows && !changesOtherRows }
    private var changesTemporaryRows = false, changesOtherRows = false

    /// Records a change of rows in a schema.
    mutating func noteChange(in schema: UnsafePointer<CChar>?) {
        let isTemporary = schema.map { sqlite3_stricmp($0, "temp") == 0 } ?? false
        if isTemporary { changesTemporaryRows = true } else { changesOtherRows = true }
    }

    /// True if the statement is a `PRAGMA` that only returns a value, regardless of `sqlite3_stmt_readonly`.
    var onlyAsks = false

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

/// The authorizer of one connection, which records what SQLite's compiler reports.
///
/// It is installed once, because SQLite recompiles every statement when an authorizer is set.
final class StatementAuthorizer {
    private(set) var compilation = StatementCompilation()

    /// Returns the decision on each pragma that is compiled.
    var verdict: (Pragma) -> PragmaVerdict = { _ in .run }

    /// Called with the name of the file that a running `VACUUM INTO` is about to create.
    var willCopy: ((_ filename: String) -> Void)?

    /// True if the library compiles a statement, and false for statements of the C interface.
    private(set) var isCompiling = false

    /// The refusal of the statement that was compiled last.
    private(set) var refusal: DatabaseError?

    /// The lowercase names of the tables that `DELETE` without `WHERE` empties row by row, because their rows are
    /// observed.
    private var watchedDeletions: Set<String> = []

    /// The previous action: dropping a table also reports its deletion.
    private var formerAction: CInt = 0

    /// True if only reads are allowed: some pragmas act while they are compiled.
    var isReadOnly = false

    /// True if the program's statements must not write to any file.
    var writesNowhere = false

    func install(on connection: SQLiteConnection) -> CInt {
        sqlite3_set_authorizer(connection, authorize, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Makes all deletions in a table happen row by row from now on.
    func watchDeletions(in table: String, on connection: SQLiteConnection?) {
        guard watchedDeletions.insert(table.lowercased()).inserted, let connection else { return }
        // Setting the authorizer makes SQLite recompile all statements before their next run.
        _ = install(on: connection)
    }

    /// Allows `DELETE` without `WHERE` to be fast again, when rows are no longer observed.
    func forgetWatchedDeletions(on connection: SQLiteConnection?) {
        guard !watchedDeletions.isEmpty, let connection else { return }
        watchedDeletions = []
        _ = install(on: connection)
    }

    /// Runs the compiler, and returns its report.
    func observing(_ compile: () throws -> Void) rethrows -> StatementCompilation {
        // The compiler may call a tokenizer that queries the database.
        let outer = isCompiling ? (compilation, refusal, formerAction) : nil
        let wasCompiling = isCompiling
        defer {
            if let outer { (compilation, refusal, formerAction) = outer }
            isCompiling = wasCompiling
        }
        isCompiling = true
        compilation = StatementCompilation()
        refusal = nil
        try compile()
        return compilation
    }

    fileprivate func observe(
        _ action: CInt, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
        schema: UnsafePointer<CChar>?, by source: UnsafePointer<CChar>?) -> CInt
    {
        defer { formerAction = action }
        switch action {
        case SQLITE_READ: if let schema, !Self.isOwn(schema) { compilation.readsAttached = true }
        case SQLITE_INSERT, SQLITE_DELETE, SQLITE_UPDATE: compilation.noteChange(in: schema)
        default: break
        }
        switch action {
        case SQLITE_READ:
            guard let table = first.map(String.init(cString:)) else { break }
            if let source { compilation.views.insert(String(cString: source)) }
            compilation.reads[table, default: []].insert(second.map(String.init(cString:)) ?? "")
        case SQLITE_INSERT:
            guard let table = first.map(String.init(cString:)) else { break }
            compilation.insertions.insert(table)
        case SQLITE_DELETE:
            guard let table = first.map(String.init(cString:)) else { break }
            compilation.deletions.insert(table)
            // Ignoring a deletion means to run it without SQLite's optimization, which doesn't report rows. Ignoring a
            // DROP TABLE means not to run it. <https://www.sqlite.org/c3ref/set_authorizer.html>
            if !watchedDeletions.isEmpty, !Self.dropActions.contains(formerAction),
               watchedDeletions.contains(table.lowercased())
            {
                return SQLITE_IGNORE
            }
        case SQLITE_UPDATE:
            guard let table = first.map(String.init(cString:)) else { break }
            let column = second.map(String.init(cString:)) ?? ""
            compilation.updates[table, default: []].insert(column)
        case SQLITE_TRANSACTION:
            observeTransaction(first.map(String.init(cString:)) ?? "")
        case SQLITE_SAVEPOINT:
            observeSavepoint(first.map(String.init(cString:)) ?? "", second.map(String.init(cString:)) ?? "")
        case SQLITE_PRAGMA:
            return observe(Pragma(
                name: first.map { String(cString: $0).lowercased() } ?? "", value: second.map(String.init(cString:)),
                schema: schema.map { String(cString: $0).lowercased() }))
        case SQLITE_ATTACH, SQLITE_DETACH:
            compilation.attaches = action == SQLITE_ATTACH
            compilation.changesSchema = true
            if writesNowhere, isCompiling { return refuse(.readOnly) }
            if let willCopy, let first { willCopy(String(cString: first)) }
        case SQLITE_FUNCTION:
            // It runs INSERT statements itself.
            if second.map({ sqlite3_stricmp($0, "sqlcipher_export") == 0 }) == true { compilation.writesUnseen = true }
            if second.map({ sqlite3_stricmp($0, "match") == 0 }) == true { compilation.matches = true }
            guard writesNowhere, isCompiling, let name = second.map({ String(cString: $0).lowercased() }) else { break }
            if WritingSQL.functions.contains(name) { return refuse(.readOnly) }
        default:
            if Self.schemaActions.contains(action) { compilation.changesSchema = true }
        }
        return SQLITE_OK
    }

    private static func isOwn(_ schema: UnsafePointer<CChar>) -> Bool {
        sqlite3_stricmp(schema, "main") == 0 || sqlite3_stricmp(schema, "temp") == 0
    }

    private func observeTransaction(_ operation: String) {
        switch operation {
        case "BEGIN": compilation.transaction = .begin
        case "COMMIT": compilation.transaction = .commit
        default: compilation.transaction = .rollback
        }
    }

    private func observeSavepoint(_ operation: String, _ name: String) {
        switch operation {
        case "BEGIN": compilation.transaction = .beginSavepoint(name)
        case "RELEASE": compilation.transaction = .releaseSavepoint(name)
        default: compilation.transaction = .rollbackSavepoint(name)
        }
    }

    private func observe(_ pragma: Pragma) -> CInt {
        if SQLText.keyPragmas.contains(pragma.name) { compilation.carriesKey = true }
        if pragma.name == "journal_mode", pragma.value == nil { compilation.onlyAsks = true }
        if pragma.name == "optimize" { compilation.writesUnseen = true }
        switch verdict(pragma) {
        case .ignore:
            compilation.actsWhenCompiled = true
            return SQLITE_IGNORE
        case .refuse(let error): return refuse(error)
        case .runAtOnce: compilation.actsWhenCompiled = true
        case .run: break
        }
        if isReadOnly, Self.rewritingPragmas.contains(pragma.name) { return refuse(.readOnly) }
        if writesNowhere, isCompiling, !WritingSQL.isReading(pragma: pragma.name, value: pragma.value) {
            return refuse(.readOnly)
        }
        return SQLITE_OK
    }

    private func refuse(_ error: DatabaseError) -> CInt {
        refusal = error
        return SQLITE_DENY
    }

    /// The statements that rewrite the file while they are compiled.
    private static let rewritingPragmas: Set<String> = ["rekey", "hexrekey", "textrekey", "cipher_migrate"]

    private static let dropActions: Set<CInt> = [
        SQLITE_DROP_TABLE, SQLITE_DROP_TEMP_TABLE, SQLITE_DROP_VTABLE, SQLITE_DROP_VIEW, SQLITE_DROP_TEMP_VIEW,
    ]

    private static let schemaActions: Set<CInt> = [
        SQLITE_CREATE_INDEX, SQLITE_CREATE_TABLE, SQLITE_CREATE_TEMP_INDEX, SQLITE_CREATE_TEMP_TABLE,
        SQLITE_CREATE_TEMP_TRIGGER, SQLITE_CREATE_TEMP_VIEW, SQLITE_CREATE_TRIGGER, SQLITE_CREATE_VIEW,
        SQLITE_CREATE_VTABLE, SQLITE_DROP_INDEX, SQLITE_DROP_TABLE, SQLITE_DROP_TEMP_INDEX, SQLITE_DROP_TEMP_TABLE,
        SQLITE_DROP_TEMP_TRIGGER, SQLITE_DROP_TEMP_VIEW, SQLITE_DROP_TRIGGER, SQLITE_DROP_VIEW, SQLITE_DROP_VTABLE,
        SQLITE_ALTER_TABLE,
    ]
}

private func authorize(
    _ context: UnsafeMutableRawPointer?,
    _ action: CInt,
    _ first: UnsafePointer<CChar>?,
    _ second: UnsafePointer<CChar>?,
    _ schema: UnsafePointer<CChar>?,
    _ trigger: UnsafePointer<CChar>?)
    -> CInt
{
    let observer = Unmanaged<StatementAuthorizer>.fromOpaque(context!).takeUnretainedValue()
    return observer.observe(action, first, second, schema: schema, by: trigger)
}

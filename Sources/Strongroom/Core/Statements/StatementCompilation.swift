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

/// Listens to the compiler of one connection.
///
/// Installed once and for good: SQLite recompiles every statement when an authorizer is set.
final class StatementAuthorizer {
    private(set) var compilation = StatementCompilation()

    /// Decides on each pragma that is compiled.
    var verdict: (Pragma) -> PragmaVerdict = { _ in .run }

    /// Called with the name of the file that a running `VACUUM INTO` is about to create.
    var willCopy: ((_ filename: String) -> Void)?

    /// True if a statement is being compiled for the library; statements of C are their caller's.
    private(set) var isCompiling = false

    /// The error for a statement that was just compiled and is not allowed.
    private(set) var refusal: DatabaseError?

    /// The lowercase names of the tables that `DELETE` without `WHERE` empties row by row, because somebody is told of
    /// the rows.
    private var watchedDeletions: Set<String> = []

    /// The action before: dropping a table asks for its deletion as well.
    private var formerAction: CInt = 0

    /// True if nothing but reads is allowed now: some pragmas act while they are compiled.
    var isReadOnly = false

    /// True if the program's statements may write to no file at all.
    var writesNowhere = false

    func install(on connection: SQLiteConnection) -> CInt {
        sqlite3_set_authorizer(connection, authorize, Unmanaged.passUnretained(self).toOpaque())
    }

    /// From now on, all deletions in that table happen row by row.
    func watchDeletions(in table: String, on connection: SQLiteConnection?) {
        guard watchedDeletions.insert(table.lowercased()).inserted, let connection else { return }
        // Setting the authorizer makes SQLite recompile all statements before their next run.
        _ = install(on: connection)
    }

    /// Nobody is told of deletions anymore: `DELETE` without `WHERE` may be fast.
    func forgetWatchedDeletions(on connection: SQLiteConnection?) {
        guard !watchedDeletions.isEmpty, let connection else { return }
        watchedDeletions = []
        _ = install(on: connection)
    }

    /// Runs the compiler, and gives what it said.
    func observing(_ compile: () throws -> Void) rethrows -> StatementCompilation {
        // The compiler may call out, to a tokenizer that wants to know something of the database.
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
            // To ignore a deletion means to do it without SQLite's short cut, which tells nobody; to ignore a DROP
            // TABLE, not to do it. <https://www.sqlite.org/c3ref/set_authorizer.html>
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
            // It runs INSERT statements of its own.
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

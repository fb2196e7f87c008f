import CSQLCipher

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

    /// The restriction of the current access. Nil for accesses without one.
    var restriction: (any StatementRestriction)?

    func install(on connection: SQLiteConnection) -> CInt {
        RawConnection(connection).setAuthorizer(authorize, Unmanaged.passUnretained(self).toOpaque())
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
        compilation.restriction = restriction?.number ?? 0
        refusal = nil
        try compile()
        return compilation
    }

    fileprivate func observe(
        _ action: CInt, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
        schema: UnsafePointer<CChar>?, by source: UnsafePointer<CChar>?
    ) -> CInt {
        defer { formerAction = action }
        if let restriction {
            let report = CompilerReport(
                action: action, first: first.map(String.init(cString:)), second: second.map(String.init(cString:)),
                schema: schema.map(String.init(cString:)), source: source.map(String.init(cString:)),
                isOfProgram: isCompiling)
            switch restriction.verdict(on: report) {
            case .allowed: break
            case .allowedToOwner: compilation.readsForOwner = true
            case .refused(let error): return refuse(error)
            }
        }
        switch action {
        case SQLITE_READ:
            if let schema, !Self.isOwn(schema) { compilation.readsAttached = true }
            if let first { observeRead(of: String(cString: first), second, by: source) }
        case SQLITE_INSERT, SQLITE_DELETE, SQLITE_UPDATE:
            compilation.noteChange(in: schema)
            if let first { return observeChange(action, of: String(cString: first), second) }
        case SQLITE_TRANSACTION:
            observeTransaction(first.map(String.init(cString:)) ?? "")
        case SQLITE_SAVEPOINT:
            observeSavepoint(first.map(String.init(cString:)) ?? "", second.map(String.init(cString:)) ?? "")
        case SQLITE_PRAGMA:
            return observe(
                Pragma(
                    name: first.map { String(cString: $0).lowercased() } ?? "",
                    value: second.map(String.init(cString:)),
                    schema: schema.map { String(cString: $0).lowercased() }))
        case SQLITE_ATTACH, SQLITE_DETACH:
            compilation.attaches = action == SQLITE_ATTACH
            compilation.changesSchema = true
            if writesNowhere, isCompiling { return refuse(.readOnly) }
            if let willCopy, let first { willCopy(String(cString: first)) }
        case SQLITE_FUNCTION:
            if let second { return observeFunction(second) }
        default:
            if Self.schemaActions.contains(action) { compilation.changesSchema = true }
        }
        return SQLITE_OK
    }

    private func observeRead(
        of table: String, _ column: UnsafePointer<CChar>?, by source: UnsafePointer<CChar>?
    ) {
        if let source { compilation.views.insert(String(cString: source)) }
        compilation.reads[table, default: []].insert(column.map(String.init(cString:)) ?? "")
    }

    private func observeChange(_ action: CInt, of table: String, _ column: UnsafePointer<CChar>?) -> CInt {
        switch action {
        case SQLITE_INSERT:
            compilation.insertions.insert(table)
        case SQLITE_UPDATE:
            compilation.updates[table, default: []].insert(column.map(String.init(cString:)) ?? "")
        default:
            compilation.deletions.insert(table)
            // To ignore a deletion means to do it without SQLite's short cut, which calls no hook; to ignore a DROP
            // TABLE, not to do it. <https://www.sqlite.org/c3ref/set_authorizer.html>
            if !watchedDeletions.isEmpty, !Self.dropActions.contains(formerAction),
                watchedDeletions.contains(table.lowercased())
            {
                return SQLITE_IGNORE
            }
        }
        return SQLITE_OK
    }

    private func observeFunction(_ name: UnsafePointer<CChar>) -> CInt {
        // It runs INSERT statements itself.
        if SQLite.isSame(name, "sqlcipher_export") { compilation.writesUnseen = true }
        if SQLite.isSame(name, "match") { compilation.matches = true }
        guard writesNowhere, isCompiling else { return SQLITE_OK }
        return WritingSQL.functions.contains(String(cString: name).lowercased()) ? refuse(.readOnly) : SQLITE_OK
    }

    private static func isOwn(_ schema: UnsafePointer<CChar>) -> Bool {
        SQLite.isSame(schema, "main") || SQLite.isSame(schema, "temp")
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
        if pragma.name == "journal_mode", pragma.value == nil { compilation.onlyQueries = true }
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
    _ trigger: UnsafePointer<CChar>?
)
    -> CInt
{
    let observer = Unmanaged<StatementAuthorizer>.fromOpaque(context!).takeUnretainedValue()
    return observer.observe(action, first, second, schema: schema, by: trigger)
}

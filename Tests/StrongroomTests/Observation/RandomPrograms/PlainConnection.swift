import CSQLCipher
import Foundation

/// SQLite without Strongroom: what it does and what its hooks report, in plain C.
final class PlainConnection {
    enum Hook { case commit, rollback }

    private var db: OpaquePointer!

    /// The hook that was called last since the end of the last statement.
    fileprivate var latestHook: Hook?

    /// The rows that the update hook has reported in the open transaction, and that no savepoint has undone.
    fileprivate var events: [String] = []
    private var savepoints: [(name: String, firstEvent: Int)] = []

    /// The rows that the last transaction has changed, if it was committed.
    private(set) var committedEvents: [String] = []

    init(path: String) {
        precondition(sqlite3_open(path, &db) == SQLITE_OK)
        sqlite3_extended_result_codes(db, 1)
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_commit_hook(db, noteCommit, context)
        sqlite3_rollback_hook(db, noteRollback, context)
        sqlite3_update_hook(db, noteRow, context)
        sqlite3_set_authorizer(db, deleteRowByRow, nil)
        precondition(run("PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF") == SQLITE_OK)
        _ = end(inTransaction: false)
    }

    deinit { sqlite3_close(db) }

    var isInTransaction: Bool { sqlite3_get_autocommit(db) == 0 }
    var changes: Int { Int(sqlite3_changes(db)) }
    var lastRowID: Int64 { sqlite3_last_insert_rowid(db) }

    /// Runs statements, and returns the extended code of the first failure.
    func run(_ sql: String) -> CInt {
        sqlite3_exec(db, sql, nil, nil, nil)
    }

    /// Runs one statement of a program, and returns its code and the end of its transaction.
    func run(_ statement: RandomStatement) -> (code: CInt, end: Hook?) {
        let wasInTransaction = isInTransaction
        let code = run(statement.sql)
        if code == SQLITE_OK { update(statement.savepoint) }
        return (code, end(inTransaction: wasInTransaction))
    }

    private func update(_ operation: RandomStatement.Savepoint?) {
        switch operation {
        case .begin(let name):
            savepoints.append((name, events.count))
        case .release(let name):
            if let index = savepoints.lastIndex(where: { $0.name == name }) { savepoints.removeSubrange(index...) }
        case .rollBack(let name):
            guard let index = savepoints.lastIndex(where: { $0.name == name }) else { return }
            events.removeSubrange(savepoints[index].firstEvent...)
            savepoints.removeSubrange((index + 1)...)
        case nil: break
        }
    }

    private func end(inTransaction wasInTransaction: Bool) -> Hook? {
        defer { latestHook = nil }
        if isInTransaction { return nil }
        savepoints = []
        defer { events = [] }
        // SQLite calls no hook for the commit of a transaction without changes.
        let end = wasInTransaction ? latestHook ?? .commit : latestHook == .commit ? .commit : nil
        if end == .commit { committedEvents = events }
        return end
    }

    /// Returns the values of the first column as SQL literals, in an order that depends on them only.
    func values(_ sql: String) -> [String] {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        precondition(sqlite3_prepare_v2(db, sql, -1, &statement, nil) == SQLITE_OK, sql)
        var values: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            values.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
        }
        return values.sorted()
    }
}

private func noteCommit(_ context: UnsafeMutableRawPointer?) -> CInt {
    Unmanaged<PlainConnection>.fromOpaque(context!).takeUnretainedValue().latestHook = .commit
    return 0
}

private func noteRollback(_ context: UnsafeMutableRawPointer?) {
    Unmanaged<PlainConnection>.fromOpaque(context!).takeUnretainedValue().latestHook = .rollback
}

private func noteRow(
    _ context: UnsafeMutableRawPointer?, _ kind: CInt, _ database: UnsafePointer<CChar>?,
    _ table: UnsafePointer<CChar>?, _ rowID: Int64
) {
    let table = String(cString: table!)
    guard RandomProgram.tables.contains(table) else { return }
    Unmanaged<PlainConnection>.fromOpaque(context!).takeUnretainedValue().events.append("\(kind) \(table) \(rowID)")
}

/// Refuses the short cut of `DELETE` without `WHERE`, which calls no hook.
private func deleteRowByRow(
    _ context: UnsafeMutableRawPointer?, _ action: CInt, _ table: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?,
    _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?
) -> CInt {
    guard action == SQLITE_DELETE, let table else { return SQLITE_OK }
    return RandomProgram.tables.contains(String(cString: table)) ? SQLITE_IGNORE : SQLITE_OK
}

import CSQLCipher
import CStrongroom

/// SQLite's functions for a connection: `sqlite3.h` and `strongroom_calls.h`. Without a connection, SQLite returns
/// `SQLITE_MISUSE` or zero.
struct RawConnection {
    let pointer: SQLiteConnection?

    init(_ pointer: SQLiteConnection?) {
        self.pointer = pointer
    }

    // MARK: - Errors

    /// The code of the last call that failed. <https://www.sqlite.org/c3ref/errcode.html>
    var errorCode: CInt { sqlite3_errcode(pointer) }

    var extendedErrorCode: CInt { sqlite3_extended_errcode(pointer) }

    /// The message of the last call that failed.
    var errorMessage: String { String(cString: sqlite3_errmsg(pointer)) }

    // MARK: - State

    /// True if each statement is a transaction of its own. <https://www.sqlite.org/c3ref/get_autocommit.html>
    var isAutocommit: Bool { sqlite3_get_autocommit(pointer) != 0 }

    /// The state of the transaction for a schema. Nil for the strongest state of all schemas.
    /// <https://www.sqlite.org/c3ref/txn_state.html>
    func transactionState(of schema: String?) -> CInt { sqlite3_txn_state(pointer, schema) }

    /// The rowid of the most recent insertion. <https://www.sqlite.org/c3ref/last_insert_rowid.html>
    var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(pointer) }

    /// The number of rows that the most recent statement changed. <https://www.sqlite.org/c3ref/changes.html>
    var changesCount: Int { Int(strongroom_changes(pointer)) }

    /// The number of rows that were changed since the connection was opened.
    var totalChangesCount: Int { Int(strongroom_total_changes(pointer)) }

    /// Returns the value of a limit. <https://www.sqlite.org/c3ref/limit.html>
    func limit(_ limit: CInt) -> Int { Int(sqlite3_limit(pointer, limit, -1)) }

    /// Sets a limit, and returns the former value. <https://www.sqlite.org/c3ref/limit.html>
    @discardableResult
    func setLimit(_ limit: CInt, _ value: Int) -> Int {
        Int(sqlite3_limit(pointer, limit, CInt(clamping: max(0, value))))
    }

    /// Returns true if a Boolean option is set. <https://www.sqlite.org/c3ref/c_dbconfig_defensive.html>
    func isConfigured(_ option: CInt) -> Bool {
        var isOn: CInt = 0
        return strongroom_db_config(pointer, option, -1, &isOn) == SQLITE_OK && isOn != 0
    }

    /// Returns the name of the database with an index. Nil if there is none.
    /// <https://www.sqlite.org/c3ref/db_name.html>
    func schemaName(at index: CInt) -> String? { sqlite3_db_name(pointer, index).map { String(cString: $0) } }

    /// Returns the path of a database's file. Nil without a file. <https://www.sqlite.org/c3ref/db_filename.html>
    func fileName(of schema: String) -> String? {
        sqlite3_db_filename(pointer, schema).flatMap { $0.pointee == 0 ? nil : String(cString: $0) }
    }

    /// Returns false if the path of a database's file is not UTF-8.
    func hasFileNameInUTF8(_ schema: String) -> Bool {
        sqlite3_db_filename(pointer, schema).map { String(validatingCString: $0) != nil } ?? true
    }

    /// The living statement after another one. Nil for the first. <https://www.sqlite.org/c3ref/next_stmt.html>
    func statement(after statement: SQLiteStatement?) -> SQLiteStatement? { sqlite3_next_stmt(pointer, statement) }

    /// Returns true if a database has an open journal, or a write-ahead log.
    /// <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html>
    func isJournaled(_ schema: String) -> Bool {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(pointer, schema, SQLITE_FCNTL_JOURNAL_POINTER, &file)
        return code == SQLITE_OK && file?.pointee.pMethods != nil
    }

    /// Frees as much memory as possible. <https://www.sqlite.org/c3ref/db_release_memory.html>
    func releaseMemory() { sqlite3_db_release_memory(pointer) }

    /// Sets one of the Boolean options. Returns a result code.
    /// <https://www.sqlite.org/c3ref/c_dbconfig_defensive.html>
    func configure(_ option: CInt, _ isOn: Bool) -> CInt { strongroom_db_config(pointer, option, isOn ? 1 : 0, nil) }

    // MARK: - Files

    /// True if the file of the main database was removed, renamed or replaced.
    /// <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html>
    var hasMoved: Bool {
        var hasMoved: CInt = 0
        return fileControl("main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK && hasMoved != 0
    }

    /// Reads a number of the file of a database. Returns a result code.
    /// <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html>
    func fileControl<Value: FixedWidthInteger & BitwiseCopyable>(
        _ schema: String, _ operation: CInt, _ value: inout Value
    ) -> CInt {
        sqlite3_file_control(pointer, schema, operation, &value)
    }

    /// Moves frames of the write-ahead log into the file. Returns a result code.
    /// <https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>
    func checkpoint(_ schema: String?, mode: CInt, frames: inout CInt, moved: inout CInt) -> CInt {
        sqlite3_wal_checkpoint_v2(pointer, schema, mode, &frames, &moved)
    }

    // MARK: - Compiling and running

    /// Runs SQL. Returns a result code. <https://www.sqlite.org/c3ref/exec.html>
    func execute(_ sql: String) -> CInt { sqlite3_exec(pointer, sql, nil, nil, nil) }

    /// Compiles the first statement. `rest` receives the address after it. Returns a result code.
    /// <https://www.sqlite.org/c3ref/prepare.html>
    func prepare(
        _ sql: UnsafeBufferPointer<CChar>, _ statement: inout SQLiteStatement?, rest: inout UnsafePointer<CChar>?
    ) -> CInt {
        sqlite3_prepare_v3(pointer, sql.baseAddress, CInt(sql.count), 0, &statement, &rest)
    }

    func prepare(_ sql: String, _ statement: inout SQLiteStatement?) -> CInt {
        var sql = sql, rest: UnsafePointer<CChar>?
        return sql.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { prepare($0, &statement, rest: &rest) }
        }
    }

    /// Begins a write of the schema table, and ends it. A blob handle is a statement that writes, and needs no
    /// SQL to be compiled. <https://www.sqlite.org/c3ref/blob_open.html>
    func beginWrite() {
        var row: OpaquePointer?
        let code = sqlite3_blob_open(pointer, "main", "sqlite_master", "sql", 1, 1, &row)
        if code == SQLITE_OK { sqlite3_blob_close(row) }
    }

    /// Returns the first value of the first row as text, with a result code. Nil for NULL, and without a row.
    func answer(to sql: String) -> (code: CInt, text: String?) {
        var statement: SQLiteStatement?
        let compiled = sqlite3_prepare_v2(pointer, sql, -1, &statement, nil)
        guard compiled == SQLITE_OK else { return (compiled, nil) }
        var text: String?, code = SQLITE_OK
        if sqlite3_step(statement) == SQLITE_ROW, sqlite3_column_type(statement, 0) != SQLITE_NULL {
            text = sqlite3_column_text(statement, 0).map { String(cString: $0) }
            if text == nil { code = SQLITE_NOMEM }
        }
        let finalized = sqlite3_finalize(statement)
        return (finalized != SQLITE_OK ? finalized : code, text)
    }

    /// Makes the first step of a query that hands out an address through a typed pointer. Returns its result code.
    /// <https://www.sqlite.org/bindptr.html>
    func run(_ sql: String, withPointer address: UnsafeMutableRawPointer, ofType type: StaticString) -> CInt {
        var statement: SQLiteStatement?
        defer { sqlite3_finalize(statement) }
        let compiled = sqlite3_prepare_v2(pointer, sql, -1, &statement, nil)
        guard compiled == SQLITE_OK else { return compiled }
        let bound = sqlite3_bind_pointer(statement, 1, address, type.cString, nil)
        return bound == SQLITE_OK ? sqlite3_step(statement) : bound
    }
}

import CSQLCipher

/// SQLite's functions for a prepared statement: `sqlite3.h`.
@usableFromInline
struct RawStatement {
    @usableFromInline let pointer: SQLiteStatement

    @inlinable @inline(__always)
    init(_ pointer: SQLiteStatement) {
        self.pointer = pointer
    }

    // MARK: - Facts

    /// The SQL. Nil for a statement of SQLite's own, such as a blob handle.
    /// <https://www.sqlite.org/c3ref/expanded_sql.html>
    var sql: String? { sqlite3_sql(pointer).map { String(cString: $0) } }

    /// The SQL with the values of its arguments. Nil without memory.
    var expandedSQL: String? {
        guard let text = sqlite3_expanded_sql(pointer) else { return nil }
        defer { sqlite3_free(text) }
        return String(cString: text)
    }

    /// True if the statement does not write to the database file. <https://www.sqlite.org/c3ref/stmt_readonly.html>
    var isReadonly: Bool { sqlite3_stmt_readonly(pointer) != 0 }

    /// True for `EXPLAIN`. <https://www.sqlite.org/c3ref/stmt_isexplain.html>
    var isExplanation: Bool { sqlite3_stmt_isexplain(pointer) != 0 }

    /// The number of times that SQLite has compiled the statement again.
    /// <https://www.sqlite.org/c3ref/c_stmtstatus_counter.html>
    var recompilationCount: CInt { sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0) }

    /// The connection of the statement.
    var connection: SQLiteConnection? { sqlite3_db_handle(pointer) }

    // MARK: - Parameters and columns

    /// The name of each parameter without its prefix, which is the number of `?NNN`. Nil for `?`.
    /// <https://www.sqlite.org/c3ref/bind_parameter_name.html>
    var parameterNames: [String?] {
        (0..<sqlite3_bind_parameter_count(pointer)).map {
            sqlite3_bind_parameter_name(pointer, $0 + 1).map { String(cString: $0 + 1) }
        }
    }

    /// Sets all parameters to NULL.
    func clearBindings() { sqlite3_clear_bindings(pointer) }

    /// The number of columns. <https://www.sqlite.org/c3ref/column_count.html>
    var columnCount: CInt { sqlite3_column_count(pointer) }

    /// The names of the columns. <https://www.sqlite.org/c3ref/column_name.html>
    var columnNames: [String] { (0..<columnCount).map { String(cString: sqlite3_column_name(pointer, $0)) } }

    // MARK: - Running

    /// Returns the result code of the next step. <https://www.sqlite.org/c3ref/step.html>
    @inlinable @inline(__always)
    func step() -> CInt { sqlite3_step(pointer) }

    /// Returns the failure of the last step again, or `SQLITE_OK`.
    @inlinable @inline(__always) @discardableResult
    func reset() -> CInt { sqlite3_reset(pointer) }

    /// Frees a statement. Returns the failure of its last step again, or `SQLITE_OK`.
    @discardableResult
    static func finalize(_ statement: SQLiteStatement?) -> CInt { sqlite3_finalize(statement) }
}

/// The result codes of steps.
@usableFromInline
enum StepCode {
    @inlinable @inline(__always) static var row: CInt { SQLITE_ROW }
    @inlinable @inline(__always) static var done: CInt { SQLITE_DONE }
}

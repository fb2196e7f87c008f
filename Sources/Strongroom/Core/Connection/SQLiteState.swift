import CSQLCipher
import CStrongroom

// The state and the settings of a connection in Swift, so that other files don't need the C interface.

extension Database {
    /// Decides whether the next `VACUUM` empties the database.
    /// <https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigresetdatabase>
    func setResets(_ resets: Bool) throws {
        try check(strongroom_db_config(openConnection, SQLITE_DBCONFIG_RESET_DATABASE, resets ? 1 : 0, nil))
    }

    /// The name of the database that was attached last. <https://www.sqlite.org/c3ref/db_name.html>
    var latestSchemaName: String? {
        var name: String?, index: CInt = 2
        while let next = sqlite3_db_name(sqliteConnection, index) { (name, index) = (String(cString: next), index + 1) }
        return name
    }

    /// Returns the path of an attached database's file. Nil without a file.
    /// <https://www.sqlite.org/c3ref/db_filename.html>
    func path(of schemaName: String) -> String? {
        sqliteConnection.flatMap { sqlite3_db_filename($0, schemaName) }.flatMap {
            $0.pointee == 0 ? nil : String(cString: $0)
        }
    }

    /// Returns a number that changes when another connection commits.
    /// <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion>
    func dataVersion(of schemaName: String) throws -> UInt32 {
        var version: UInt32 = 0
        try check(sqlite3_file_control(openConnection, schemaName, SQLITE_FCNTL_DATA_VERSION, &version))
        return version
    }

    /// The number of pages of the main database.
    var pageCount: Int {
        get throws { try answer(to: "PRAGMA main.page_count").flatMap { Int($0) } ?? 0 }
    }

    /// Runs SQL without the checks and calls of statements. <https://www.sqlite.org/c3ref/exec.html>
    func runUnseen(_ sql: String) throws {
        try check(sqlite3_exec(openConnection, sql, nil, nil, nil))
    }

    /// Returns the first value of the first row as text. Nil for NULL, and without a row. The statement is not cached:
    /// SQLCipher runs its pragmas while it compiles them.
    func answer(to pragma: String) throws -> String? {
        var statement: SQLiteStatement?
        try check(sqlite3_prepare_v2(openConnection, pragma, -1, &statement, nil))
        var text: String?, code = SQLITE_OK
        if sqlite3_step(statement) == SQLITE_ROW, sqlite3_column_type(statement, 0) != SQLITE_NULL {
            text = sqlite3_column_text(statement, 0).map { String(cString: $0) }
            if text == nil { code = SQLITE_NOMEM }
        }
        let finalized = sqlite3_finalize(statement)
        try check(finalized != SQLITE_OK ? finalized : code)
        return text
    }
}

extension DatabaseError {
    /// Creates the error of a connection for `code`. It is the only place that turns SQLite's state into an error. The
    /// message is the connection's if it is about the same failure: calls of files fail beside the connection.
    init(
        _ code: CInt,
        on connection: SQLiteConnection?,
        sql: String? = nil,
        arguments: StatementArguments? = nil,
        publicStatementArguments: Bool = false)
    {
        let code = ResultCode(rawValue: code)
        let isLatest = connection.map { ResultCode(rawValue: sqlite3_errcode($0)) }?.primaryResultCode
            == code.primaryResultCode
        self.init(
            resultCode: code,
            message: isLatest ? connection.map { String(cString: sqlite3_errmsg($0)) } : code.errorString,
            sql: sql,
            arguments: arguments,
            publicStatementArguments: publicStatementArguments)
    }
}

extension Double {
    /// Returns the value as formatted by SQLite, whose formats include more than C's.
    /// <https://www.sqlite.org/printf.html>
    func printedBySQLite(_ format: String) -> String {
        guard let text = withVaList([self], { sqlite3_vmprintf(format, $0) }) else { return description }
        defer { sqlite3_free(text) }
        return String(cString: text)
    }
}

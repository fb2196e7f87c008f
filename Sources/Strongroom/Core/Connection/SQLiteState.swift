import CSQLCipher

// The state and the settings of a connection in Swift, so that other files don't need the C interface.

extension Database {
    /// SQLite's functions for the connection.
    var raw: RawConnection { RawConnection(sqliteConnection) }

    /// Decides whether the next `VACUUM` empties the database.
    /// <https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigresetdatabase>
    func setResets(_ resets: Bool) throws {
        try check(RawConnection(openConnection).configure(SQLITE_DBCONFIG_RESET_DATABASE, resets))
    }

    /// The name of the database that was attached last. <https://www.sqlite.org/c3ref/db_name.html>
    var latestSchemaName: String? {
        var name: String?, index: CInt = 2
        while let next = raw.schemaName(at: index) { (name, index) = (next, index + 1) }
        return name
    }

    /// Returns the path of an attached database's file. Nil without a file.
    /// <https://www.sqlite.org/c3ref/db_filename.html>
    func path(of schemaName: String) -> String? {
        sqliteConnection.flatMap { RawConnection($0).fileName(of: schemaName) }
    }

    /// Returns the version of a database that the connection has read last. It differs from the former one after a
    /// commit of another connection.
    /// <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion>
    func seenDataVersion(of schemaName: String) throws -> UInt32 {
        var version: UInt32 = 0
        try check(RawConnection(openConnection).fileControl(schemaName, SQLITE_FCNTL_DATA_VERSION, &version))
        return version
    }

    /// The number of pages of the main database.
    var pageCount: Int {
        get throws { try answer(to: "PRAGMA main.page_count").flatMap { Int($0) } ?? 0 }
    }

    /// Runs SQL without the checks and calls of statements. <https://www.sqlite.org/c3ref/exec.html>
    func runUnseen(_ sql: String) throws {
        try check(RawConnection(openConnection).execute(sql))
    }

    /// Returns the first value of the first row as text. Nil for NULL, and without a row. The statement is not cached:
    /// SQLCipher runs its pragmas while it compiles them.
    func answer(to pragma: String) throws -> String? {
        let (code, text) = try RawConnection(openConnection).answer(to: pragma)
        try check(code)
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
        publicStatementArguments: Bool = false
    ) {
        let code = ResultCode(rawValue: code)
        let raw = RawConnection(connection)
        if code == .SQLITE_READONLY_DBMOVED, raw.hasMoved, let path = raw.fileName(of: "main") {
            self = .fileGone(path)
                .executing(sql, arguments: arguments, publicStatementArguments: publicStatementArguments)
            return
        }
        let isLatest =
            connection.map { ResultCode(rawValue: RawConnection($0).errorCode) }?.primaryResultCode
            == code.primaryResultCode
        self.init(
            resultCode: code,
            message: isLatest ? connection.map { RawConnection($0).errorMessage } : code.errorString,
            sql: sql,
            arguments: arguments,
            publicStatementArguments: publicStatementArguments)
    }
}

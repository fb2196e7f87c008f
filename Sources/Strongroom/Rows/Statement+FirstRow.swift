import CSQLCipher
import CStrongroom

extension Statement {
    /// Runs the statement up to its first row, and reads from that; nil when there is none.
    ///
    /// What `fetchOne` stands on: a cursor would cost three allocations.
    @inlinable
    func firstRow<T>(arguments: StatementArguments?, _ read: (SQLiteStatement) throws -> T?) throws -> T? {
        try beginDirectRun(arguments)
        defer { endDirectRun() }
        let code = sqlite3_step(sqliteStatement)
        if code == SQLITE_ROW {
            guard hasEffects else { return try read(sqliteStatement) }
            // A value that can't be read does not undo what was written.
            let value = Result { try read(sqliteStatement) }
            try finishDirectRun()
            return try value.get()
        }
        try finishDirectRun(code)
        return nil
    }

    @usableFromInline
    func beginDirectRun(_ arguments: StatementArguments?) throws {
        requireAccess()
        currentRun?.finish()
        if let arguments {
            try setArguments(arguments)
        } else {
            try start()
        }
        try database.willRun(self)
        isRunningDirectly = true
    }

    /// Goes on to the end: a statement that writes is not done before.
    @usableFromInline
    func finishDirectRun(_ code: CInt = SQLITE_ROW) throws {
        var code = code
        while code == SQLITE_ROW { code = sqlite3_step(sqliteStatement) }
        let failure = code == SQLITE_DONE ? nil : error(code)
        sqlite3_reset(sqliteStatement)
        try database.didRun(self, failure: failure)
    }

    @usableFromInline
    func endDirectRun() {
        isRunningDirectly = false
        sqlite3_reset(sqliteStatement)
    }
}

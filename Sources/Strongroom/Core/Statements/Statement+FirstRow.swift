extension Statement {
    /// Runs the statement up to its first row, and reads from that; nil when there is none.
    ///
    /// What `fetchOne` stands on: a cursor would cost three allocations.
    @inlinable
    func firstRow<T>(arguments: StatementArguments?, _ read: (SQLiteStatement) throws -> T?) throws -> T? {
        try beginDirectRun(arguments)
        defer { endDirectRun() }
        let code = StatementStep.take(sqliteStatement)
        if code == StatementStep.row {
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
        currentRun?.giveWay()
        if let arguments {
            try setArguments(arguments)
        } else {
            try start()
        }
        try database.willRun(self)
    }

    /// Goes on to the end: a statement that writes is not done before.
    @usableFromInline
    func finishDirectRun(_ code: CInt = StatementStep.row) throws {
        var code = code
        while code == StatementStep.row { code = StatementStep.take(sqliteStatement) }
        let failure = code == StatementStep.done ? nil : error(code)
        StatementStep.reset(sqliteStatement)
        try database.didRun(self, failure: failure)
    }

    @usableFromInline
    func endDirectRun() {
        StatementStep.reset(sqliteStatement)
    }
}

import CSQLCipher

// Each run of a statement begins with `begin()`, and ends with `end(_:)` or `abandon()`.

extension Statement {
    /// Runs the statement to its end, and discards its rows.
    ///
    /// - parameter arguments: the arguments. Default: nil, for those that were set before.
    /// - throws: a ``DatabaseError``: `SQLITE_MISUSE` if arguments are missing or don't fit, and the errors of the
    ///   statement.
    public func execute(arguments: StatementArguments? = nil) throws {
        try prepare(arguments)
        try run()
    }

    /// Runs to the end. The arguments are already bound, and the statement is reset.
    func run() throws {
        try end(stepToEnd(from: begin()))
    }

    /// Runs the statement to its end with a value for each parameter. The statement only keeps those that SQLite has
    /// copied. The arguments of errors are copies.
    func run(lending values: UnsafeBufferPointer<DatabaseValue>) throws {
        prepareForBinding()
        if !boundArguments.isEmpty { boundArguments = StatementArguments() }
        lacksArguments = !parameterNames.isEmpty
        lentArguments = values
        defer { lentArguments = nil }
        try bind(values)
        try run()
    }

    /// Runs up to the first row, and returns the result of `read` for it. Nil if there is none.
    ///
    /// A statement that writes runs to its end: an error of `read` does not undo its changes.
    @inlinable
    func firstRow<T>(arguments: StatementArguments?, _ read: (SQLiteStatement) throws -> T?) throws -> T? {
        try prepare(arguments)
        let code = try begin()
        guard code == StepCode.row else {
            try end(code)
            return nil
        }
        if !hasEffects {
            defer { RawStatement(sqliteStatement).reset() }
            return try read(sqliteStatement)
        }
        let value = Result { try read(sqliteStatement) }
        try end(stepToEnd(from: code))
        return try value.get()
    }

    /// Moves a cursor without a run of its own to the next row. Returns false if there is none.
    func stepAsBound() throws -> Bool {
        let run = try cursorRun ?? StatementRun(asBound: self)
        cursorRun = nil
        guard try run.step() else { return false }
        cursorRun = run
        return true
    }

    // MARK: - Runs

    /// Prepares the statement for a first step, with new arguments or its current ones. Ends a former run.
    ///
    /// - throws: `SQLITE_MISUSE` if arguments are missing or don't fit.
    @usableFromInline
    func prepare(_ arguments: StatementArguments?) throws {
        if let arguments { try setArguments(arguments) } else { try prepareAsSet() }
    }

    /// Begins a run: checks for stops, calls the parts of the connection, and returns the result code of the first
    /// step.
    @usableFromInline
    func begin() throws -> CInt {
        try database.willRun(self)
        return RawStatement(sqliteStatement).step()
    }

    /// Steps as long as there are rows, and returns the result code of the last step.
    @usableFromInline
    func stepToEnd(from code: CInt) -> CInt {
        var code = code
        while code == StepCode.row { code = RawStatement(sqliteStatement).step() }
        return code
    }

    /// Ends a run: resets the statement, calls the parts of the connection, and throws the error of `code`.
    ///
    /// - parameter code: the result code of the last step.
    @usableFromInline
    func end(_ code: CInt) throws {
        // Before the reset, which discards the message.
        let failure = code == StepCode.done ? nil : error(code)
        RawStatement(sqliteStatement).reset()
        try database.didRun(self, failure: failure)
    }

    /// Ends a run before its last row. The changes that it has made so far stay.
    ///
    /// Errors are discarded. Fetch functions that end a run use ``StatementRun/complete()``.
    func abandon() {
        let code = RawStatement(sqliteStatement).reset()
        if hasEffects { try? database.didRun(self, failure: code == SQLITE_OK ? nil : error(code)) }
    }
}

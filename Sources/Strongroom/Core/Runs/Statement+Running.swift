import CSQLCipher
import CStrongroom

// All runs of statements, whoever asks for them, begin with `begin()`, and end with `end(_:)` or `abandon()`.

extension Statement {
    /// Runs the statement to its end, and drops its rows.
    ///
    /// - parameter arguments: by default those that were set before.
    /// - throws: a ``DatabaseError``: `SQLITE_MISUSE` when arguments are missing or don't fit, and whatever the run
    ///   fails with.
    public func execute(arguments: StatementArguments? = nil) throws {
        try prepare(arguments)
        try run()
    }

    /// Runs to the end. The arguments are bound, the statement is reset.
    func run() throws {
        try end(stepToEnd(from: begin()))
    }

    /// Runs up to the first row, and returns what `read` makes of it; nil when there is none.
    ///
    /// A statement that writes goes on to its end: a value that can't be read does not undo what was written.
    @inlinable
    func firstRow<T>(arguments: StatementArguments?, _ read: (SQLiteStatement) throws -> T?) throws -> T? {
        try prepare(arguments)
        let code = try begin()
        guard code == StatementStep.row else {
            try end(code)
            return nil
        }
        if !hasEffects {
            defer { StatementStep.reset(sqliteStatement) }
            return try read(sqliteStatement)
        }
        let value = Result { try read(sqliteStatement) }
        try end(stepToEnd(from: code))
        return try value.get()
    }

    /// Moves a cursor that keeps no run of its own to the next row; false when there is none.
    func stepAsBound() throws -> Bool {
        let run = try keptRun ?? StatementRun(asBound: self)
        keptRun = nil
        guard try run.step() else { return false }
        keptRun = run
        return true
    }

    // MARK: - The runner

    /// Makes the statement ready for a first step, with new arguments or those that it has. A run that has not ended
    /// ends here.
    ///
    /// - throws: `SQLITE_MISUSE` when arguments are missing or don't fit.
    @usableFromInline
    func prepare(_ arguments: StatementArguments?) throws {
        if let arguments { try setArguments(arguments) } else { try prepareAsSet() }
    }

    /// Begins a run: asks for stops, calls the parts of the connection, and returns the result code of the first step.
    @usableFromInline
    func begin() throws -> CInt {
        try willRun()
        return StatementStep.take(sqliteStatement)
    }

    /// Steps on as long as there are rows, and returns the result code of the last step.
    @usableFromInline
    func stepToEnd(from code: CInt) -> CInt {
        var code = code
        while code == StatementStep.row { code = StatementStep.take(sqliteStatement) }
        return code
    }

    /// Ends a run: resets the statement, calls the parts of the connection, and throws the error that `code` stands
    /// for.
    ///
    /// - parameter code: the result code of the last step.
    @usableFromInline
    func end(_ code: CInt) throws {
        // Before the reset, which would drop the message.
        let failure = code == StatementStep.done ? nil : error(code)
        StatementStep.reset(sqliteStatement)
        try didRun(failure: failure)
    }

    /// Ends a run that has not come to its last row. What a statement that writes did so far stays done.
    ///
    /// Nobody is there to hear of a failure: fetch functions that give up a run for good use
    /// ``StatementRun/complete()``.
    func abandon() {
        let code = StatementStep.reset(sqliteStatement)
        if hasEffects { try? didRun(failure: code == SQLITE_OK ? nil : error(code)) }
    }
}

/// The steps of a raw statement, by SQLite's result codes. <https://www.sqlite.org/c3ref/step.html>
@usableFromInline
enum StatementStep {
    @inlinable @inline(__always) static var row: CInt { SQLITE_ROW }
    @inlinable @inline(__always) static var done: CInt { SQLITE_DONE }

    @inlinable @inline(__always)
    static func take(_ statement: SQLiteStatement) -> CInt { sqlite3_step(statement) }

    /// Returns the failure of the last step once more, or `SQLITE_OK`.
    @inlinable @inline(__always) @discardableResult
    static func reset(_ statement: SQLiteStatement) -> CInt { sqlite3_reset(statement) }
}

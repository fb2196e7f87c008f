/// One run of a statement, row by row. All cursors use it.
///
/// The statement is reset when the run ends: after its last row, when its cursor is released, when the statement runs
/// again, or when the access ends. A run whose statement runs again throws, instead of ending like one without further
/// rows.
public final class StatementRun {
    @usableFromInline let statement: Statement
    @usableFromInline let sqliteStatement: SQLiteStatement
    @usableFromInline let connection: ConnectionHandle

    // Unchecked exclusivity: see <doc:Layers>.
    @usableFromInline @exclusivity(unchecked) var phase: Phase

    @usableFromInline
    enum Phase {
        case ready, stepping, counting, done, failed
    }

    var isDone: Bool { phase == .done || phase == .failed }

    /// The error that ended the run. Each further step throws it again.
    private var failure: (any Error)?

    /// The neighbors in the connection's list of runs. Each run leaves the list before it is released.
    unowned(unsafe) var previous: StatementRun?
    unowned(unsafe) var next: StatementRun?

    /// Starts a run. Ends a former run of the statement.
    @usableFromInline
    convenience init(_ statement: Statement, arguments: StatementArguments?) throws {
        try self.init(statement) { try statement.prepare(arguments) }
    }

    /// Starts a run with the arguments that are bound to the raw statement.
    convenience init(asBound statement: Statement) throws {
        try self.init(statement) {}
    }

    private init(_ statement: Statement, prepare: () throws -> Void) throws {
        self.statement = statement
        self.sqliteStatement = statement.sqliteStatement
        self.connection = statement.connection
        // Before the run begins, there is nothing to end.
        phase = .done
        statement.requireAccess()
        statement.currentRun?.invalidate()
        try prepare()
        phase = .ready
        statement.currentRun = self
        statement.database.runs.insert(self)
    }

    deinit {
        finish()
    }

    /// Moves to the next row. Returns false if there is none.
    @inlinable
    func step() throws -> Bool {
        guard phase == .stepping else { return try firstStep() }
        if !connection.hasAccess { noAccess() }
        let code = RawStatement(sqliteStatement).step()
        if code == StepCode.row { return true }
        return try lastStep(code)
    }

    /// The number of rows that a restricted statement may still return.
    private var rowsLeft = 0

    @usableFromInline
    func firstStep() throws -> Bool {
        // A run that ended with its access has not reached the end of its rows.
        if !connection.hasAccess { noAccess() }
        guard phase == .ready else {
            if phase == .counting { return try countedStep() }
            if let failure { throw failure }
            return false
        }
        let code: CInt
        do {
            code = try statement.begin()
        } catch {
            detach()
            fail(error)
            throw error
        }
        guard code == StepCode.row else { return try lastStep(code) }
        statement.forgetColumnsIfRecompiled()
        phase = .stepping
        if let restriction = statement.restriction {
            phase = .counting
            rowsLeft = restriction.maximumRowCount - 1
        }
        return true
    }

    /// Moves to the next row of a restricted statement.
    private func countedStep() throws -> Bool {
        let code = RawStatement(sqliteStatement).step()
        guard code == StepCode.row else { return try lastStep(code) }
        guard rowsLeft == 0, let restriction = statement.restriction else {
            rowsLeft -= 1
            return true
        }
        finish()
        let error = restriction.rowOverrun(of: statement.showableSQL)
        fail(error)
        throw error
    }

    @usableFromInline
    func lastStep(_ code: CInt) throws -> Bool {
        detach()
        do {
            try statement.end(code)
        } catch {
            fail(error)
            throw error
        }
        return false
    }

    /// Ends the run because its statement runs again, or gets other arguments.
    func invalidate() {
        finish()
        statement.cursorRun = nil
        fail(
            DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    the statement of this cursor was run again, or got other arguments: \
                    use a statement for each cursor
                    """,
                sql: statement.showableSQL))
    }

    /// Ends the run of an interrupted cursor. Its next step throws.
    func interrupt() {
        finish()
        fail(statement.error(.interrupted))
    }

    private func fail(_ error: any Error) {
        phase = .failed
        failure = error
    }

    /// Ends the run at its current row.
    func finish() {
        switch phase {
        case .stepping, .counting:
            detach()
            statement.abandon()
        case .ready: detach()
        case .done, .failed: break
        }
    }

    /// Ends the run for a caller that needs no further rows. A statement that writes runs to its end, and throws its
    /// errors.
    @usableFromInline
    func complete() throws {
        guard statement.hasEffects else { return finish() }
        while try step() {}
    }

    /// Leaves the statement, which can run again.
    private func detach() {
        phase = .done
        statement.currentRun = nil
        statement.database.runs.remove(self)
    }

    @usableFromInline
    func noAccess() -> Never {
        statement.database.noAccess("A cursor")
    }
}

/// The current runs of a connection.
struct StatementRuns {
    /// The first run. Unsafe like the neighbors: counting references would cost each run.
    unowned(unsafe) private(set) var first: StatementRun?

    mutating func insert(_ run: StatementRun) {
        run.next = first
        first?.previous = run
        first = run
    }

    mutating func remove(_ run: StatementRun) {
        run.previous?.next = run.next
        run.next?.previous = run.previous
        if first === run { first = run.next }
        run.previous = nil
        run.next = nil
    }

    var isEmpty: Bool { first == nil }

    /// The first run that has returned a row.
    var firstStepping: StatementRun? {
        var run = first
        while let each = run, each.phase != .stepping, each.phase != .counting { run = each.next }
        return run
    }
}

extension Statement {
    /// The restriction of the access, if the statement was compiled for it.
    fileprivate var restriction: (any StatementRestriction)? {
        compilation.restriction == 0 ? nil : database.authorizer.restriction
    }
}

extension Database {
    /// Ends all runs: they would hold the read lock, and could continue outside of their access.
    ///
    /// Each run removes itself from the list, so the list is read again each time.
    func finishRuns() {
        while let run = runs.first {
            run.finish()
            run.statement.cursorRun = nil
        }
    }

    /// Ends runs that were interrupted and have not made a further step.
    func interruptRuns() {
        while let run = runs.firstStepping { run.interrupt() }
    }
}

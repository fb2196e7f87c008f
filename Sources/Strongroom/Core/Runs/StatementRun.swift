import CStrongroom

/// One run of a statement, row by row: what all cursors stand on.
///
/// The statement is reset when the run ends: after its last row, when its cursor goes away, when the statement is
/// started anew, and at the latest when the database access ends. A run whose statement was taken away from it throws,
/// rather than seem to have come to the end of its rows.
public final class StatementRun {
    @usableFromInline let statement: Statement
    @usableFromInline let sqliteStatement: SQLiteStatement
    @usableFromInline let connection: UnsafeMutablePointer<strongroom_connection>

    // Unchecked exclusivity: see the article *Layers*.
    @usableFromInline @exclusivity(unchecked) var phase: Phase

    @usableFromInline
    enum Phase {
        case ready, stepping, done, failed
    }

    var isDone: Bool { phase == .done || phase == .failed }

    /// The error that ended the run, which each further step throws again.
    private var failure: (any Error)?

    /// The neighbours in the connection's list of runs, which each run leaves before it goes away.
    unowned(unsafe) var previous: StatementRun?
    unowned(unsafe) var next: StatementRun?

    /// Starts a run. The statement's former run, if it has not ended, ends here.
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
        // Nothing to finish as long as nothing has begun.
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

    /// Moves to the next row; false when there is none.
    @inlinable
    func step() throws -> Bool {
        guard phase == .stepping else { return try firstStep() }
        if !strongroom_has_access(connection) { noAccess() }
        let code = StatementStep.take(sqliteStatement)
        if code == StatementStep.row { return true }
        return try lastStep(code)
    }

    @usableFromInline
    func firstStep() throws -> Bool {
        // A run that has ended with its access has not come to the end of its rows.
        if !strongroom_has_access(connection) { noAccess() }
        guard phase == .ready else {
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
        guard code == StatementStep.row else { return try lastStep(code) }
        statement.forgetColumnsIfRecompiled()
        phase = .stepping
        return true
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

    /// Ends the run because another one begins on the same statement, or because the statement gets other arguments.
    func invalidate() {
        finish()
        statement.keptRun = nil
        fail(DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "the statement of this cursor was run again, or got other arguments: use a statement for each cursor",
            sql: statement.showableSQL))
    }

    /// Ends the run of a cursor that was interrupted: it throws when it is asked for more.
    func interrupt() {
        finish()
        fail(statement.error(.interrupted))
    }

    private func fail(_ error: any Error) {
        phase = .failed
        failure = error
    }

    /// Ends the run, wherever it is.
    func finish() {
        switch phase {
        case .stepping:
            detach()
            statement.abandon()
        case .ready: detach()
        case .done, .failed: break
        }
    }

    /// Ends the run for a caller who wants no more rows: a statement that writes goes on to its end, and throws its
    /// errors.
    @usableFromInline
    func complete() throws {
        guard statement.hasEffects else { return finish() }
        while try step() {}
    }

    /// The statement is free for another run.
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

/// The runs of a connection that have begun and not ended.
struct StatementRuns {
    /// Unsafe, as the neighbours are: counting references would cost each run.
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

    /// The first that has given a row.
    var firstStepping: StatementRun? {
        var run = first
        while let each = run, each.phase != .stepping { run = each.next }
        return run
    }
}

extension Database {
    /// Ends what has begun and not ended: it would hold the read lock, and could go on where it must not.
    ///
    /// Each run takes itself off the list, so the list is read anew each time.
    func finishRuns() {
        while let run = runs.first {
            run.finish()
            run.statement.keptRun = nil
        }
    }

    /// Ends what was interrupted, and has not noticed.
    func interruptRuns() {
        while let run = runs.firstStepping { run.interrupt() }
    }
}

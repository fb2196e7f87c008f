import CStrongroom

/// The stops of a connection, and the end of what they stop: one owner for statements, compiling, waits for locks,
/// checkpoints, backups, copies and rotations.
///
/// A stop belongs to a block of the user's. What the library does after it narrows the reach of stops, and restores
/// it. The article *Stops* says what happens where.
struct Stops {
    let database: Database

    private var connection: UnsafeMutablePointer<strongroom_connection> { database.connection }

    private func contains(_ stop: Int) -> Bool {
        strongroom_stops(connection) & UInt32(stop) != 0
    }

    // MARK: - Reach

    /// Runs `body` while stops end nothing but its waits for locks: it is done or not done, and never halfway.
    @inline(__always)
    func compiling<T>(_ body: () throws -> T) rethrows -> T {
        try narrowing(STRONGROOM_REACH_WAITS, body)
    }

    /// Runs callbacks at the end of a transaction, which only a suspension reaches.
    func notifying<T>(_ body: () throws -> T) rethrows -> T {
        try narrowing(STRONGROOM_REACH_NOTIFIED) {
            forgetInterruption()
            return try body()
        }
    }

    /// Undoes, or works for the library alone.
    func undoing<T>(_ body: () throws -> T) rethrows -> T {
        try narrowing(STRONGROOM_REACH_NOTHING) {
            forgetInterruption()
            return try body()
        }
    }

    /// The same for a transaction that no statement ends.
    func rollingBack<T>(_ body: () -> T) -> T {
        connection.pointee.rolls_back = true
        defer { connection.pointee.rolls_back = false }
        return undoing(body)
    }

    /// Closes: a suspended database leaves its log where it is.
    func closing<T>(_ body: () throws -> T) rethrows -> T {
        try narrowing(STRONGROOM_REACH_CLOSING, body)
    }

    private func narrowing<T>(_ reach: Int, _ body: () throws -> T) rethrows -> T {
        let former = strongroom_narrow(connection, UInt32(reach))
        defer { strongroom_restore_reach(connection, former) }
        return try body()
    }

    /// SQLite interrupts whatever runs as long as a statement is alive that ran when it was told to.
    private func forgetInterruption() {
        if strongroom_connection_settle(connection) { return }
        database.interruptRuns()
        _ = strongroom_connection_settle(connection)
    }

    // MARK: - Around each statement

    /// Keeps stops from what begins or ends a transaction, until ``end()``.
    ///
    /// What SQLite would interrupt all the same, because a cursor is alive that it was told to interrupt, does not
    /// begin: a full-text table that is stopped while it writes its index keeps a handle that no `ROLLBACK` could get
    /// past.
    func begin(_ statement: Statement, _ transaction: StatementCompilation.Transaction) throws {
        let reach = transaction.undoes ? STRONGROOM_REACH_NOTHING : STRONGROOM_REACH_WAITS
        connection.pointee.outer_reach = strongroom_narrow(connection, UInt32(reach))
        connection.pointee.rolls_back = transaction == .rollback
        if passes(transaction) { return forgetInterruption() }
        guard strongroom_connection_settle(connection) else {
            end()
            throw met(statement.error(.interrupted))
        }
    }

    /// Returns true if it runs whatever was stopped: a suspension wants its lock released.
    func passes(_ transaction: StatementCompilation.Transaction?) -> Bool {
        let isOnlySuspended = contains(STRONGROOM_SUSPENDED) && !contains(STRONGROOM_CANCELLED | STRONGROOM_INTERRUPTED)
        return transaction?.undoes == true || isOnlySuspended && transaction?.ends == true
    }

    func end() {
        connection.pointee.rolls_back = false
        strongroom_restore_reach(connection, connection.pointee.outer_reach)
    }

    /// Refuses a statement of an access that was stopped, or one that a suspended database may not run.
    ///
    /// What undoes passes, and what ends a transaction does while the database is suspended: it is how locks are
    /// released.
    func refuse(_ statement: Statement) throws {
        let stops = strongroom_connection_begin(connection)
        let transaction = statement.compilation.transaction
        if transaction?.undoes == true { return acknowledgeUndoing() }
        if stops & UInt32(STRONGROOM_UNDONE) != 0 { throw met(statement.error(.aborted)) }
        if strongroom_reaching_stops(connection) & UInt32(STRONGROOM_CANCELLED) != 0 { throw met(CancellationError()) }
        if stops & UInt32(STRONGROOM_SUSPENDED) != 0, transaction?.ends != true { try refuseLocks(statement) }
    }

    private func refuseLocks(_ statement: Statement) throws {
        let isAborted = database.transactions.blockDepth > 0 && database.isAutocommit
        let isHeld = releaseLock()
        if isHeld || statement.takesWriteLock || takesReadLock(statement) {
            throw met(statement.error(isAborted ? .aborted : .suspended))
        }
    }

    private func takesReadLock(_ statement: Statement) -> Bool {
        database.untraced { strongroom_reads_take_locks(connection, statement.compilation.readsAttached) }
    }

    /// Leaves no lock behind when the connection was suspended during a run, and tells what ended a wait from other
    /// failures.
    func conclude(_ statement: Statement, _ failure: DatabaseError?) throws {
        // An interruption ends with what it has interrupted.
        defer { _ = strongroom_connection_begin(connection) }
        // The suspension that stopped it may be over by now.
        let waitWasStopped = strongroom_connection_end_wait(connection)
        let isOver = failure == nil && statement.compilation.transaction?.ends == true
        let isHeld = !isOver && contains(STRONGROOM_SUSPENDED) && releaseLock()
        guard let failure else {
            if isHeld { throw met(statement.error(.suspended)) }
            return
        }
        guard failure.resultCode == .SQLITE_BUSY, waitWasStopped || contains(STRONGROOM_SUSPENDED)
        else { throw failure }
        throw waitError(of: statement)
    }

    private func waitError(of statement: Statement) -> any Error {
        let error = reason(beforehand: true)
        return (error as? DatabaseError).map { statement.error($0) } ?? error
    }

    // MARK: - What is no statement

    /// Refuses what takes locks without being a statement: checkpoints, backups, rotations.
    func refuseLocks() throws {
        let stops = strongroom_connection_begin(connection)
        if stops & UInt32(STRONGROOM_CANCELLED | STRONGROOM_SUSPENDED) != 0 { throw reason(beforehand: true) }
    }

    /// The same for what reads a write-ahead log, or would take a lock to read.
    func refuseReadLocks() throws {
        let stops = strongroom_connection_begin(connection)
        if stops & UInt32(STRONGROOM_CANCELLED) != 0 { throw reason(beforehand: true) }
        guard stops & UInt32(STRONGROOM_SUSPENDED) != 0 else { return }
        if database.untraced({ strongroom_reads_take_locks(connection, false) }) { throw reason(beforehand: true) }
    }

    /// Ends long work that is no statement, between two of its steps.
    func check() throws {
        if strongroom_stops(connection) != 0 { try check(within: connection.pointee.reach) }
    }

    private func check(within reach: UInt32) throws {
        let stops = strongroom_stops(connection) & reach & 0xff
        // What reads a write-ahead log goes on, unless it ran when the suspension came.
        let mayGoOn = stops == UInt32(STRONGROOM_SUSPENDED) && !wereMet && !strongroom_connection_holds_lock(connection)
        if stops != 0, !mayGoOn { throw reason(beforehand: false, within: reach) }
    }

    /// Runs what undoes by itself what is not finished. It asks `check` where it can be stopped, and nothing else
    /// stops it.
    func checking<T>(_ body: (_ check: () throws -> Void) throws -> T) rethrows -> T {
        let reach = connection.pointee.reach
        return try undoing { try body { try check(within: reach) } }
    }

    /// Runs what waits for locks without being a statement, and tells what ended a wait from other failures.
    func waiting<T>(_ body: () throws -> T) throws -> T {
        defer { connection.pointee.tripped = false }
        do {
            return try body()
        } catch let failure as DatabaseError where failure.resultCode == .SQLITE_BUSY {
            guard strongroom_connection_end_wait(connection) || contains(STRONGROOM_SUSPENDED) else { throw failure }
            throw reason(beforehand: true)
        }
    }

    /// The error of what was stopped: `beforehand` where it has not begun.
    private func reason(beforehand: Bool, within reach: UInt32? = nil) -> any Error {
        let reaching = strongroom_stops(connection) & ((reach ?? connection.pointee.reach) >> 8)
        if reaching & UInt32(STRONGROOM_CANCELLED) != 0 { return met(CancellationError()) }
        if reaching & UInt32(STRONGROOM_INTERRUPTED) != 0 || !beforehand { return met(DatabaseError.interrupted) }
        return met(DatabaseError.suspended)
    }

    private func met(_ error: any Error) -> any Error {
        connection.pointee.stopped = true
        return error
    }

    // MARK: - Locks

    /// Releases the lock that keeps others out of a suspended database. Returns true if changes are lost with it.
    @discardableResult
    func releaseLock() -> Bool {
        guard strongroom_connection_holds_lock(connection) else { return false }
        guard !database.isAutocommit else { return true }
        if (try? becomeReader()) == true { return false }
        try? database.rollback()
        return true
    }

    /// A transaction that has changed nothing goes on as one that reads, if it still sees the same state.
    private func becomeReader() throws -> Bool {
        guard !database.transactions.mayHaveChanges else { return false }
        return try database.untraced { try undoing { try readInstead() } }
    }

    private func readInstead() throws -> Bool {
        let raw = try database.openConnection
        let before = try database.dataVersion(of: "main")
        database.transactions.uninstall(from: raw)
        defer { database.transactions.install(on: raw) }
        try database.runUnseen("ROLLBACK; BEGIN; SELECT 1 FROM sqlite_master LIMIT 1")
        let after = try database.dataVersion(of: "main")
        database.transactions.isReader = true
        return before == after && !strongroom_connection_holds_lock(connection)
    }

    /// Ends the transaction that a former access has left open. The next access must not go on in it.
    func releaseLeftLock() {
        guard contains(STRONGROOM_SUSPENDED), !database.isAutocommit, releaseLock() else { return }
        strongroom_connection_set_undone(connection, true)
    }

    /// The access knows that its transaction is gone.
    func acknowledgeUndoing() {
        if contains(STRONGROOM_UNDONE) { strongroom_connection_set_undone(connection, false) }
    }

    // MARK: - The end of an access

    /// Rolls back what a stop has left open, so that nobody else has to. Returns whether there was anything.
    func rollBackStoppedTransaction() -> Bool {
        guard wereMet, !database.isAutocommit, !database.configuration.allowsUnsafeTransactions else { return false }
        database.interruptRuns()
        try? database.rollback()
        return true
    }

    /// True if the present access has met a stop.
    var wereMet: Bool { strongroom_connection_was_stopped(connection) }
}

extension Database {
    var stops: Stops { Stops(database: self) }
}

extension StatementCompilation.Transaction {
    /// True if it takes back what was done.
    fileprivate var undoes: Bool {
        switch self {
        case .rollback, .rollbackSavepoint: true
        default: false
        }
    }

    fileprivate var ends: Bool {
        switch self {
        case .commit, .releaseSavepoint: true
        default: undoes
        }
    }
}

extension Statement {
    fileprivate var takesWriteLock: Bool {
        mayWrite && (compilation.writesUnseen || !compilation.changesTemporaryRowsOnly)
    }
}

extension DatabaseError {
    /// The error of a suspended database for whatever would take a lock.
    static let suspended = DatabaseError(.SQLITE_ABORT, refusing: "Database is suspended", reason: .suspended)

    static let interrupted = DatabaseError(resultCode: .SQLITE_INTERRUPT, message: "interrupted")
}

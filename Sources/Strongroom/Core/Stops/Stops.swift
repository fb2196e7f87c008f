import CStrongroom

/// The stops of a connection, and the end of the work that they stop: of statements, compiling, waits for locks,
/// checkpoints, backups, copies and rotations.
///
/// A stop belongs to a block of the program. The library's own work afterwards limits the reach of stops, and restores
/// it. <doc:Stops> describes each case.
struct Stops {
    let database: Database

    private var connection: UnsafeMutablePointer<strongroom_connection> { database.connection }

    private func contains(_ stop: Int) -> Bool {
        strongroom_stops(connection) & UInt32(stop) != 0
    }

    // MARK: - Reach

    /// Runs `body` while stops only end its waits for locks: it runs completely or not at all.
    @inline(__always)
    func compiling<T>(_ body: () throws -> T) rethrows -> T {
        try narrowing(STRONGROOM_REACH_WAITS, body)
    }

    /// Runs callbacks at the end of a transaction, which only a suspension stops.
    func notifying<T>(_ body: () throws -> T) rethrows -> T {
        try narrowing(STRONGROOM_REACH_NOTIFIED) {
            forgetInterruption()
            return try body()
        }
    }

    /// Runs `body`, which undoes changes, or is the library's own work.
    func undoing<T>(_ body: () throws -> T) rethrows -> T {
        try narrowing(STRONGROOM_REACH_NOTHING) {
            forgetInterruption()
            return try body()
        }
    }

    /// Runs `body`, which ends a transaction without a statement.
    func rollingBack<T>(_ body: () -> T) -> T {
        connection.pointee.rolls_back = true
        defer { connection.pointee.rolls_back = false }
        return undoing(body)
    }

    /// Runs `body`, which closes. A suspended database does not move its log.
    func closing<T>(_ body: () throws -> T) rethrows -> T {
        try narrowing(STRONGROOM_REACH_CLOSING, body)
    }

    private func narrowing<T>(_ reach: Int, _ body: () throws -> T) rethrows -> T {
        let former = strongroom_narrow(connection, UInt32(reach))
        defer { strongroom_restore_reach(connection, former) }
        return try body()
    }

    /// Ends an interruption: SQLite interrupts all statements as long as one that it interrupted is alive.
    private func forgetInterruption() {
        if strongroom_connection_settle(connection) { return }
        database.interruptRuns()
        _ = strongroom_connection_settle(connection)
    }

    // MARK: - Around each statement

    /// Protects a statement that begins or ends a transaction from stops, until ``end()``.
    ///
    /// The statement does not begin if SQLite would interrupt it anyway, because an interrupted cursor is alive: a
    /// full-text table that is stopped while it writes its index keeps a handle that prevents each `ROLLBACK`.
    func begin(_ statement: Statement, _ transaction: StatementCompilation.Transaction) throws {
        let reach = transaction.undoes ? STRONGROOM_REACH_NOTHING : STRONGROOM_REACH_WAITS
        connection.pointee.outer_reach = strongroom_narrow(connection, UInt32(reach))
        connection.pointee.rolls_back = transaction == .rollback
        if passes(transaction) { return forgetInterruption() }
        guard strongroom_connection_settle(connection) else {
            end()
            throw marked(statement.error(.interrupted))
        }
    }

    /// Returns true if the statement runs despite stops: a suspension needs it to release its lock.
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
    /// Statements that undo are not refused. While the database is suspended, neither are those that end a transaction,
    /// because they release locks.
    func refuse(_ statement: Statement) throws {
        let stops = strongroom_connection_begin(connection)
        let transaction = statement.compilation.transaction
        if transaction?.undoes == true { return acknowledgeUndoing() }
        if stops & UInt32(STRONGROOM_UNDONE) != 0 { throw marked(statement.error(.aborted)) }
        let isCancelled = strongroom_reaching_stops(connection) & UInt32(STRONGROOM_CANCELLED) != 0
        if isCancelled { throw marked(CancellationError()) }
        if stops & UInt32(STRONGROOM_SUSPENDED) != 0, transaction?.ends != true { try refuseLocks(statement) }
    }

    private func refuseLocks(_ statement: Statement) throws {
        let isAborted = database.transactions.blockDepth > 0 && database.isAutocommit
        let isHeld = releaseLock()
        if isHeld || statement.takesWriteLock || takesReadLock(statement) {
            throw marked(statement.error(isAborted ? .aborted : .suspended))
        }
    }

    private func takesReadLock(_ statement: Statement) -> Bool {
        database.untraced { strongroom_reads_take_locks(connection, statement.compilation.readsAttached) }
    }

    /// Releases the lock of a connection that was suspended during the statement, and distinguishes a stopped wait from
    /// other failures.
    func conclude(_ statement: Statement, _ failure: DatabaseError?) throws {
        // An interruption ends with the statement that it interrupts.
        defer { _ = strongroom_connection_begin(connection) }
        // The suspension that stopped it may have ended.
        let waitWasStopped = strongroom_connection_end_wait(connection)
        let isOver = failure == nil && statement.compilation.transaction?.ends == true
        let isHeld = !isOver && contains(STRONGROOM_SUSPENDED) && releaseLock()
        guard let failure else {
            if isHeld { throw marked(statement.error(.suspended)) }
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

    // MARK: - Work other than statements

    /// Refuses work other than statements that takes locks: checkpoints, backups, rotations.
    func refuseLocks() throws {
        let stops = strongroom_connection_begin(connection)
        if stops & UInt32(STRONGROOM_CANCELLED | STRONGROOM_SUSPENDED) != 0 { throw reason(beforehand: true) }
    }

    /// Refuses work other than statements that reads a write-ahead log, or needs a lock to read.
    func refuseReadLocks() throws {
        let stops = strongroom_connection_begin(connection)
        if stops & UInt32(STRONGROOM_CANCELLED) != 0 { throw reason(beforehand: true) }
        guard stops & UInt32(STRONGROOM_SUSPENDED) != 0 else { return }
        if database.untraced({ strongroom_reads_take_locks(connection, false) }) { throw reason(beforehand: true) }
    }

    /// Stops long work other than statements, between two of its steps.
    func check() throws {
        if strongroom_stops(connection) != 0 { try check(within: connection.pointee.reach) }
    }

    private func check(within reach: UInt32) throws {
        let stops = strongroom_stops(connection) & reach & 0xff
        // Reads of a write-ahead log go on, unless they were running when the suspension began.
        let mayGoOn = stops == UInt32(STRONGROOM_SUSPENDED) && !wasAccessStopped
            && !strongroom_connection_holds_lock(connection)
        if stops != 0, !mayGoOn { throw reason(beforehand: false, within: reach) }
    }

    /// Runs work that undoes itself if it is not completed. It can only be stopped where it calls `check`; a suspension
    /// also stops the checkpoint of its commit.
    func checking<T>(_ body: (_ check: () throws -> Void) throws -> T) rethrows -> T {
        let reach = connection.pointee.reach
        return try closing {
            forgetInterruption()
            return try body { try check(within: reach) }
        }
    }

    /// Runs work other than statements that waits for locks, and distinguishes a stopped wait from other failures.
    func waiting<T>(_ body: () throws -> T) throws -> T {
        defer { connection.pointee.tripped = false }
        do {
            return try body()
        } catch let failure as DatabaseError where failure.resultCode == .SQLITE_BUSY {
            guard strongroom_connection_end_wait(connection) || contains(STRONGROOM_SUSPENDED) else { throw failure }
            throw reason(beforehand: true)
        }
    }

    /// Returns the error of work that was stopped, with `beforehand` true if it has not begun.
    private func reason(beforehand: Bool, within reach: UInt32? = nil) -> any Error {
        let reaching = strongroom_stops(connection) & ((reach ?? connection.pointee.reach) >> 8)
        if reaching & UInt32(STRONGROOM_CANCELLED) != 0 { return marked(CancellationError()) }
        if reaching & UInt32(STRONGROOM_INTERRUPTED) != 0 || !beforehand { return marked(DatabaseError.interrupted) }
        return marked(DatabaseError.suspended)
    }

    private func marked(_ error: any Error) -> any Error {
        connection.pointee.stopped = true
        return error
    }

    // MARK: - Locks

    /// Releases the lock of a suspended database that keeps others out. Returns true if this undoes changes.
    @discardableResult
    func releaseLock() -> Bool {
        guard strongroom_connection_holds_lock(connection) else { return false }
        guard !database.isAutocommit else { return true }
        if (try? becomeReader()) == true { return false }
        try? database.rollback()
        return true
    }

    /// Continues a transaction without changes as one that only reads, if it still sees the same state. Returns false
    /// if not.
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

    /// Ends the transaction that a former access has left open. The next access must not continue it.
    func releaseAbandonedLock() {
        guard contains(STRONGROOM_SUSPENDED), !database.isAutocommit, releaseLock() else { return }
        strongroom_connection_set_undone(connection, true)
    }

    /// Marks the undoing as known to the access.
    func acknowledgeUndoing() {
        if contains(STRONGROOM_UNDONE) { strongroom_connection_set_undone(connection, false) }
    }

    // MARK: - The end of an access

    /// Rolls back what a stop has left open. Returns false if there was nothing.
    func rollBackStoppedTransaction() -> Bool {
        guard wasAccessStopped, !database.isAutocommit, !database.configuration.allowsUnsafeTransactions else {
            return false
        }
        database.interruptRuns()
        try? database.rollback()
        return true
    }

    /// True if the current access has met a stop.
    var wasAccessStopped: Bool { strongroom_connection_was_stopped(connection) }
}

extension Database {
    var stops: Stops { Stops(database: self) }
}

extension StatementCompilation.Transaction {
    /// True if it undoes changes.
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
    /// The error of a suspended database for work that would take a lock.
    static let suspended = DatabaseError(.SQLITE_ABORT, refusing: "Database is suspended", reason: .suspended)

    static let interrupted = DatabaseError(resultCode: .SQLITE_INTERRUPT, message: "interrupted")
}

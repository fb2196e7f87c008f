/// The stops of a connection, and the end of the work that they stop: of statements, compiling, waits for locks,
/// checkpoints, backups, copies and rotations.
///
/// A stop belongs to a block of the program. The library's own work afterwards limits the reach of stops, and restores
/// it. <doc:Stops> describes each case.
struct Stops {
    let database: Database

    private var connection: ConnectionHandle { database.connection }

    private func contains(_ stop: ConnectionHandle.StopSet) -> Bool { !connection.stops.isDisjoint(with: stop) }

    // MARK: - Reach

    /// Runs `body` while stops only end its waits for locks: it runs completely or not at all.
    @inline(__always)
    func compiling<T>(_ body: () throws -> T) rethrows -> T {
        try narrowing(.waits, body)
    }

    /// Runs callbacks at the end of a transaction, which only a suspension stops.
    func notifying<T>(_ body: () throws -> T) rethrows -> T {
        try narrowing(.notified) {
            forgetInterruption()
            return try body()
        }
    }

    /// Runs `body`, which an interruption ends, also inside of callbacks that it doesn't reach. It goes no further.
    func interruptible<T>(_ body: () throws -> T) rethrows -> T {
        let former = connection.widenToInterruptions()
        defer { connection.restore(former, forgettingInterruption: former.isOutOfInterruptions) }
        return try body()
    }

    /// Runs `body`, which undoes changes, or is the library's own work.
    func undoing<T>(_ body: () throws -> T) rethrows -> T {
        try narrowing(.nothing) {
            forgetInterruption()
            return try body()
        }
    }

    /// Runs `body`, which ends a transaction without a statement.
    func rollingBack<T>(_ body: () -> T) -> T {
        connection.isRollingBack = true
        defer { connection.isRollingBack = false }
        return undoing(body)
    }

    /// Runs `body`, which closes. A suspended database does not move its log.
    func closing<T>(_ body: () throws -> T) rethrows -> T {
        try narrowing(.closing, body)
    }

    private func narrowing<T>(_ reach: ConnectionHandle.Reach, _ body: () throws -> T) rethrows -> T {
        let former = connection.narrow(to: reach)
        defer { connection.restore(former) }
        return try body()
    }

    /// Ends an interruption: SQLite interrupts all statements as long as one that it interrupted is alive.
    private func forgetInterruption() {
        if connection.settle() { return }
        database.interruptRuns()
        connection.settle()
    }

    // MARK: - Around each statement

    /// Protects a statement that begins or ends a transaction from stops, until ``end()``.
    ///
    /// The statement does not begin if SQLite would interrupt it anyway, because an interrupted cursor is alive: a
    /// full-text table that is stopped while it writes its index keeps a handle that prevents each `ROLLBACK`.
    func begin(_ statement: Statement, _ transaction: StatementCompilation.Transaction) throws {
        let reach: ConnectionHandle.Reach = transaction.undoes ? .nothing : .waits
        connection.outerReach = connection.narrow(to: reach)
        connection.isRollingBack = transaction == .rollback
        if passes(transaction) { return forgetInterruption() }
        guard connection.settle() else {
            end()
            throw marked(statement.error(.interrupted))
        }
    }

    /// Returns true if the statement runs despite stops: a suspension needs it to release its lock.
    func passes(_ transaction: StatementCompilation.Transaction?) -> Bool {
        let mayEnd = contains([.suspended, .locked]) && !contains([.cancelled, .interrupted])
        return transaction?.undoes == true || mayEnd && transaction?.ends == true
    }

    func end() {
        connection.isRollingBack = false
        connection.restore(connection.outerReach)
    }

    /// Refuses a statement of an access that was stopped, or one that a suspended database may not run.
    ///
    /// Statements that undo are not refused. While the database is suspended, neither are those that end a transaction,
    /// because they release locks.
    func refuse(_ statement: Statement) throws {
        let stops = connection.beginStatement()
        let transaction = statement.compilation.transaction
        if transaction?.undoes == true { return acknowledgeUndoing() }
        if stops.contains(.undone) { throw marked(statement.error(.aborted)) }
        let reaching = connection.reachingStops
        if reaching.contains(.cancelled) { throw marked(CancellationError()) }
        if reaching.contains(.locked), transaction?.ends != true { throw marked(statement.error(.locked)) }
        if stops.contains(.suspended), transaction?.ends != true { try refuseLocks(statement) }
    }

    private func refuseLocks(_ statement: Statement) throws {
        let isAborted = database.transactions.blockDepth > 0 && database.isAutocommit
        let isHeld = releaseLock()
        if isHeld || statement.takesWriteLock || takesReadLock(statement) {
            throw marked(statement.error(isAborted ? .aborted : .suspended))
        }
    }

    private func takesReadLock(_ statement: Statement) -> Bool {
        database.untraced { connection.readsTakeLocks(attached: statement.compilation.readsAttached) }
    }

    /// Releases the lock of a connection that was suspended during the statement, and distinguishes a stopped wait from
    /// other failures.
    func conclude(_ statement: Statement, _ failure: DatabaseError?) throws {
        // An interruption ends with the statement that it interrupts.
        defer { connection.beginStatement() }
        // The suspension that stopped it may have ended.
        let waitWasStopped = connection.endWait()
        let isOver = failure == nil && statement.compilation.transaction?.ends == true
        let isHeld = !isOver && contains(.suspended) && releaseLock()
        guard let failure else {
            if isHeld { throw marked(statement.error(.suspended)) }
            return
        }
        guard failure.resultCode == .SQLITE_BUSY, waitWasStopped || contains(.suspended)
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
        let stops = connection.beginStatement()
        if !stops.isDisjoint(with: [.cancelled, .locked, .suspended]) { throw reason(beforehand: true) }
    }

    /// Refuses work other than statements that reads a write-ahead log, or needs a lock to read.
    func refuseReadLocks() throws {
        let stops = connection.beginStatement()
        if !stops.isDisjoint(with: [.cancelled, .locked]) { throw reason(beforehand: true) }
        guard stops.contains(.suspended) else { return }
        if database.untraced({ connection.readsTakeLocks(attached: false) }) { throw reason(beforehand: true) }
    }

    /// Stops long work other than statements, between two of its steps.
    func check() throws {
        if !connection.stops.isEmpty { try check(within: connection.reach) }
    }

    private func check(within reach: ConnectionHandle.Reach) throws {
        let stops = connection.stops.reaching(reach)
        // Reads of a write-ahead log go on, unless they were running when the suspension began.
        let mayGoOn =
            stops == .suspended && !wasAccessStopped
            && !connection.holdsLock
        if !stops.isEmpty, !mayGoOn { throw reason(beforehand: false, within: reach) }
    }

    /// Runs work that undoes itself if it is not completed. It can only be stopped where it calls `check`; a suspension
    /// also stops the checkpoint of its commit.
    func checking<T>(_ body: (_ check: () throws -> Void) throws -> T) rethrows -> T {
        let reach = connection.reach
        return try closing {
            forgetInterruption()
            return try body { try check(within: reach) }
        }
    }

    /// Runs work other than statements that waits for locks, and distinguishes a stopped wait from other failures.
    func waiting<T>(_ body: () throws -> T) throws -> T {
        defer { connection.forgetTrip() }
        do {
            return try body()
        } catch let failure as DatabaseError where failure.resultCode == .SQLITE_BUSY {
            guard connection.endWait() || contains(.suspended) else { throw failure }
            throw reason(beforehand: true)
        }
    }

    /// Returns the error of work that was stopped, with `beforehand` true if it has not begun.
    private func reason(beforehand: Bool, within reach: ConnectionHandle.Reach? = nil) -> any Error {
        let reaching = connection.stops.reachingWaits(reach ?? connection.reach)
        if reaching.contains(.cancelled) { return marked(CancellationError()) }
        if reaching.contains(.locked), beforehand { return marked(DatabaseError.locked) }
        if reaching.contains(.interrupted) || !beforehand { return marked(DatabaseError.interrupted) }
        return marked(DatabaseError.suspended)
    }

    private func marked(_ error: any Error) -> any Error {
        connection.noteStop()
        return error
    }

    // MARK: - Locks

    /// Releases the lock of a suspended database that keeps others out. Returns true if this undoes changes.
    @discardableResult
    func releaseLock() -> Bool {
        guard connection.holdsLock else { return false }
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
        let before = try database.seenDataVersion(of: "main")
        database.transactions.uninstall(from: raw)
        defer { database.transactions.install(on: raw) }
        try database.runUnseen("ROLLBACK; \(database.transactions.beginning); SELECT 1 FROM sqlite_master LIMIT 1")
        let after = try database.seenDataVersion(of: "main")
        database.transactions.isReader = true
        return before == after && !connection.holdsLock
    }

    /// Ends the transaction that a former access has left open. The next access must not continue it.
    func releaseAbandonedLock() {
        guard contains(.suspended), !database.isAutocommit, releaseLock() else { return }
        connection.setUndone(true)
    }

    /// Marks the undoing as known to the access.
    func acknowledgeUndoing() {
        if contains(.undone) { connection.setUndone(false) }
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
    var wasAccessStopped: Bool { connection.wasStopped }
}

extension Database {
    var stops: Stops { Stops(database: self) }
}

extension StatementCompilation.Transaction {
    /// True if it undoes changes.
    var undoes: Bool {
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

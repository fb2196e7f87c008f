import Foundation

/// The lock of one queue or pool: while it is locked, its connections are closed and its keys are gone, and the objects
/// stay.
///
/// Plain accesses know nothing of it. While the database is locked, the lock has the line of the writer, and the
/// turnstile lets no visitor in. A connection that is closed refuses each use with an error.
final class DatabaseLock: Sendable {
    enum Phase {
        case open

        /// Accesses end, and no other one begins.
        case locking

        case locked

        /// The database was closed while it was locked.
        case closed
    }

    struct State {
        var phase = Phase.open
        var snapshots = Snapshots()

        /// The number of connections outside of the queue or pool that use its key.
        var workCount = 0
        var atEndOfWork: Handover<Void>?

        /// The key that the database had, as far as it can be compared.
        var keyIdentity: [UInt8]?
        var autoLocks: [AutoLock] = []

        /// True once the database is closed: no rule is kept.
        var hasEndedAutoLocks = false

        /// The number of unlockings that have begun.
        var unlockings: UInt64 = 0

        /// The number of unlockings when the database was last asked to lock itself, until that begins.
        var pendingLock: UInt64?

        /// The number of times that the writer was opened again. Each counts as a commit, for observations that are
        /// about to start: others may have changed the content.
        var reopeningCount: UInt64 = 0
    }

    // Released in this order: the last connection to close must be one that can empty and remove the log.
    let readers: ReaderPool?
    let writer: SerializedConnection
    let externalChanges: ExternalChanges?

    /// The work after the configured set-up of the writer.
    private let prepare: @Sendable (Database) throws -> Void

    /// The key of the configuration. Nil for clear text, and if the program sets the key.
    private let key: KeySource?

    /// The store of the key. Nil for other keys.
    private let store: KeySource?

    /// Held while the database is locked or unlocked.
    private let transition = Mutex(())
    let state = Mutex(State())

    init(
        _ writer: SerializedConnection, _ readers: ReaderPool?, _ externalChanges: ExternalChanges?,
        prepare: @escaping @Sendable (Database) throws -> Void
    ) {
        (self.writer, self.readers, self.externalChanges) = (writer, readers, externalChanges)
        self.prepare = prepare
        key = writer.configuration.encryption?.key.source
        store = key.flatMap { $0.managed == nil ? nil : KeySource(sharing: $0) }
    }

    deinit {
        guard isLocked else { return }
        // Nothing can unlock the database any more. Accesses that wait keep their connection until they get an error.
        readers?.endLocking(isClosed: true)
        writer.line?.release()
    }

    var isLocked: Bool { state.withLock { $0.phase == .locked } }

    /// The time that accesses wait while the database is locked, in seconds.
    var limit: TimeInterval {
        switch writer.configuration.lockedAccesses {
        case .refuse: 0
        case .wait(let seconds): max(seconds, 0)
        }
    }

    // MARK: - Locking

    /// Ends all accesses, closes all connections, and wipes all keys. Does nothing if the database is locked.
    ///
    /// - parameter request: the number of unlockings when the lock was requested. A later one has overtaken it. Nil for
    ///   none.
    func lock(requestedAt request: UInt64? = nil) throws {
        try requireOutside("lock()")
        if let obstacle = writer.lockObstacle { throw obstacle }
        // Objects of the program are released when nothing is held.
        try DeferredReleases.after {
            try transition.withLock { _ in
                if let request, !begins(request) { return }
                switch state.withLock(\.phase) {
                case .locked: break
                case .closed: throw DatabaseError.closed
                case .open, .locking: try lockNow()
                }
            }
        }
    }

    /// Returns false if the database was unlocked after the request.
    private func begins(_ request: UInt64) -> Bool {
        state.withLock { state in
            if state.pendingLock == request { state.pendingLock = nil }
            return state.unlockings == request
        }
    }

    private func lockNow() throws {
        state.withLock { $0.phase = .locking }
        writer.setLocked(true)
        // First, so that the stop only reaches the running access.
        let awaitLine = writer.line?.hold(limit: limit)
        writer.stopForLock()
        writer.passOn(isSuspended: true)
        // Not if the pool is being closed, which needs the readers.
        var hasReaders = readers?.beginLocking(limit: limit) ?? true
        awaitLine?()
        do {
            hasReaders = try hasReaders || beginLockingReaders()
            readers?.awaitLast()
            awaitEndOfWork()
            try writer.sync(by: .direct, closeAll)
        } catch {
            state.withLock { $0.phase = .open }
            writer.endStopForLock()
            if hasReaders { readers?.endLocking() }
            goOn()
            endSnapshots()
            throw error
        }
        forgetKeys()
        writer.endStopForLock()
        endStopOfWork()
        state.withLock { $0.phase = .locked }
    }

    private func beginLockingReaders() throws -> Bool {
        guard let readers, !readers.beginLocking(limit: limit) else { return true }
        throw DatabaseError.closed
    }

    private func closeAll(_ db: Database) throws {
        // It was closed meanwhile, or has closed itself.
        _ = try db.openConnection
        try closeSnapshots()
        try readers?.closeIdle()
        let identity = db.keyIdentity
        try db.closeForReopening(.locked)
        state.withLock { $0.keyIdentity = identity }
    }

    private func forgetKeys() {
        key?.forget()
        writer.configuration.keyring?.forget()
    }

    /// Lets the library's own connections to the database work again. None is left when it is locked, but an unlocking
    /// may need one.
    private func endStopOfWork() {
        if !writer.isSuspended { writer.passOn(isSuspended: false) }
    }

    /// Lets everything go on that waits.
    private func goOn() {
        endStopOfWork()
        writer.setLocked(false)
        writer.line?.release()
    }

    // MARK: - Unlocking

    /// Opens the writer with the key, and lets everything go on. If that fails, the database stays locked.
    ///
    /// - parameter given: the key. Nil for that of the store.
    func unlock(with given: KeySource?) throws {
        try requireOutside("unlock(with:)")
        try DeferredReleases.after {
            try transition.withLock { _ in
                switch state.withLock(\.phase) {
                case .open, .locking: throw DatabaseError.notLocked
                case .closed: throw DatabaseError.closed
                case .locked: state.withLock { $0.unlockings += 1 }
                }
                // Opening takes locks.
                if writer.isSuspended { throw DatabaseError.suspended }
                guard let secret = given ?? store else { throw DatabaseError.needsKey }
                try reopen(with: secret)
                begin()
            }
        }
    }

    /// Opens the writer. Tries again if another connection has changed the key meanwhile, as an opening does.
    private func reopen(with secret: KeySource) throws {
        var count = 1
        while true {
            do {
                return try writer.sync(by: .direct) { try reopen($0, secret) }
            } catch let overtaken as OvertakenOpening {
                guard count < SlotLook.most else { throw overtaken.error }
                count += 1
            }
        }
    }

    private func reopen(_ db: Database, _ secret: KeySource) throws {
        do {
            key?.adopt(secret)
            try db.configuration.explainingMissingLog(at: db.path) {
                try db.reopen()
                state.withLock { state in
                    state.reopeningCount += 1
                    db.connection.countCommit()
                }
                try db.detectingChangedKey {
                    try db.setUpUnlocked(former: state.withLock(\.keyIdentity))
                    try prepare(db)
                    try readers?.setUpFully(db)
                }
            }
            db.connection.noteSetUp()
            externalChanges?.databaseWasReopened(db)
        } catch {
            db.endReopening(.locked)
            forgetKeys()
            throw error
        }
    }

    /// Lets observations fetch again, and then accesses go on.
    private func begin() {
        state.withLock { state in
            state.phase = .open
            state.keyIdentity = nil
        }
        readers?.endLocking()
        writer.sync(by: .direct) { $0.noteReopening() }
        // First, because a snapshot's access may wait for one of the writer.
        goOn()
        endSnapshots()
    }

    /// The number of times that the writer was opened again.
    var reopeningCount: UInt64 { state.withLock(\.reopeningCount) }

    /// The number of transactions that have changed something.
    var commitCount: UInt64 { state.withLock { writer.commitCount - $0.reopeningCount } }

    // MARK: - Closing

    /// Closes a database with `closeOpen`, which returns false if it is locked, or as a locked one. Ends its rules.
    func closeDatabase(_ closeOpen: () throws -> Bool) throws {
        while try !closeIfLocked() && !DeferredReleases.after(closeOpen) {}
        endAutoLocks()
        externalChanges?.stop()
    }

    /// Closes a database that is locked. Returns false if it is not.
    private func closeIfLocked() throws -> Bool {
        // Inside of an access to the writer or a reader, the close of an open database reports the mistake.
        if writer.isAccessed || readers?.isAccessed == true { return false }
        return try DeferredReleases.after {
            guard isInside else { return transition.withLock { _ in closeIfLockedNow() } }
            return try closeIfLockedInSnapshot()
        }
    }

    /// Closes a database that is locked, from an access to one of its snapshots. A lock waits for its end, and so
    /// does an unlocking at last.
    private func closeIfLockedInSnapshot() throws -> Bool {
        while true {
            if let isClosed = transition.withLockIfAvailable({ _ in closeIfLockedNow() }) { return isClosed }
            switch state.withLock(\.phase) {
            case .locking: throw DatabaseError.waitingLock
            // The unlocking opens the database, or fails, before it waits.
            case .locked: usleep(1000)
            case .open, .closed: return false
            }
        }
    }

    private func closeIfLockedNow() -> Bool {
        guard isLocked else { return false }
        state.withLock { $0.phase = .closed }
        writer.sync(by: .direct) { $0.closeWhileLocked() }
        readers?.endLocking(isClosed: true)
        goOn()
        return true
    }

    // MARK: - Conditions

    /// True if the calling thread is inside of an access, which a lock would wait for.
    var isInside: Bool {
        writer.isAccessed || readers?.isAccessed == true || livingSnapshots.contains(where: \.isAccessed)
    }

    /// True if the calling thread works on the queue that accesses need.
    var isOnTarget: Bool { writer.isOnTarget || readers?.target?.isCurrent == true }

    private func requireOutside(_ method: String) throws {
        if isInside {
            throw DatabaseError(
                refusing: "\(method) was called inside of an access to the database, whose end it waits for",
                advice: "call it after the access, or in a task", reason: .notLockable)
        }
        if isOnTarget {
            throw DatabaseError(
                refusing: "\(method) was called on the target queue of the database, which its accesses need",
                advice: "call it on another queue, or with await", reason: .notLockable)
        }
    }
}

extension DatabaseError {
    fileprivate static let notLocked = DatabaseError(
        refusing: "The database is not locked", advice: "lock it first, and unlock it once", reason: .notLocked)

    fileprivate static let waitingLock = DatabaseError(
        .SQLITE_BUSY,
        refusing: "close() was called inside of an access to a snapshot, whose end a lock of the database waits for",
        advice: "close the database after the access")

    fileprivate static let needsKey = DatabaseError(
        refusing: "The key of the database is not in a store", advice: "give it: unlock(with:)", reason: .locked)
}

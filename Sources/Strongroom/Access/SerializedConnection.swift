import Dispatch
import Foundation

/// The way of an access to its connection.
enum AccessPath {
    /// In the line, after all accesses that came before.
    case inLine

    /// As `inLine`, but not while the database is locked: for what needs no open connection.
    case inLineUnlessLocked

    /// In a turn that the calling thread already has. A reader's access has the reader, and so has every turn.
    case inTurn

    /// Past the line, when the running access has ended: for threads that accesses in the line may wait for.
    case direct
}

/// A connection to which one thread after the other has access.
///
/// Sendable although ``Database`` is not: the connection is only used under `turn`, and a reader's by the one access
/// that has the reader.
final class SerializedConnection: @unchecked Sendable {
    private enum Turn {
        /// A queue that only runs the accesses of blocked threads, so that it needs no thread. They have its label.
        case queue(DispatchQueue)

        /// For connections whose accesses run on the target queue, and have its label.
        case lock(Mutex<Void>)
    }

    private let database: Database
    private let target: TargetQueue?

    /// Nil for readers, which belong to one access.
    let line: AccessLine?

    /// The functions that are called with an error, one after the other.
    private let refusals = AccessLine(qos: .default)

    /// Lets one access run at a time, because some accesses don't wait in the line.
    private let turn: Turn

    private struct Resumption {
        var actions: [@Sendable () -> Void] = []
        var isLocked = false
    }

    /// The actions that wait for the end of a suspension, and until the database is unlocked.
    private let resumption = Mutex(Resumption())

    /// The functions that are called at each suspension.
    let suspensionReactions = Mutex<[Int: @Sendable () -> Void]>([:])

    /// The error of locking the database. Nil if it can be locked.
    private(set) var lockObstacle: DatabaseError?

    /// The accesses that the connection counts.
    private let work: CountedWork

    /// Its share of the figures of its queue or pool. Nil until it is set up.
    private var counts: WorkCounts?

    /// Called when the connection of a snapshot was closed because nothing refers to it any more.
    var didRetire: (@Sendable () -> Void)?

    /// The version of the pool's set-ups that the connection has run.
    var appliedSetups: ConnectionSetups.Version = 0

    /// Opens the connection, and makes it ready for use. The label becomes the connection's name.
    ///
    /// - parameter target: the queue on which all accesses run. Nil for none.
    /// - parameter group: the number that the readers of one pool have in common. 0 for others.
    /// - parameter minimumBusyTimeout: the busy timeout if the configuration has none, in milliseconds.
    /// - parameter prepare: the work after the configured set-up.
    init(
        path: String,
        configuration: Configuration,
        label: String,
        target: TargetQueue?,
        by accessPath: AccessPath = .inLine,
        group: UInt = 0,
        minimumBusyTimeout: CInt = 0,
        prepare: (Database) throws -> Void = { _ in }
    ) throws {
        database = try Database(path: path, description: label, configuration: configuration)
        database.connection.join(group)
        database.busy.minimumTimeout = minimumBusyTimeout
        self.target = target
        let qos = configuration.readonly ? configuration.readQoS : configuration.writeQoS
        line = group == 0 ? AccessLine(qos: qos, tally: configuration.tally) : nil
        work = group != 0 || configuration.isSnapshot ? .reads : .writes
        turn = target == nil ? .queue(DispatchQueue(label: label, qos: qos)) : .lock(Mutex(()))
        // Before the set-up of a writer, which takes locks. That of a reader takes none that keeps others out, and is
        // never refused.
        let isReader = group != 0
        if !isReader, !configuration.isSnapshot { followSuspensions(isReader: false) }
        do {
            try sync(by: accessPath) { database in
                requireEndOfSetups()
                try database.detectingChangedKey {
                    try database.setUp()
                    try prepare(database)
                }
                if line != nil { lockObstacle = database.lockObstacle }
                database.connection.noteSetUp()
            }
        } catch {
            retire()
            throw error
        }
        if isReader { followSuspensions(isReader: true) }
        counts = configuration.tally?.take()
        database.figures.setCounts(counts)
    }

    /// Stops a program whose set-up function opens a connection that calls the function again.
    private func requireEndOfSetups() {
        guard CallingThread.nestedSetups > 16 else { return }
        fatalError(
            """
            Configuration.prepareDatabase opens \(database.description) again, and is called again each time. \
            Use its db argument, and make snapshots and open databases elsewhere.
            """)
    }

    deinit {
        Suspensions.shared.remove(ObjectIdentifier(self))
        // The next object may have the identifier of the keys.
        if !configuration.isSnapshot { passOn(isSuspended: false) }
        retire()
        database.figures.setCounts(nil)
        if let counts { configuration.tally?.giveBack(counts) }
        didRetire?()
    }

    /// Joins those that a suspension reaches.
    private func followSuspensions(isReader: Bool) {
        let member = Suspensions.Member(
            followsNotifications: configuration.observesSuspensionNotifications,
            suspend: { [weak self] in isReader ? self?.suspendLocks() : self?.suspend() },
            resume: { [weak self] in self?.resume() },
            holdsLock: { [weak self] in self?.holdsLock == true })
        Suspensions.shared.add(member, for: ObjectIdentifier(self))
    }

    /// Suspends or resumes the connections that the library has opened for its own work on this database.
    func passOn(isSuspended: Bool) {
        guard line != nil, let keyring = configuration.keyring else { return }
        Suspensions.shared.set(ObjectIdentifier(keyring), isSuspended: isSuspended, by: ObjectIdentifier(self))
    }

    /// Closes a connection that is not used again, outside of an access: objects that it releases may use the database.
    func retire() {
        let former = database.connection.enter()
        database.abandon()
        database.connection.exit(former)
    }

    var configuration: Configuration { database.configuration }

    /// False if the connection has closed itself: a transaction was open that could not be ended.
    var isOpen: Bool { database.sqliteConnection != nil }

    /// True once the connection is closed. Any thread may read it.
    var isClosed: Bool { database.figures.isClosed }

    /// A Boolean value that indicates whether the calling thread is inside an access to this connection.
    var isAccessed: Bool { database.connection.isInside }

    /// True if the calling thread is inside an access, in a function that must not use the connection.
    var isBarred: Bool { isAccessed && !database.connection.hasAccess }

    /// Runs `block` with access.
    ///
    /// - precondition: the calling thread has no access yet.
    func sync<T>(by path: AccessPath = .inLine, _ block: (Database) throws -> T) rethrows -> T {
        if isAccessed { reentrancyError(database.description) }
        guard let line = line(for: path) else { return try access(by: path, block) }
        return try line.sync(waitsInHolds: path == .inLine) { try access(by: path, block) }
    }

    /// Runs `block` with access, between two functions that run in the same turn without access.
    func sync<T>(
        by path: AccessPath = .inLine, between begin: () throws -> Void, and end: () -> Void,
        _ block: (Database) throws -> T
    ) throws -> T {
        if isAccessed { reentrancyError(database.description) }
        func run() throws -> T {
            try begin()
            defer { end() }
            return try access(by: .inTurn, block)
        }
        return try line(for: path)?.sync(waitsInHolds: path == .inLine, run) ?? run()
    }

    /// Returns the line if the access waits in it. The accesses there may wait for the target queue, which may be this
    /// thread's.
    private func line(for path: AccessPath) -> AccessLine? {
        (path == .inLine || path == .inLineUnlessLocked) && target?.isCurrent != true ? line : nil
    }

    /// Runs `block` with access, immediately if the calling thread already has it.
    func reentrantSync<T>(by path: AccessPath = .inLine, _ block: (Database) throws -> T) rethrows -> T {
        isAccessed ? try block(database) : try sync(by: path, block)
    }

    /// Runs `block` with access, later.
    ///
    /// - parameter staysInHolds: true to wait until a locked database is unlocked or closed, before later accesses.
    func async(staysInHolds: Bool = false, _ block: @escaping @Sendable (Database) -> Void) {
        line?.async(staysInHolds: staysInHolds) { self.access(by: .inTurn, block) }
    }

    /// Runs `block` with access, later, and then `completion` without access: before the next access, unless this one
    /// runs past the line of a locked database.
    func async<T>(_ block: @escaping @Sendable (Database) -> T, then completion: @escaping @Sendable (T) -> Void) {
        later { completion(self.access(by: .inTurn, block)) }
    }

    /// Runs `block` with access, later. After the access, calls `failure` with the error that it throws,
    /// one call at a time.
    func async(
        _ block: @escaping @Sendable (Database) throws -> Void,
        orElse failure: @escaping @Sendable (any Error) -> Void
    ) {
        later {
            do {
                try self.access(by: .inTurn, block)
            } catch {
                // Not in this turn: the function may block for another access.
                self.refusals.async { failure(error) }
            }
        }
    }

    /// Runs the job with access, later, with the priority of the calling task.
    func async<Value>(_ job: AccessJob<Value>) {
        if isLeaving { return job.fail(DatabaseError.shutDown) }
        later(priority: job.priority) { self.access(by: .inTurn, job.perform)?.wake() }
    }

    /// Runs `work` later, in a turn of its own and without access. It gets access with ``AccessPath/inTurn``.
    func later(priority: TaskPriority = .medium, _ work: @escaping @Sendable () -> Void) {
        line?.async(priority: priority, work)
    }

    /// Runs `block` with access, and does not close the transactions and cursors that it leaves open.
    func leavingOpen<T>(by path: AccessPath, _ block: (Database) throws -> T) rethrows -> T {
        try access(by: path, leavesOpen: true, block)
    }

    /// The connection of the access that the calling thread is in.
    ///
    /// - precondition: ``isAccessed``.
    var accessed: Database {
        precondition(isAccessed, "The connection is used outside of its access.")
        return database
    }

    /// Stops a program that requests a concurrent read when there is no state to read.
    @discardableResult
    func requireWriteOutsideOfTransaction(_ method: String) -> Database {
        guard isAccessed else {
            fatalError(
                """
                \(method) was called outside of a write to \(database.description). \
                Call it from writeWithoutTransaction, or use asyncRead.
                """)
        }
        guard !database.isInsideTransaction else {
            fatalError(
                """
                \(method) was called inside a transaction of \(database.description), whose changes it could not see. \
                Call it before or after the transaction, from writeWithoutTransaction.
                """)
        }
        return database
    }

    // MARK: - From any thread

    /// The handle, for what any thread may call.
    var handle: LockableHandle { LockableHandle(handle: database.connection) }

    /// The number of transactions that the connection has committed. Later reads see all of their changes.
    var commitCount: UInt64 { database.connection.commits }

    /// Refuses the accesses that tasks request from now on.
    func leave() { database.figures.isLeaving = true }

    /// True if new accesses are refused, because the database is about to be closed.
    var isLeaving: Bool { database.figures.isLeaving }

    /// Stops the running access, and those that follow, until ``endStop()``.
    func stopAccesses() { database.connection.cancel() }

    func endStop() { database.connection.endCancellation() }

    /// The number of accesses that wait in the line.
    var waiting: Int { line?.waiting ?? 0 }

    /// Interrupts the running statement of the connection. Safe to call when the connection is closed.
    func interrupt() {
        database.connection.interrupt()
    }

    /// Prevents the connection from taking locks, and rolls back a transaction that holds one.
    func suspend() {
        database.connection.suspend(interrupts: true)
        passOn(isSuspended: true)
        // Running accesses stop by themselves. This access ends a transaction that a former access has left open.
        if database.configuration.allowsUnsafeTransactions {
            async { $0.stops.releaseAbandonedLock() }
        }
        let reactions = suspensionReactions.withLock { Array($0.values) }
        for react in reactions { react() }
    }

    /// True if the calling thread works on the queue that accesses need.
    var isOnTarget: Bool { target?.isCurrent == true }

    /// Suspends a reader of a write-ahead log. It can go on, unless it holds a lock of an attached database.
    func suspendLocks() {
        database.connection.suspend(interrupts: false)
    }

    func resume() {
        database.connection.resume()
        passOn(isSuspended: false)
        runActions { _ in }
    }

    /// Holds back the actions that wait while the database is locked, or runs them.
    func setLocked(_ isLocked: Bool) {
        runActions { $0.isLocked = isLocked }
    }

    private func runActions(after change: (inout Resumption) -> Void) {
        let actions = resumption.withLock { resumption -> [@Sendable () -> Void] in
            change(&resumption)
            if resumption.isLocked || isSuspended { return [] }
            defer { resumption.actions = [] }
            return resumption.actions
        }
        for action in actions { action() }
    }

    /// Calls `action` when the connection is neither suspended nor locked: now, or later.
    func whenResumed(_ action: @escaping @Sendable () -> Void) {
        // Checked under the lock: a later resumption finds the action.
        let mustWait = resumption.withLock { resumption in
            let mustWait = resumption.isLocked || self.isSuspended
            if mustWait { resumption.actions.append(action) }
            return mustWait
        }
        if !mustWait { action() }
    }

    /// True while the database is locked, or about to be.
    var isLocked: Bool { resumption.withLock(\.isLocked) }

    var isSuspended: Bool { database.connection.stops.contains(.suspended) }

    /// True if the connection holds a lock that keeps others out. Safe to read from any thread.
    var holdsLock: Bool { database.connection.holdsLock }

    private func access<T>(
        by path: AccessPath, leavesOpen: Bool = false, _ block: (Database) throws -> T
    ) rethrows -> T {
        guard let target, path != .direct else { return try accessInTurn(leavesOpen, block) }
        return try target.sync { try accessInTurn(leavesOpen, block) }
    }

    private func accessInTurn<T>(_ leavesOpen: Bool, _ block: (Database) throws -> T) rethrows -> T {
        switch turn {
        case .queue(let queue): try queue.wait { try accessNow(leavesOpen, block) }
        case .lock(let lock): try lock.withLock { _ in try accessNow(leavesOpen, block) }
        }
    }

    private func accessNow<T>(_ leavesOpen: Bool, _ block: (Database) throws -> T) rethrows -> T {
        let former = database.connection.enter()
        database.connection.setNested(true)
        database.figures.count(work)
        defer {
            if !leavesOpen { database.endAccess() }
            database.connection.setNested(false)
            database.connection.exit(former)
        }
        return try block(database)
    }
}

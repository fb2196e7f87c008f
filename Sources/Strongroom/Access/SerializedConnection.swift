import CStrongroom
import Dispatch
import Foundation

/// The way of an access to its connection.
enum AccessPath {
    /// Through the queue, after all accesses that came before.
    case queue

    /// On the connection's queue, on which the calling thread already works.
    case onQueue

    /// Past the queue, when the running access has ended: for threads that accesses in the queue may wait for.
    case direct
}

/// A connection to which one thread after the other has access.
///
/// Sendable although ``Database`` is not: the connection is only used under `turn`, and a reader's by the one access
/// that has the reader.
final class SerializedConnection: @unchecked Sendable {
    private let database: Database
    private let queue: DispatchQueue
    private let target: TargetQueue?

    /// Held by the running access, because some accesses don't go through the queue. Nil for readers, which belong to
    /// one access.
    private let turn: Mutex<Void>?

    /// The actions that wait for the end of a suspension.
    private let resumption = Mutex<[@Sendable () -> Void]>([])

    /// The version of the pool's set-ups that the connection has run.
    var appliedSetups: ConnectionSetups.Version = 0

    /// Opens the connection on `queue`, and makes it ready for use. The label of the queue becomes the connection's
    /// name.
    ///
    /// - parameter target: the queue on which all accesses run. Nil for `queue` alone.
    /// - parameter group: the number that the readers of one pool have in common. 0 for others.
    /// - parameter minimumBusyTimeout: the busy timeout if the configuration has none, in milliseconds.
    /// - parameter prepare: the work after the configured set-up.
    init(
        path: String,
        configuration: Configuration,
        queue: DispatchQueue,
        target: TargetQueue?,
        by accessPath: AccessPath = .queue,
        group: UInt = 0,
        minimumBusyTimeout: CInt = 0,
        prepare: (Database) throws -> Void = { _ in }) throws
    {
        database = try Database(path: path, description: queue.label, configuration: configuration)
        database.connection.pointee.group = group
        database.busy.minimumTimeout = minimumBusyTimeout
        self.queue = queue
        self.target = target
        turn = group == 0 ? Mutex(()) : nil
        do {
            try sync(by: accessPath) {
                requireEndOfSetups()
                try $0.setUp()
                try prepare($0)
                $0.connection.pointee.is_set_up = true
            }
        } catch {
            retire()
            throw error
        }
    }

    /// Stops a program whose set-up function opens a connection that calls the function again.
    private func requireEndOfSetups() {
        guard strongroom_nested_setups() > 16 else { return }
        fatalError("""
            Configuration.prepareDatabase opens \(database.description) again, and is called again each time. \
            Use its db argument, and make snapshots and open databases elsewhere.
            """)
    }

    deinit {
        retire()
    }

    /// Closes a connection that is not used again, outside of an access: objects that it releases may use the database.
    func retire() {
        let former = strongroom_enter(database.connection)
        database.abandon()
        strongroom_exit(database.connection, former)
    }

    var configuration: Configuration { database.configuration }

    /// False if the connection has closed itself: a transaction was open that could not be ended.
    var isOpen: Bool { database.sqliteConnection != nil }

    /// A Boolean value that indicates whether the calling thread is inside an access to this connection.
    var isAccessed: Bool { strongroom_is_inside(database.connection) }

    /// True if the calling thread is inside an access, in a function that must not use the connection.
    var isBarred: Bool { isAccessed && !strongroom_has_access(database.connection) }

    /// Runs `block` with access.
    ///
    /// - precondition: the calling thread has no access yet.
    func sync<T>(by path: AccessPath = .queue, _ block: (Database) throws -> T) rethrows -> T {
        if isAccessed { reentrancyError(database.description) }
        return waits(path) ? try queue.wait(for: { try access(by: path, block) }) : try access(by: path, block)
    }

    /// Runs `block` with access, between two functions that run in the same turn without access.
    func sync<T>(between begin: () throws -> Void, and end: () -> Void, _ block: (Database) throws -> T) throws -> T {
        if isAccessed { reentrancyError(database.description) }
        func run() throws -> T {
            try begin()
            defer { end() }
            return try access(by: .onQueue, block)
        }
        return waits(.queue) ? try queue.wait(for: run) : try run()
    }

    /// Returns true if the access waits in the queue. The accesses there may wait for the target queue, which may be
    /// this thread's.
    private func waits(_ path: AccessPath) -> Bool {
        path == .queue && target?.isCurrent != true
    }

    /// Runs `block` with access, at once if the calling thread already has it.
    func reentrantSync<T>(_ block: (Database) throws -> T) rethrows -> T {
        isAccessed ? try block(database) : try sync(block)
    }

    /// Runs `block` with access, later.
    func async(_ block: @escaping @Sendable (Database) -> Void) {
        queue.async { self.access(by: .onQueue, block) }
    }

    /// Runs `block` with access, later, and then `completion` without access, before the next access of the queue.
    func async<T>(_ block: @escaping @Sendable (Database) -> T, then completion: @escaping @Sendable (T) -> Void) {
        queue.async { completion(self.access(by: .onQueue, block)) }
    }

    /// Runs `block` with access, later. After the access, calls `failure` with the error that it throws.
    func async(
        _ block: @escaping @Sendable (Database) throws -> Void,
        orElse failure: @escaping @Sendable (any Error) -> Void)
    {
        queue.async {
            do {
                try self.access(by: .onQueue, block)
            } catch {
                DispatchQueue.global().async { failure(error) }
            }
        }
    }

    /// Runs the job with access, later, with the priority of the calling task.
    func async<Value>(_ job: AccessJob<Value>) {
        queue.async(priority: job.priority) { self.access(by: .onQueue, job.perform)?.wake() }
    }

    /// Runs `work` later, in its turn on the queue and without access. It gets access with ``AccessPath/onQueue``.
    func asyncOnQueue(priority: TaskPriority = .medium, _ work: @escaping @Sendable () -> Void) {
        queue.async(priority: priority, work)
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

    /// Stops a program that requests a concurrent read where there is no state to read.
    @discardableResult
    func requireWriteOutsideOfTransaction(_ method: String) -> Database {
        guard isAccessed else {
            fatalError("""
                \(method) was called outside of a write to \(database.description). \
                Call it from writeWithoutTransaction, or use asyncRead.
                """)
        }
        guard !database.isInsideTransaction else {
            fatalError("""
                \(method) was called inside a transaction of \(database.description), whose changes it could not see. \
                Call it before or after the transaction, from writeWithoutTransaction.
                """)
        }
        return database
    }

    // MARK: - From any thread

    /// The number of transactions that the connection has committed. Later reads see all of their changes.
    var commitCount: UInt64 { strongroom_commits(database.connection) }

    /// Interrupts the running statement of the connection. Safe to call when the connection is closed.
    func interrupt() {
        strongroom_connection_interrupt(database.connection)
    }

    /// Prevents the connection from taking locks, and rolls back a transaction that holds one.
    func suspend() {
        strongroom_connection_suspend(database.connection, true)
        // Running accesses stop by themselves. This access ends a transaction that a former access has left open.
        if database.configuration.allowsUnsafeTransactions {
            async { $0.stops.releaseAbandonedLock() }
        }
    }

    /// Suspends a reader of a write-ahead log. It can go on, unless it holds a lock of an attached database.
    func suspendLocks() {
        strongroom_connection_suspend(database.connection, false)
    }

    func resume() {
        strongroom_connection_resume(database.connection)
        let actions = resumption.withLock { actions in
            defer { actions = [] }
            return actions
        }
        for action in actions { action() }
    }

    /// Calls `action` when the connection is not suspended: now, or at the end of the suspension.
    func whenResumed(_ action: @escaping @Sendable () -> Void) {
        // Checked under the lock: a later resumption finds the action.
        let isSuspended = resumption.withLock { actions in
            let isSuspended = self.isSuspended
            if isSuspended { actions.append(action) }
            return isSuspended
        }
        if !isSuspended { action() }
    }

    var isSuspended: Bool { strongroom_stops(database.connection) & UInt32(STRONGROOM_SUSPENDED) != 0 }

    /// True if the connection holds a lock that keeps others out. Safe to read from any thread.
    var holdsLock: Bool { strongroom_connection_holds_lock(database.connection) }

    private func access<T>(
        by path: AccessPath, leavesOpen: Bool = false, _ block: (Database) throws -> T) rethrows -> T
    {
        guard let target, path != .direct else { return try accessInTurn(leavesOpen, block) }
        return try target.sync { try accessInTurn(leavesOpen, block) }
    }

    private func accessInTurn<T>(_ leavesOpen: Bool, _ block: (Database) throws -> T) rethrows -> T {
        guard let turn else { return try accessNow(leavesOpen, block) }
        return try turn.withLock { _ in try accessNow(leavesOpen, block) }
    }

    private func accessNow<T>(_ leavesOpen: Bool, _ block: (Database) throws -> T) rethrows -> T {
        let former = strongroom_enter(database.connection)
        strongroom_connection_push(database.connection)
        defer {
            if !leavesOpen { database.endAccess() }
            strongroom_connection_pop(database.connection)
            strongroom_exit(database.connection, former)
        }
        return try block(database)
    }
}

/// Stops a program that would wait for itself.
func reentrancyError(_ description: String) -> Never {
    fatalError("""
        Database methods are not reentrant: \(description) is already being accessed by this thread. \
        Pass the `db` argument along, or use unsafeReentrantRead or unsafeReentrantWrite.
        """)
}


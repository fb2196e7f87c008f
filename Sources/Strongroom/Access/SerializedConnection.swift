import CStrongroom
import Dispatch
import Foundation

/// Gives one thread after the other access to a connection.
///
/// Sendable although ``Database`` is not: the connection is touched on `queue` only, which runs one access at a time.
final class SerializedConnection: @unchecked Sendable {
    private let database: Database
    private let queue: DispatchQueue

    /// What waits for the end of a suspension, and its lock.
    private var resumption: [@Sendable () -> Void] = []
    private let lock = NSLock()

    /// How many of a pool's later set-ups the connection has gone through.
    var appliedSetups = 0

    /// Opens the connection on `queue`, whose label becomes the connection's name, and makes it ready for use.
    ///
    /// - parameter isOnQueue: whether the calling thread works on `queue` already.
    /// - parameter group: what the connections of one pool have in common.
    /// - parameter patience: milliseconds to wait for a lock where the configuration wants no waiting at all.
    /// - parameter prepare: what follows the configured set-up.
    init(
        path: String,
        configuration: Configuration,
        queue: DispatchQueue,
        isOnQueue: Bool = false,
        group: UInt = 0,
        patience: CInt = 0,
        prepare: (Database) throws -> Void = { _ in }) throws
    {
        database = try Database(path: path, description: queue.label, configuration: configuration)
        database.connection.pointee.group = group
        database.patience = patience
        self.queue = queue
        do {
            try sync(isOnQueue: isOnQueue) {
                try $0.setUp()
                try prepare($0)
            }
        } catch {
            sync(isOnQueue: isOnQueue) { $0.abandon() }
            throw error
        }
    }

    deinit {
        // Nobody else holds the connection: the access can't have to wait.
        let former = strongroom_enter(database.connection)
        database.abandon()
        strongroom_exit(database.connection, former)
    }

    var configuration: Configuration { database.configuration }

    /// Whether the calling thread is inside an access to this connection.
    var isAccessed: Bool { strongroom_has_access(database.connection) }

    /// Runs `block` with access, after all accesses that came before.
    ///
    /// - parameter isOnQueue: whether the calling thread works on the connection's queue already.
    /// - precondition: the calling thread has no access yet.
    func sync<T>(isOnQueue: Bool = false, _ block: (Database) throws -> T) rethrows -> T {
        if isAccessed { reentrancyError(database.description) }
        return isOnQueue ? try access(block) : try queue.sync { try access(block) }
    }

    /// Runs `block` with access, at once when the calling thread has it already.
    func reentrantSync<T>(_ block: (Database) throws -> T) rethrows -> T {
        isAccessed ? try block(database) : try sync(block)
    }

    /// Runs `block` with access, later.
    func async(_ block: @escaping @Sendable (Database) -> Void) {
        queue.async { self.access(block) }
    }

    /// Runs the job with access, later, with the priority of the calling task.
    func async<Value>(_ job: AccessJob<Value>) {
        async(job, job.perform)
    }

    /// The same, where the job performs behind something else.
    func async<Value>(_ job: AccessJob<Value>, _ perform: @escaping @Sendable (Database) -> AccessJob<Value>?) {
        queue.async(priority: job.priority) { self.access(perform)?.wake() }
    }

    /// The connection of the access that the calling thread is in.
    ///
    /// - precondition: ``isAccessed``.
    var accessed: Database {
        precondition(isAccessed, "The connection is asked for outside of its access.")
        return database
    }

    /// Stops a program that asks for a concurrent read where there is no state to read.
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

    /// How many transactions the connection has committed: what is read after asking has all of their changes.
    var commitCount: UInt64 { strongroom_commits(database.connection) }

    /// Interrupts what the connection does at this moment. Safe even when the connection is closed.
    func interrupt() {
        strongroom_connection_interrupt(database.connection)
    }

    /// Keeps the connection from taking locks, and rolls back what holds one.
    func suspend() {
        strongroom_connection_suspend(database.connection, true)
        // Accesses that run stop by themselves. This one finds what a former access has left open.
        if database.configuration.allowsUnsafeTransactions {
            async { $0.stops.releaseLeftLock() }
        }
    }

    /// The same for a reader of a write-ahead log: it may go on, unless it holds a lock of an attached database.
    func suspendLocks() {
        strongroom_connection_suspend(database.connection, false)
    }

    func resume() {
        strongroom_connection_resume(database.connection)
        let actions = lock.withLock {
            defer { resumption = [] }
            return resumption
        }
        for action in actions { action() }
    }

    /// Calls `action` when the connection is not suspended: now, or at the end of the suspension.
    func whenResumed(_ action: @escaping @Sendable () -> Void) {
        // Looked at with the lock held: a resumption that comes later finds the action.
        let isSuspended = lock.withLock {
            let isSuspended = strongroom_stops(database.connection) & UInt32(STRONGROOM_SUSPENDED) != 0
            if isSuspended { resumption.append(action) }
            return isSuspended
        }
        if !isSuspended { action() }
    }

    /// Whether the connection holds a lock that keeps others out. Safe from any thread.
    var holdsLock: Bool { strongroom_connection_holds_lock(database.connection) }

    private func access<T>(_ block: (Database) throws -> T) rethrows -> T {
        let former = strongroom_enter(database.connection)
        strongroom_connection_push(database.connection)
        defer {
            database.endAccess()
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


import Foundation

// Locking a queue or pool, or a writer that wraps one: see <doc:LockingAndUnlocking>.

extension DatabaseWriter {
    /// A Boolean value that indicates whether the database is locked.
    public var isLocked: Bool { served?.databaseLock.isLocked ?? false }

    /// Locks the database: ends its accesses, closes its connections, and wipes its keys. The object, its observers and
    /// its configuration stay.
    ///
    /// Running accesses are interrupted and rolled back. Later ones are refused or wait, as
    /// ``Configuration/lockedAccesses`` says. Observations pause, and snapshots end. Does nothing if the database is
    /// locked.
    ///
    /// Blocks until the running accesses have ended.
    ///
    /// - throws: `SQLITE_MISUSE` with the reason `notLockable` inside of an access, on the target queue, for a database
    ///   in memory or without a key, for a key that `prepareDatabase` sets, and for a writer other than a queue, a pool
    ///   and ``AnyDatabaseWriter``. `SQLITE_BUSY` when the program keeps a statement. The database then stays unlocked.
    public func lock() throws {
        try lockable.lock()
    }

    /// Suspends the task instead of blocking the thread. A cancellation does not stop the lock.
    public func lock() async throws {
        let databaseLock = try lockable
        try await Workers.shared.value { try databaseLock.lock() }
    }

    /// Unlocks the database with its key: its passphrase, its raw key, its store, or the secret of one of its slots.
    ///
    /// Verifies the key first. Then observations fetch again, and accesses that wait run.
    ///
    /// - parameter key: the key.
    /// - throws: `SQLITE_NOTADB` with the reason `wrongKey` and the other errors of opening: the database stays locked.
    ///   `SQLITE_MISUSE` with the reason `notLocked` if it is not locked; `SQLITE_ABORT` with the reason
    ///   `suspended` while it is suspended.
    public func unlock(with key: DatabaseKey) throws {
        try lockable.unlock(with: key.source)
    }

    /// Suspends the task instead of blocking the thread. A cancellation does not stop the unlocking.
    public func unlock(with key: DatabaseKey) async throws {
        let databaseLock = try lockable
        try await Workers.shared.value { try databaseLock.unlock(with: key.source) }
    }

    /// Unlocks the database with the key of its store, for a key that is ``DatabaseKey/managed(by:formerKeys:)``.
    ///
    /// - throws: `SQLITE_MISUSE` with the reason `locked` if the key is not in a store; the errors of
    ///   `unlock(with:)`.
    public func unlock() throws {
        try lockable.unlock(with: nil)
    }

    /// Suspends the task instead of blocking the thread.
    public func unlock() async throws {
        let databaseLock = try lockable
        try await Workers.shared.value { try databaseLock.unlock(with: nil) }
    }

    /// Locks the database after a time without accesses, at most 30 seconds late. Accesses of observations count, too.
    ///
    /// Locks it again after each unlocking, until the returned object is cancelled or the database is closed. Releasing
    /// the object does not cancel it. If the database can't be locked, ``Database/logError`` gets the error.
    ///
    /// - parameter delay: the time without accesses.
    @discardableResult
    public func autoLock(after delay: AutoLockDelay) -> AutoLock {
        locking { $0.lock(afterIdle: delay.seconds) }
    }

    /// Locks the database at an event, each time, until the returned object is cancelled or the database is closed. If
    /// the database can't be locked, ``Database/logError`` gets the error.
    @discardableResult
    public func autoLock(on event: AutoLockEvent) -> AutoLock {
        locking { databaseLock in
            switch event.kind {
            case .suspension: databaseLock.lockAtSuspension()
            }
        }
    }

    /// Locks the database at a notification, each time, until the returned object is cancelled or the database is
    /// closed. If the database can't be locked, ``Database/logError`` gets the error.
    ///
    /// - parameters:
    ///   - name: the name of the notification, such as that of a locked screen.
    ///   - center: the center that the notification is posted to. Default: `.default`.
    @discardableResult
    public func autoLock(on name: Notification.Name, in center: NotificationCenter = .default) -> AutoLock {
        locking { $0.lock(at: name, center) }
    }
}

extension DatabaseWriter {
    private var lockable: DatabaseLock {
        get throws {
            guard let served else {
                throw DatabaseError.notLockable(
                    "\(Self.self) is neither a queue nor a pool", "lock the queue or pool that it uses")
            }
            return served.databaseLock
        }
    }

    /// Returns a reason for which the database locks itself. What can't be locked is logged.
    func locking(_ begin: (DatabaseLock) -> AutoLock) -> AutoLock {
        do {
            return begin(try lockable)
        } catch {
            error.logFailedLock()
            return AutoLock {}
        }
    }
}

extension Error {
    /// Logs the error of a database that could not lock itself.
    func logFailedLock() {
        let code = (self as? DatabaseError)?.extendedResultCode ?? .SQLITE_ERROR
        ErrorLog.log(code, "the database could not lock itself: \(self)")
    }
}

import Foundation

// Locking a queue: see <doc:LockingAndUnlocking>.

extension DatabaseQueue {
    /// A Boolean value that indicates whether the database is locked.
    public var isLocked: Bool { databaseLock.isLocked }

    /// Locks the database: ends its accesses, closes its connections, and wipes its keys. The object, its observers and
    /// its configuration stay.
    ///
    /// Running accesses are interrupted and rolled back. Later ones are refused or wait, as
    /// ``Configuration/lockedAccesses`` says. Observations pause. Does nothing if the database is locked.
    ///
    /// Blocks until the running accesses have ended.
    ///
    /// - throws: `SQLITE_MISUSE` with the reason `notLockable` inside of an access, and for a database in memory,
    ///   without a key, or whose key `prepareDatabase` sets; `SQLITE_BUSY` when the program keeps a statement. The
    ///   database goes on unlocked then.
    public func lock() throws {
        try databaseLock.lock()
    }

    /// Suspends the task instead of blocking the thread. A cancellation does not stop the lock.
    public func lock() async throws {
        let databaseLock = databaseLock
        try await Workers.shared.value { try databaseLock.lock() }
    }

    /// Unlocks the database with its key: its passphrase, its raw key, its store, or the secret of one of its slots.
    ///
    /// Verifies the key before anything goes on. Then observations fetch again, and accesses that wait go on.
    ///
    /// - parameter key: the key.
    /// - throws: `SQLITE_NOTADB` with the reason `wrongKey` and the other errors of opening: the database stays locked.
    ///   `SQLITE_MISUSE` with the reason `notLocked` if it is not locked; `SQLITE_ABORT` with the reason
    ///   `suspended` while it is suspended.
    public func unlock(with key: DatabaseKey) throws {
        try databaseLock.unlock(with: key.source)
    }

    /// Suspends the task instead of blocking the thread. A cancellation does not stop the unlocking.
    public func unlock(with key: DatabaseKey) async throws {
        let databaseLock = databaseLock
        try await Workers.shared.value { try databaseLock.unlock(with: key.source) }
    }

    /// Unlocks the database with the key of its store, for a key that is ``DatabaseKey/managed(by:formerKeys:)``.
    ///
    /// - throws: `SQLITE_MISUSE` with the reason `locked` if the key is not in a store; the errors of
    ///   `unlock(with:)`.
    public func unlock() throws {
        try databaseLock.unlock(with: nil)
    }

    /// Suspends the task instead of blocking the thread.
    public func unlock() async throws {
        let databaseLock = databaseLock
        try await Workers.shared.value { try databaseLock.unlock(with: nil) }
    }

    /// Locks the database after a time without accesses, and at most half a minute later. Accesses of observations
    /// count, too.
    ///
    /// It does so each time, until the returned object is cancelled. Releasing the object does not end it. An error of
    /// the lock is passed to ``Database/logError``.
    @discardableResult
    public func autoLock(after delay: AutoLockDelay) -> AutoLock {
        databaseLock.lock(afterIdle: delay.seconds)
    }

    /// Locks the database at an event, each time, until the returned object is cancelled.
    @discardableResult
    public func autoLock(on event: AutoLockEvent) -> AutoLock {
        switch event.kind {
        case .suspension: databaseLock.lockAtSuspension()
        }
    }

    /// Locks the database at a notification, each time, until the returned object is cancelled.
    ///
    /// - parameters:
    ///   - name: the name of the notification, such as that of a locked screen.
    ///   - center: the center that the notification is posted to. Default: `.default`.
    @discardableResult
    public func autoLock(on name: Notification.Name, in center: NotificationCenter = .default) -> AutoLock {
        databaseLock.lock(at: name, center)
    }
}

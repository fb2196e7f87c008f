/// Tells of each transaction that changes a region, with the connection that changed it.
///
/// ```swift
/// let observation = DatabaseRegionObservation(tracking: Player.all(), Team.all())
/// let cancellable = observation.start(in: dbQueue) { error in
///     // the region could not be told
/// } onChange: { (db: Database) in
///     // players or teams have changed
/// }
/// ```
///
/// Changes by other processes are seen where ``Configuration/observesExternalChanges`` is set, as an
/// ``Event/unknownChange(_:)``. What SQLite doesn't tell row by row counts as a change of the whole table, and a
/// change of the schema as a change of every region.
public struct DatabaseRegionObservation: Sendable {
    let regions: [any DatabaseRegionConvertible]

    /// Observes what is in any of the regions.
    public init(tracking regions: any DatabaseRegionConvertible...) {
        self.regions = regions
    }

    /// Observes what is in any of the regions.
    public init(tracking regions: [any DatabaseRegionConvertible]) {
        self.regions = regions
    }

    /// Calls `onChange` after each transaction that changes the region, on the connection that writes, before its next
    /// access.
    ///
    /// Returns at once. All writes that are asked for later are seen; called from inside a write, all that follows in it.
    /// The observation ends when the returned object is cancelled or goes away.
    ///
    /// - parameter onError: called, instead of an observation, with what kept the region from being told; and where
    ///   ``Configuration/observesExternalChanges`` is set, with what ends the observation later.
    @preconcurrency
    public func start(
        in writer: any DatabaseWriter,
        onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Database) -> Void) -> AnyDatabaseCancellable
    {
        start(in: writer, onError: onError, onEvent: { onChange($0.database) })
    }

    /// The same, and tells the changes of this queue or pool from those of others.
    public func start(
        in writer: any DatabaseWriter,
        onError: @escaping @Sendable (any Error) -> Void,
        onEvent: @escaping @Sendable (Event) -> Void) -> AnyDatabaseCancellable
    {
        let subscription = RegionSubscription(onError: onError, onEvent: onEvent)
        writer.externalChanges?.add(subscription)
        if writer.isWriting {
            writer.unsafeReentrantWrite { begin(subscription, in: writer, $0) }
        } else {
            writer.asyncWriteWithoutTransaction { begin(subscription, in: writer, $0) }
        }
        return subscription.cancellable(in: writer)
    }

    /// Begins now, or when the suspension ends that keeps the region from being told.
    private func begin(_ subscription: RegionSubscription, in writer: any DatabaseWriter, _ db: Database) {
        guard subscription.isActive else { return }
        do {
            try db.tellingStops { try subscription.begin(regions, on: db) }
        } catch is StoppedFetch {
            writer.whenResumed {
                writer.asyncWriteWithoutTransaction { begin(subscription, in: writer, $0) }
            }
        } catch {
            subscription.fail(error)
        }
    }

    /// Waits until the writes that came before are done, and throws when the region can't be told.
    ///
    /// What ends the observation later goes to ``Database/logError``.
    public func start(
        in writer: any DatabaseWriter, onChange: @escaping @Sendable (Database) -> Void) throws -> AnyDatabaseCancellable
    {
        let subscription = RegionSubscription(onError: ErrorLog.logEnd(of:), onEvent: { onChange($0.database) })
        writer.externalChanges?.add(subscription)
        try writer.unsafeReentrantWrite { try subscription.begin(regions, on: $0) }
        return subscription.cancellable(in: writer)
    }
}

extension RegionSubscription {
    /// Ends the observation. The writer is not kept alive by it.
    fileprivate func cancellable(in writer: any DatabaseWriter) -> AnyDatabaseCancellable {
        AnyDatabaseCancellable { [weak writer] in
            self.cancel()
            writer?.externalChanges?.remove(self)
            writer?.asyncWriteWithoutTransaction(self.end)
        }
    }
}

/// What an observation gets from a fetch that was interrupted or suspended: it fetches again.
struct StoppedFetch: Error {
    let error: DatabaseError
}

extension Database {
    /// Runs `fetch`, and tells what stopped it from other errors.
    func tellingStops<T>(_ fetch: () throws -> T) throws -> T {
        do {
            return try fetch()
        } catch let error as DatabaseError where error.isInterruptionError && stops.wereMet {
            throw StoppedFetch(error: error)
        }
    }
}

extension DatabaseReader {
    /// Calls `action` when the database is not suspended: now, or at the end of the suspension.
    func whenResumed(_ action: @escaping @Sendable () -> Void) {
        switch self {
        case let queue as DatabaseQueue: queue.writer.whenResumed(action)
        case let pool as DatabasePool: pool.writer.whenResumed(action)
        case let any as AnyDatabaseWriter: any.base.whenResumed(action)
        case let any as AnyDatabaseReader: any.base.whenResumed(action)
        default: action()
        }
    }
}

extension DatabaseReader {
    /// Whether the database takes no locks at this moment.
    var isSuspended: Bool {
        switch self {
        case let queue as DatabaseQueue: queue.writer.isSuspended
        case let pool as DatabasePool: pool.writer.isSuspended
        case let any as AnyDatabaseWriter: any.base.isSuspended
        case let any as AnyDatabaseReader: any.base.isSuspended
        default: false
        }
    }
}

extension DatabaseWriter {
    /// Whether the calling thread is inside an access to the connection that writes.
    var isWriting: Bool {
        switch self {
        case let queue as DatabaseQueue: queue.writer.isAccessed
        case let pool as DatabasePool: pool.writer.isAccessed
        case let any as AnyDatabaseWriter: any.base.isWriting
        default: false
        }
    }
}

import Dispatch

/// An observation of a region of the database, which calls a function after each transaction that changes it.
///
/// ```swift
/// let observation = DatabaseRegionObservation(tracking: Player.all(), Team.all())
/// let cancellable = observation.start(in: dbQueue) { error in
///     // the region could not be computed
/// } onChange: { (db: Database) in
///     // players or teams have changed
/// }
/// ```
///
/// Changes by other processes are seen if ``Configuration/observesExternalChanges`` is set, as an
/// ``Event/unknownChange(_:)``. A change that SQLite doesn't report row by row counts as a change of the whole table. A
/// change of the schema counts as a change of each region.
public struct DatabaseRegionObservation: Sendable {
    let regions: [any DatabaseRegionConvertible]

    /// Creates an observation of the union of regions.
    public init(tracking regions: any DatabaseRegionConvertible...) {
        self.regions = regions
    }

    /// Creates an observation of the union of regions.
    public init(tracking regions: [any DatabaseRegionConvertible]) {
        self.regions = regions
    }

    /// Calls `onChange` after each transaction that changes the region, with the writer, before the next write.
    ///
    /// Returns immediately. The observation sees all later writes. If it is started inside of a write, it sees the rest
    /// of that write. The observation ends when the returned object is cancelled or released.
    ///
    /// - parameters:
    ///   - writer: the database.
    ///   - onError: called with the error that kept the region from being computed and, if
    ///     ``Configuration/observesExternalChanges`` is set, with an error that ends the observation later.
    ///   - onChange: called with the writer, outside of transactions.
    @preconcurrency
    public func start(
        in writer: any DatabaseWriter,
        onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Database) -> Void
    ) -> AnyDatabaseCancellable {
        start(in: writer, onError: onError, onEvent: { onChange($0.database) })
    }

    /// Calls `onEvent` after each change, and distinguishes changes of this queue or pool from those of others.
    public func start(
        in writer: any DatabaseWriter,
        onError: @escaping @Sendable (any Error) -> Void,
        onEvent: @escaping @Sendable (Event) -> Void
    ) -> AnyDatabaseCancellable {
        let subscription = RegionSubscription(
            onError: onError, onEvent: onEvent, reopeningCount: writer.observedReopeningCount)
        writer.externalChanges?.add(subscription)
        if writer.isWriting {
            writer.unsafeReentrantWrite { begin(subscription, in: writer, $0, isInsideWrite: true) }
        } else {
            beginLater(subscription, in: writer)
        }
        return subscription.cancellable(in: writer)
    }

    /// Begins before all later writes. Does not keep the database open while it is locked.
    private func beginLater(_ subscription: RegionSubscription, in writer: any DatabaseWriter) {
        guard let served = writer.served else {
            return writer.asyncWriteWithoutTransaction { begin(subscription, in: writer, $0) }
        }
        served.writer.async(staysInHolds: true) { [weak served] db in
            if let served { begin(subscription, in: served, db) }
        }
    }

    /// Begins now, or at the end of the suspension that keeps the region from being computed.
    private func begin(
        _ subscription: RegionSubscription, in writer: any DatabaseWriter, _ db: Database, isInsideWrite: Bool = false,
        canRepeat: Bool = true
    ) {
        guard subscription.isActive else { return }
        do {
            let hasMissed = subscription.reopeningCount != writer.observedReopeningCount
            try db.markingStops {
                try subscription.begin(regions, on: db, isInsideWrite: isInsideWrite, hasMissed: hasMissed)
            }
        } catch let stop as StoppedFetch {
            writer.proceed(after: stop, subscription.failures) { [weak writer] in
                guard let writer else { return }
                // The suspension may have ended already: now, because later writes may wait behind this access. Once,
                // because its transaction may have been undone.
                guard canRepeat, writer.isWriting else { return beginLater(subscription, in: writer) }
                writer.unsafeReentrantWrite { db in
                    begin(subscription, in: writer, db, isInsideWrite: isInsideWrite, canRepeat: false)
                }
            } orElse: {
                subscription.fail($0)
            }
        } catch {
            subscription.fail(error)
        }
    }

    /// Calls `onChange` after each transaction that changes the region. Waits until the writes that came before have
    /// ended.
    ///
    /// An error that ends the observation later is passed to ``Database/logError``.
    ///
    /// - throws: the error that kept the region from being computed.
    public func start(
        in writer: any DatabaseWriter,
        onChange: @escaping @Sendable (Database) -> Void
    ) throws -> AnyDatabaseCancellable {
        let subscription = RegionSubscription(onError: ErrorLog.logEnd(of:), onEvent: { onChange($0.database) })
        writer.externalChanges?.add(subscription)
        let isInsideWrite = writer.isWriting
        try writer.unsafeReentrantWrite { try subscription.begin(regions, on: $0, isInsideWrite: isInsideWrite) }
        return subscription.cancellable(in: writer)
    }
}

extension DatabaseWriter {
    /// The number of times that the database was opened again, before which changes of others can't be seen. Nil if
    /// they are not observed.
    fileprivate var observedReopeningCount: UInt64? {
        externalChanges == nil ? nil : served?.databaseLock.reopeningCount
    }
}

extension RegionSubscription {
    /// Returns the object that ends the observation. It holds no reference to the writer.
    fileprivate func cancellable(in writer: any DatabaseWriter) -> AnyDatabaseCancellable {
        AnyDatabaseCancellable { [weak writer] in
            self.cancel()
            writer?.externalChanges?.remove(self)
            writer?.asyncWriteWithoutTransaction(self.end)
        }
    }
}

/// The error of a fetch that was interrupted, suspended or locked out, or that met another's lock: the observation
/// fetches again.
struct StoppedFetch: Error {
    let error: DatabaseError

    /// True if the fetch succeeds after a while.
    var isPassing: Bool { !error.isOfStop }

    init(error: DatabaseError) {
        self.error = error
    }

    /// Nil for errors that end an observation.
    init?(_ error: any Error, isObservingOthers: Bool) {
        guard let error = error as? DatabaseError else { return nil }
        guard error.isOfStop || isObservingOthers && error.isPassing else { return nil }
        self.error = error
    }
}

/// The waits of an observation that meets the locks of other processes.
struct PassingFailures {
    private var count = 0

    /// Returns the milliseconds until the next try. Nil if the error has come too often.
    mutating func wait(after error: DatabaseError) -> Int? {
        count += 1
        // A file that can't be opened for half a minute is missing.
        if error.isOutOfFiles, count > 35 { return nil }
        return min(5 << min(count, 8), 1000)
    }

    mutating func end() { count = 0 }
}

extension Database {
    /// Runs `fetch`, and throws a ``StoppedFetch`` if an interruption, a suspension or a lock of the database stopped
    /// it or, where the changes of others are observed, a lock of theirs.
    func markingStops<T>(_ fetch: () throws -> T) throws -> T {
        do {
            return try fetch()
        } catch let error as DatabaseError where error.isInterruptionError && stops.wasAccessStopped {
            throw StoppedFetch(error: error)
        } catch let error as DatabaseError where error.reason == .locked {
            throw StoppedFetch(error: error)
        } catch let error as DatabaseError where configuration.fileWatching != nil && error.isPassing {
            throw StoppedFetch(error: error)
        }
    }
}

extension DatabaseReader {
    /// The writer's connection. Nil for snapshots, and for readers that the program defines.
    fileprivate var writingConnection: SerializedConnection? {
        switch self {
        case let queue as DatabaseQueue: queue.writer
        case let pool as DatabasePool: pool.writer
        case let wrapper as any ReaderWrapper: wrapper.reader.writingConnection
        default: nil
        }
    }

    /// Calls `action` when the database is neither suspended nor locked: now, or later.
    func whenResumed(_ action: @escaping @Sendable () -> Void) {
        if let writingConnection { writingConnection.whenResumed(action) } else { action() }
    }

    /// Continues an observation after a stop: after an interruption now, after a suspension at its end, after a lock of
    /// the database when it is unlocked, and after a lock of others in a while.
    func proceed(
        after stop: StoppedFetch, _ failures: Mutex<PassingFailures>, _ action: @escaping @Sendable () -> Void,
        orElse fail: (any Error) -> Void
    ) {
        guard stop.isPassing else { return whenResumed(action) }
        guard let wait = failures.withLock({ $0.wait(after: stop.error) }) else { return fail(stop.error) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(wait), execute: action)
    }

    /// True if the database is suspended or locked: no fetch succeeds now.
    var isStopped: Bool { writingConnection.map { $0.isSuspended || $0.isLocked } ?? false }

    /// True if the calling thread is inside an access to the writer.
    var isWriting: Bool { writingConnection?.isAccessed ?? false }
}

extension DatabaseWriter {
    /// Runs `updates` later, outside of any transaction, and then `completion` with the result, after the access and
    /// before the next one, unless the database was locked. A writer that the program defines runs both in the access.
    func asyncWriteWithoutTransaction<T>(
        _ updates: @escaping @Sendable (Database) -> T, then completion: @escaping @Sendable (T) -> Void
    ) {
        if let writingConnection {
            writingConnection.async(updates, then: completion)
        } else {
            asyncWriteWithoutTransaction { completion(updates($0)) }
        }
    }
}

extension ErrorLog {
    /// Logs the error that ended an observation without an error handler.
    fileprivate static func logEnd(of error: any Error) {
        log((error as? DatabaseError)?.extendedResultCode ?? .SQLITE_ERROR, "an observation has ended: \(error)")
    }
}

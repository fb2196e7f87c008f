import Dispatch
import Foundation

/// Who gets the values of an observation, and where.
struct ValueSink<Value: Sendable>: Sendable {
    let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void
    let onError: @Sendable (any Error) -> Void
    let onChange: @Sendable (Value) -> Void

    func notify(_ result: Result<Value, any Error>) {
        switch result {
        case .success(let value): onChange(value)
        case .failure(let error): onError(error)
        }
    }
}

/// One observation of a value, from its start until it is cancelled or fails.
///
/// A value goes through three places: it is fetched with a connection, reduced on a thread of Dispatch's, and notified where the
/// scheduler says. Each place takes them in the order in which they come, one at a time.
///
/// Sendable because its variables are used under `lock`, but for `reducer`, used by the one thread that reduces, and for `watch` and
/// `isFetchingInWriter`, used with access to the connection that writes.
final class ValueObserver<Reducer: ValueReducer>: @unchecked Sendable {
    typealias Fetched = Reducer.Fetched

    private enum Source {
        /// Values are fetched by the pool's readers.
        case pool(DatabasePool)

        /// Values are fetched by the connection that writes.
        case writer(any DatabaseWriter)

        /// There will be no other value.
        case constant(any DatabaseReader)
    }

    /// What the readers of a pool do for the observation: one fetch at a time.
    private enum FetchState {
        case idle, scheduled, running

        /// The fetch that runs may have missed a change.
        case outdated
    }

    private let source: Source
    private let tracking: ValueObservation<Reducer>.Tracking
    private let events: ObservationEvents
    private let requiresWriteAccess: Bool
    private let fetch: @Sendable (Database) throws -> Fetched
    private var reducer: Reducer

    private let lock = NSLock()
    private var sink: ValueSink<Reducer.Value>?
    private var hasFailed = false
    private var fetchState = FetchState.scheduled

    /// Whether a thread reduces, or is about to. What is fetched meanwhile waits for it.
    private var isReducing = false
    private var fetched: [Result<Fetched, any Error>] = []

    /// What the latest fetch has read, or the first one where that is all that counts.
    private var region: DatabaseRegion?

    private var watch: RegionObserver?
    private var isFetchingInWriter = false

    init(_ observation: ValueObservation<Reducer>, in reader: any DatabaseReader, _ sink: ValueSink<Reducer.Value>) {
        source = Self.source(reader, requiresWriteAccess: observation.requiresWriteAccess)
        tracking = observation.tracking
        events = observation.events
        requiresWriteAccess = observation.requiresWriteAccess
        reducer = observation.makeReducer()
        fetch = reducer._makeFetch()
        self.sink = sink
    }

    private static func source(_ reader: any DatabaseReader, requiresWriteAccess: Bool) -> Source {
        switch reader {
        case let reader as AnyDatabaseReader: source(reader.base, requiresWriteAccess: requiresWriteAccess)
        case let writer as AnyDatabaseWriter: source(writer.base, requiresWriteAccess: requiresWriteAccess)
        case _ where reader.configuration.readonly && reader.externalChanges == nil: .constant(reader)
        case let pool as DatabasePool where !requiresWriteAccess: .pool(pool)
        case let writer as any DatabaseWriter: .writer(writer)
        default: .constant(reader)
        }
    }

    // MARK: - Life

    /// - parameter isImmediate: whether the first value is notified before this returns.
    func start(isImmediate: Bool) {
        // The first value is the first to be reduced, whatever is written as soon as it is fetched.
        isReducing = isImmediate
        // Before the first fetch: what it doesn't see is told.
        reader.externalChanges?.add(self)
        let emit = isImmediate ? self.emitNow : self.emit
        switch source {
        case .constant(let reader):
            if isImmediate {
                emit(Result { try reader.read { db in try db.tellingStops { try fetch(db) } } })
            } else {
                fetchLater()
            }
        case .writer(let writer):
            if isImmediate {
                emit(writer.unsafeReentrantWrite(fetchInWriter))
            } else {
                fetchLater()
            }
        case .pool(let pool):
            if isImmediate {
                fetch(in: pool, emit: emit) { recorded in
                    try pool.unsafeRead { db in try db.tellingStops { try recorded(db) } }
                }
            } else {
                scheduleFetch(in: pool)
            }
        }
    }

    private func fetchLater() {
        switch source {
        case .constant(let reader):
            reader.asyncRead { db in self.emit(self.fetch(db) { try self.fetch($0) }) }
        case .writer(let writer):
            writer.asyncWriteWithoutTransaction { self.emit(self.fetchInWriter($0)) }
        case .pool(let pool):
            scheduleFetch(in: pool)
        }
    }

    /// Fetches with a connection, if there is one. What was stopped before it began was stopped by nobody else.
    private func fetch<T>(_ db: Result<Database, any Error>, _ fetch: (Database) throws -> T) -> Result<T, any Error> {
        Result {
            let db = try db.mapError { error in
                (error as? DatabaseError).flatMap { $0.isInterruptionError ? StoppedFetch(error: $0) : nil } ?? error
            }.get()
            return try db.tellingStops { try fetch(db) }
        }
    }

    private var reader: any DatabaseReader {
        switch source {
        case .constant(let reader): reader
        case .writer(let writer): writer
        case .pool(let pool): pool
        }
    }

    /// The observation goes on: a fetch that was interrupted is repeated now, and one that was suspended when the suspension ends.
    private func repeatFetch() {
        reader.whenResumed { [weak self] in self?.fetchLater() }
    }

    func cancel() {
        lock.lock()
        let wasActive = sink != nil && !hasFailed
        // What the program's functions hold may go with them, and use the database when it goes: not under the lock.
        let former = sink
        sink = nil
        lock.unlock()
        withExtendedLifetime(former) {}
        guard wasActive else { return }
        stopWatching()
        for didCancel in events.didCancel { didCancel() }
    }

    /// Whether the first fetch is still to come, and sees all that others have changed until then.
    var awaitsFirstFetch: Bool {
        if case .writer = source { lock.withLock { region } == nil } else { false }
    }

    private var isActive: Bool {
        lock.withLock { sink != nil && !hasFailed }
    }

    // MARK: - Region

    /// Fetches a value, and tells the region to watch, unless it is known already.
    private func fetchRecording(_ db: Database) throws -> (Fetched, DatabaseRegion?) {
        switch tracking {
        case .everyFetch:
            try db.recordingRegion { try fetch(db) }
        case .firstFetch:
            lock.withLock({ region }) == nil ? try db.recordingRegion { try fetch(db) } : (try fetch(db), nil)
        case .regions(let regions):
            (try fetch(db), lock.withLock({ region }) == nil ? try DatabaseRegion.union(of: regions, db) : nil)
        }
    }

    /// Remembers the region of the latest fetch; false when it is the former one.
    private func isNews(_ newRegion: DatabaseRegion?) -> Bool {
        lock.withLock {
            guard let newRegion, newRegion != region else { return false }
            region = newRegion
            return true
        }
    }

    /// Watches the region from now on. Call it with access to the connection that writes.
    private func watch(_ region: DatabaseRegion, on db: Database) {
        guard isActive, db.sqliteConnection != nil else { return }
        for willTrackRegion in events.willTrackRegion { willTrackRegion(region) }
        if let watch { return watch.watch(region, on: db) }
        let watch = RegionObserver(region) { [weak self] in self?.regionDidChange($0) }
        self.watch = watch
        db.observers.add(watch, .observerLifetime)
    }

    /// The next statements owe nothing to an observation that has ended.
    private func stopWatching() {
        reader.externalChanges?.remove(self)
        let writer: any DatabaseWriter
        switch source {
        case .constant: return
        case .pool(let pool): writer = pool
        case .writer(let source): writer = source
        }
        writer.asyncWriteWithoutTransaction { db in
            if let watch = self.watch.take() { db.observers.remove(watch) }
        }
    }

    /// A transaction changed the region.
    func regionDidChange(_ db: Database) {
        // What the fetch itself writes is no reason to fetch again.
        guard isActive, !isFetchingInWriter else { return }
        for databaseDidChange in events.databaseDidChange { databaseDidChange() }
        switch source {
        case .pool(let pool): requestFetch(in: pool)
        case .writer: emit(fetchInWriter(db))
        case .constant: break
        }
    }

    // MARK: - Fetching with the connection that writes

    /// Nothing can change between the fetch and the beginning of the watch.
    private func fetchInWriter(_ db: Database) -> Result<Fetched, any Error> {
        isFetchingInWriter = true
        defer { isFetchingInWriter = false }
        return Result {
            _ = try db.openConnection
            let (fetched, region) = try db.tellingStops { try fetchInTransaction(db) }
            if let region, isNews(region) { watch(region, on: db) }
            return fetched
        }
    }

    private func fetchInTransaction(_ db: Database) throws -> (Fetched, DatabaseRegion?) {
        // An immediate start from inside a transaction.
        if db.isInsideTransaction {
            return try db.insideTransactionBlock {
                try requiresWriteAccess ? fetchRecording(db) : db.readOnly { try fetchRecording(db) }
            }
        }
        return try requiresWriteAccess ? db.committing(fetchRecording) : db.isolated(fetchRecording)
    }

    // MARK: - Fetching with a reader

    // The writer never waits, not even for a reader to be free: a fetch that begins after a commit sees it, whenever it
    // begins. What is left to watch for is what is committed between the beginning of a fetch and the moment when the writer
    // knows what that fetch has read. The count of commits tells.

    /// Sees to it that a fetch begins after this.
    private func requestFetch(in pool: DatabasePool) {
        lock.lock()
        let mustSchedule = fetchState == .idle
        switch fetchState {
        case .idle: fetchState = .scheduled
        case .running: fetchState = .outdated
        case .scheduled, .outdated: break
        }
        lock.unlock()
        if mustSchedule { scheduleFetch(in: pool) }
    }

    private func scheduleFetch(in pool: DatabasePool) {
        pool.asyncUnsafeRead { db in
            self.fetch(in: pool, emit: self.emit) { recorded in try self.fetch(db, recorded).get() }
        }
    }

    /// - parameter read: gives a connection that holds no state yet.
    private func fetch(
        in pool: DatabasePool,
        emit: (Result<Fetched, any Error>) -> Void,
        read: (_ recorded: (Database) throws -> (Fetched, DatabaseRegion?)) throws -> (Fetched, DatabaseRegion?))
    {
        guard isActive else { return }
        var commitCount: UInt64 = 0
        let result = Result {
            try read { db in
                // In this order: what is committed from now on counts as missed.
                lock.withLock { fetchState = .running }
                commitCount = pool.writer.commitCount
                return try db.isolatedNow(fetchRecording)
            }
        }
        if case .success((_, let region?)) = result, isNews(region) {
            watch(region, readAt: commitCount, in: pool)
        }
        // The one that is repeated sees what this one may have missed.
        if case .failure(is StoppedFetch) = result { lock.withLock { fetchState = .scheduled } }
        emit(result.map(\.0))
        if case .failure(is StoppedFetch) = result { return }
        didFetch(in: pool)
    }

    /// Before the value is notified, so that no write that follows the notification is missed.
    private func watch(_ region: DatabaseRegion, readAt commitCount: UInt64, in pool: DatabasePool) {
        pool.asyncWriteWithoutTransaction { db in
            self.watch(region, on: db)
            if pool.writer.commitCount != commitCount { self.requestFetch(in: pool) }
        }
    }

    private func didFetch(in pool: DatabasePool) {
        lock.lock()
        let isOutdated = fetchState == .outdated
        fetchState = isOutdated ? .scheduled : .idle
        lock.unlock()
        if isOutdated { scheduleFetch(in: pool) }
    }

    // MARK: - Values

    @Sendable func emit(_ result: Result<Fetched, any Error>) {
        if case .failure(is StoppedFetch) = result { return repeatFetch() }
        let mustReduce = lock.withLock {
            fetched.append(result)
            defer { isReducing = true }
            return !isReducing
        }
        if mustReduce { DispatchQueue.global().async(execute: reduceAll) }
    }

    /// Emits the first value, for which `isReducing` was set.
    @Sendable private func emitNow(_ result: Result<Fetched, any Error>) {
        if case .failure(is StoppedFetch) = result, !reader.isSuspended { return start(isImmediate: true) }
        // The caller waits for a value, not for the end of a suspension.
        let result = result.mapError { ($0 as? StoppedFetch)?.error ?? $0 }
        if let value = reduce(result) { notify(value) }
        let isOver = lock.withLock {
            isReducing = !fetched.isEmpty
            return fetched.isEmpty
        }
        if !isOver { DispatchQueue.global().async(execute: reduceAll) }
    }

    @Sendable private func reduceAll() {
        while let next = nextFetched() {
            guard let result = reduce(next) else { continue }
            let sink = lock.withLock { self.sink }
            sink?.schedule { self.notify(result) }
        }
    }

    private func nextFetched() -> Result<Fetched, any Error>? {
        lock.withLock {
            isReducing = !fetched.isEmpty
            return fetched.isEmpty ? nil : fetched.removeFirst()
        }
    }

    /// What is to be notified; nil for nothing.
    private func reduce(_ fetched: Result<Fetched, any Error>) -> Result<Reducer.Value, any Error>? {
        guard isActive else { return nil }
        do {
            return try reducer._value(fetched.get()).map { .success($0) }
        } catch {
            lock.withLock { hasFailed = true }
            stopWatching()
            for didFail in events.didFail { didFail(error) }
            return .failure(error)
        }
    }

    private func notify(_ result: Result<Reducer.Value, any Error>) {
        lock.lock()
        let sink = sink
        if case .failure = result { self.sink = nil }
        lock.unlock()
        sink?.notify(result)
    }
}

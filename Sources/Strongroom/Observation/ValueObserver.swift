import Foundation

/// One observation of a value, from its start until it is cancelled or fails.
///
/// A connection fetches a value, a thread of the library reduces it, and the scheduler notifies it, one at a time.
///
/// Sendable because `state` has its own lock, `reducer` is used by one thread at a time, and `regionObserver` and
/// `writerFetch` are used with access to the writer.
final class ValueObserver<Reducer: ValueReducer>: @unchecked Sendable {
    typealias Fetched = Reducer.Fetched

    private let source: ValueSource
    private let tracking: ValueObservation<Reducer>.Tracking
    private let events: ObservationEvents
    private let requiresWriteAccess: Bool
    private let fetch: @Sendable (Database) throws -> Fetched
    private let tally: Tally?
    private var reducer: Reducer
    private let reducesPromptly: Bool

    private let state: Mutex<ValueObserverState<Reducer>>

    /// The locks of others that the latest fetches have met.
    private let failures = Mutex(PassingFailures())
    private var regionObserver: RegionObserver?
    private var writerFetch = WriterFetch.none

    init(_ observation: ValueObservation<Reducer>, in reader: any DatabaseReader, _ sink: ValueSink<Reducer.Value>) {
        source = ValueSource(reader, requiresWriteAccess: observation.requiresWriteAccess)
        tracking = observation.tracking
        events = observation.events
        requiresWriteAccess = observation.requiresWriteAccess
        reducer = observation.makeReducer()
        tally = reader.configuration.tally
        fetch = Self.measured(reducer._makeFetch(), tally)
        reducesPromptly = (reducer as? any PromptReducer)?.isPrompt == true
        state = Mutex(ValueObserverState(sink: sink))
    }

    // MARK: - Life

    /// Starts the observation.
    ///
    /// - parameter isImmediate: true to notify the first value before this returns.
    func start(isImmediate: Bool) {
        // Before the first fetch, so that no later change is missed.
        reader.externalChanges?.add(self)
        isImmediate ? startNow() : fetchLater()
    }

    /// Notifies the first value before this returns. Repeats an interrupted fetch, but not a suspended one: the caller
    /// waits for a value, not for the end of a suspension.
    private func startNow() {
        // The first value is reduced first, even if a write follows its fetch immediately.
        state.withLock { $0.isReducing = true }
        var result = fetchNow()
        while case .failure(let stop as StoppedFetch) = result, canRepeatNow(after: stop) { result = fetchNow() }
        emitNow(result.mapError { ($0 as? StoppedFetch)?.error ?? $0 })
        if case .pool(let pool) = source { didFetch(in: pool) }
    }

    /// Returns false if the next fetch would fail, too, as in a block of the caller's whose transaction was undone.
    private func canRepeatNow(after stop: StoppedFetch) -> Bool {
        !stop.isPassing && !reader.isStopped && !(stop.error.reason == .transactionAborted && reader.isWriting)
    }

    private func fetchNow() -> Result<Fetched, any Error> {
        switch source {
        case .constant(let reader):
            Result { try reader.read { db in try db.markingStops { try fetch(db) } } }
        case .writer(let writer):
            writer.unsafeReentrantWrite(fetchInWriter)
        case .pool(let pool):
            fetch(in: pool) { recorded in try pool.unsafeRead { db in try db.markingStops { try recorded(db) } } }
        }
    }

    private func fetchLater() {
        switch source {
        case .constant(let reader):
            reader.asyncRead { db in self.emit(self.fetch(db) { try self.fetch($0) }) }
        case .writer(let writer):
            writer.asyncWriteWithoutTransaction(fetchInOrder, then: emitInOrder)
        case .pool(let pool):
            scheduleFetch(in: pool)
        }
    }

    /// Fetches with a connection, if there is one. A fetch that was stopped before it began is marked, too.
    private func fetch<T>(_ db: Result<Database, any Error>, _ fetch: (Database) throws -> T) -> Result<T, any Error> {
        Result {
            let db = try db.mapError { error in
                StoppedFetch(error, isObservingOthers: reader.externalChanges != nil) ?? error
            }.get()
            return try db.markingStops { try fetch(db) }
        }
    }

    private var reader: any DatabaseReader { source.reader }

    /// Repeats a fetch that was stopped.
    private func repeatFetch(after stop: StoppedFetch) {
        reader.proceed(after: stop, failures) { [weak self] in
            self?.fetchLater()
        } orElse: {
            append(.failure($0))
        }
    }

    func cancel() {
        let (wasActive, former) = state.withLock { ($0.isActive, $0.sink.take()) }
        // Releasing the program's functions may release objects that use the database: not under the lock.
        withExtendedLifetime(former) {}
        guard wasActive else { return }
        stopObserving()
        for didCancel in events.didCancel { didCancel() }
    }

    /// True if the first fetch has not begun. It sees all changes of others until then.
    var awaitsFirstFetch: Bool {
        if case .writer = source { state.withLock { $0.region } == nil } else { false }
    }

    private var isActive: Bool {
        state.withLock { $0.isActive }
    }

    // MARK: - Region

    /// Fetches a value, and returns it with the region to observe, unless the region is known already.
    private func fetchRecording(_ db: Database) throws -> (Fetched, DatabaseRegion?) {
        switch tracking {
        case .everyFetch:
            try db.recordingRegion { try fetch(db) }
        case .firstFetch:
            state.withLock({ $0.region }) == nil ? try db.recordingRegion { try fetch(db) } : (try fetch(db), nil)
        case .regions(let regions):
            (try fetch(db), state.withLock({ $0.region }) == nil ? try DatabaseRegion.union(of: regions, db) : nil)
        }
    }

    /// Observes the region from now on. Called with access to the writer.
    private func observe(_ region: DatabaseRegion, on db: Database) {
        guard isActive, db.sqliteConnection != nil else { return }
        for willTrackRegion in events.willTrackRegion { willTrackRegion(region) }
        if let regionObserver { return regionObserver.observe(region, on: db) }
        let regionObserver = RegionObserver(region) { [weak self] in self?.regionDidChange($0) }
        self.regionObserver = regionObserver
        db.observers.add(regionObserver, .observerLifetime)
    }

    /// Removes the observer of the region, so that later statements run without it.
    private func stopObserving() {
        reader.externalChanges?.remove(self)
        let writer: any DatabaseWriter
        switch source {
        case .constant: return
        case .pool(let pool): writer = pool
        case .writer(let source): writer = source
        }
        writer.asyncWriteWithoutTransaction { db in
            if let regionObserver = self.regionObserver.take() { db.observers.remove(regionObserver) }
        }
    }

    /// Fetches again after a transaction has changed the region.
    func regionDidChange(_ db: Database) {
        guard isActive else { return }
        noteChange()
        for databaseDidChange in events.databaseDidChange { databaseDidChange() }
        if writerFetch != .none { return writerFetch = .outdated }
        switch source {
        case .pool(let pool): requestFetch(in: pool)
        case .writer: emit(fetchInWriter(db))
        case .constant: break
        }
    }

    private func noteChange() {
        guard let tally, tally.isListening else { return }
        let now = Tally.now
        state.withLock { if $0.changedAt == nil { $0.changedAt = now } }
    }

    // MARK: - Fetching with the writer

    /// Fetches and observes in one access, so that nothing can change in between.
    private func fetchInWriter(_ db: Database) -> Result<Fetched, any Error> {
        writerFetch = .running
        defer {
            // Later, so that the values keep their order.
            if writerFetch == .outdated { fetchLater() }
            writerFetch = .none
        }
        return Result {
            try db.markingStops { _ = try db.openConnection }
            return try db.markingStops { try db.stops.interruptible { try fetchInTransaction(db) } }
        }
    }

    /// Fetches a value, and adds it to those to reduce. In the access: so values have the order of accesses, even when
    /// this one runs past the line of a locked database, and the next one begins before it is emitted.
    private func fetchInOrder(_ db: Database) -> Result<Fetched, any Error> {
        let result = fetchInWriter(db)
        if case .success = result { state.withLock { $0.fetched.append(result) } }
        return result
    }

    private func fetchInTransaction(_ db: Database) throws -> Fetched {
        // The observation starts inside of a transaction, with an immediate first value.
        if db.isInsideTransaction {
            let fetched = try db.transactions.insideBlock {
                try requiresWriteAccess ? fetchObserving(db) : db.readOnly { try fetchObserving(db) }
            }
            regionObserver?.noteProvisionalValue()
            return fetched
        }
        guard requiresWriteAccess else { return try db.isolated(fetchObserving) }
        return try db.committing { db in
            let fetched = try fetchObserving(db)
            // Its own changes start no other fetch. Those of its commit's observers do.
            regionObserver?.forgetChanges()
            return fetched
        }
    }

    /// Fetches a value, and observes its region before the transaction ends.
    private func fetchObserving(_ db: Database) throws -> Fetched {
        let (fetched, region) = try fetchRecording(db)
        if let region, state.withLock({ $0.updateRegion(region) }) { observe(region, on: db) }
        return fetched
    }

    // MARK: - Fetching with a reader

    // The writer never waits for a reader. A fetch misses commits between its beginning and the moment when the writer
    // observes the region that it has read. The number of commits reveals that, and one more fetch begins.

    /// Makes a fetch begin after this call.
    private func requestFetch(in pool: DatabasePool) {
        let mustSchedule = state.withLock { $0.requestFetch() }
        if mustSchedule { scheduleFetch(in: pool) }
    }

    private func scheduleFetch(in pool: DatabasePool) {
        pool.asyncUnsafeRead { db in
            guard self.isActive else { return }
            let result = self.fetch(in: pool) { recorded in try self.fetch(db, recorded).get() }
            // A stopped fetch is repeated, and then sees the changes that it may have missed.
            if case .failure(let stop as StoppedFetch) = result { return self.repeatFetch(after: stop) }
            self.failures.withLock { $0.end() }
            self.state.withLock { $0.fetched.append(result) }
            self.didFetch(in: pool)
        } thenReducing: {
            self.state.withLock { !$0.fetched.isEmpty && $0.beginReducing() } ? self.reduceAll : nil
        }
    }

    /// Fetches with a reader. `read` runs its argument with a connection that holds no state yet.
    private func fetch(
        in pool: DatabasePool,
        read: (_ recorded: (Database) throws -> (Fetched, DatabaseRegion?)) throws -> (Fetched, DatabaseRegion?)
    )
        -> Result<Fetched, any Error>
    {
        var commitCount: UInt64 = 0
        let result = Result {
            try read { db in
                // In this order: commits from now on count as missed.
                state.withLock { $0.fetchState = .running }
                commitCount = pool.writer.commitCount
                return try db.withCurrentSnapshot(fetchRecording)
            }
        }
        if case .success((_, let region?)) = result, state.withLock({ $0.updateRegion(region) }) {
            observe(region, readAt: commitCount, in: pool)
        }
        if case .failure(is StoppedFetch) = result { state.withLock { $0.fetchState = .scheduled } }
        return result.map(\.0)
    }

    /// Observes the region before the value is notified, so that no write after the notification is missed.
    private func observe(_ region: DatabaseRegion, readAt commitCount: UInt64, in pool: DatabasePool) {
        pool.asyncWriteWithoutTransaction { db in
            if pool.writer.isLocked, db.sqliteConnection == nil {
                // Others may change the database until it is unlocked.
                return pool.whenResumed { [weak self, weak pool] in
                    if let pool { self?.observe(region, readAt: .max, in: pool) }
                }
            }
            // The latest one: this access may come late.
            self.observe(self.state.withLock { $0.region } ?? region, on: db)
            if pool.writer.commitCount != commitCount { self.requestFetch(in: pool) }
            // An access before this one has left it open, and the reader has not seen it.
            if db.isInsideTransaction { self.regionObserver?.missChanges() }
        }
    }

    private func didFetch(in pool: DatabasePool) {
        let mustSchedule = state.withLock { $0.finishFetch() }
        if mustSchedule { scheduleFetch(in: pool) }
    }

    // MARK: - Values

    @Sendable func emit(_ result: Result<Fetched, any Error>) {
        if case .failure(let stop as StoppedFetch) = result { return repeatFetch(after: stop) }
        failures.withLock { $0.end() }
        append(result)
    }

    private func append(_ result: Result<Fetched, any Error>) {
        let mustReduce = state.withLock {
            $0.fetched.append(result)
            return $0.beginReducing()
        }
        if mustReduce { LimitedWork.reductions.run(reduceAll) }
    }

    /// Emits what ``fetchInOrder(_:)`` has fetched, and reduces it on the calling thread if that runs no function of
    /// the program.
    ///
    /// Called before the writer's next access, which may change the region, so that ``ValueObservation/print(_:to:)``
    /// shows the value before the change.
    @Sendable private func emitInOrder(_ result: Result<Fetched, any Error>) {
        guard case .success = result else { return emit(result) }
        failures.withLock { $0.end() }
        guard state.withLock({ $0.beginReducing() }) else { return }
        guard reducesPromptly else { return LimitedWork.reductions.run(reduceAll) }
        guard let next = state.withLock({ $0.nextFetched() }) else { return }
        let value = reduce(next)
        LimitedWork.reductions.run {
            if let value { self.schedule(value) }
            self.reduceAll()
        }
    }

    /// Emits the first value, for which `isReducing` was set.
    private func emitNow(_ result: Result<Fetched, any Error>) {
        if let value = reduce(result) { notify(value) }
        let mustReduce = state.withLock { $0.continueReducing() }
        if mustReduce { LimitedWork.reductions.run(reduceAll) }
    }

    @Sendable private func reduceAll() {
        while let next = state.withLock({ $0.nextFetched() }) {
            if let value = reduce(next) { schedule(value) }
        }
    }

    private func schedule(_ value: Result<Reducer.Value, any Error>) {
        let sink = state.withLock { $0.sink }
        sink?.schedule { self.notify(value) }
    }

    /// Returns the value or the error to notify. Nil for none.
    private func reduce(_ fetched: Result<Fetched, any Error>) -> Result<Reducer.Value, any Error>? {
        guard isActive else { return nil }
        do {
            return try reducer._value(fetched.get()).map { .success($0) }
        } catch {
            state.withLock { $0.hasFailed = true }
            stopObserving()
            for didFail in events.didFail { didFail(error) }
            return .failure(error)
        }
    }

    private func notify(_ result: Result<Reducer.Value, any Error>) {
        let sink = state.withLock { state in
            guard case .failure = result else { return state.sink }
            return state.sink.take()
        }
        if let changed = state.withLock({ $0.changedAt.take() }) {
            tally?.report(.observationLatency(Tally.now &- changed))
        }
        sink?.notify(result)
    }
}

/// The state of one observation of a value, which any thread may change under the lock of its ``ValueObserver``.
struct ValueObserverState<Reducer: ValueReducer> {
    /// The state of the fetch by a reader of a pool. One runs at a time.
    enum FetchState {
        case idle, scheduled, running

        /// The running fetch may have missed a change.
        case outdated
    }

    /// The receiver of values; nil once the observation was cancelled or has notified its error.
    var sink: ValueSink<Reducer.Value>?

    /// The time of the oldest change whose value was not notified, if that is measured. In nanoseconds.
    var changedAt: UInt64?

    /// True if an error has ended the observation.
    var hasFailed = false

    var fetchState = FetchState.scheduled

    /// True if a thread reduces, or is about to. What is fetched meanwhile waits for it.
    var isReducing = false

    /// The fetched values that wait to be reduced.
    var fetched: [Result<Reducer.Fetched, any Error>] = []

    /// The region that the latest fetch has read, or the first one if the region is constant.
    private(set) var region: DatabaseRegion?

    init(sink: ValueSink<Reducer.Value>) {
        self.sink = sink
    }

    var isActive: Bool { sink != nil && !hasFailed }

    /// Makes a fetch begin after this. Returns true if the caller must schedule it.
    mutating func requestFetch() -> Bool {
        switch fetchState {
        case .idle:
            fetchState = .scheduled
            return true
        case .running:
            fetchState = .outdated
            return false
        case .scheduled, .outdated:
            return false
        }
    }

    /// Ends a fetch. Returns true if the caller must schedule another one.
    mutating func finishFetch() -> Bool {
        let isOutdated = fetchState == .outdated
        fetchState = isOutdated ? .scheduled : .idle
        return isOutdated
    }

    /// Stores the region of the latest fetch. Returns false if it is the former one.
    mutating func updateRegion(_ newRegion: DatabaseRegion) -> Bool {
        if newRegion == region { return false }
        region = newRegion
        return true
    }

    /// Returns true if the calling thread is the one to reduce from now on.
    mutating func beginReducing() -> Bool {
        defer { isReducing = true }
        return !isReducing
    }

    /// Returns true if there is more to reduce. Otherwise reducing ends.
    mutating func continueReducing() -> Bool {
        isReducing = !fetched.isEmpty
        return isReducing
    }

    /// Returns the next value to reduce. Without one, reducing ends.
    mutating func nextFetched() -> Result<Reducer.Fetched, any Error>? {
        continueReducing() ? fetched.removeFirst() : nil
    }
}

/// The fetch of an observation that runs with access to the writer.
enum WriterFetch {
    case none, running

    /// The observers of its own commit have changed the region.
    case outdated
}

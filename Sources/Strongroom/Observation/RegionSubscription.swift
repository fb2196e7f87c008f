/// One observation of a region, from its start until it is cancelled.
///
/// Sendable because `observer` and `firstCommit` are only used with access to the writer.
final class RegionSubscription: @unchecked Sendable {
    private struct Functions {
        let onError: @Sendable (any Error) -> Void
        let onEvent: @Sendable (DatabaseRegionObservation.Event) -> Void
    }

    private let functions: Mutex<Functions?>

    /// The locks of others that it has met before it began.
    let failures = Mutex(PassingFailures())
    private var observer: RegionObserver?

    /// The number of the database's reopenings at the start. Nil if the changes of others are not observed.
    let reopeningCount: UInt64?

    /// The number of the writer's commits when the observation should have begun. Nil before.
    private var firstCommit: UInt64?

    init(
        onError: @escaping @Sendable (any Error) -> Void,
        onEvent: @escaping @Sendable (DatabaseRegionObservation.Event) -> Void, reopeningCount: UInt64? = nil
    ) {
        self.reopeningCount = reopeningCount
        functions = Mutex(Functions(onError: onError, onEvent: onEvent))
    }

    var isActive: Bool { functions.withLock { $0 != nil } }

    func cancel() {
        // Releasing the functions may release objects that use the database: not under the lock.
        let former = functions.withLock { $0.take() }
        withExtendedLifetime(former) {}
    }

    /// Ends the observation with an error, unless it has ended.
    func fail(_ error: any Error) {
        let former = functions.withLock { $0.take() }
        former?.onError(error)
    }

    private func notify(_ event: DatabaseRegionObservation.Event) {
        let functions = functions.withLock { $0 }
        functions?.onEvent(event)
    }

    /// Removes the observer of the region, so that later statements run without it.
    func end(on db: Database) {
        if let observer = observer.take() { db.observers.remove(observer) }
    }

    /// - parameters:
    ///   - isInsideWrite: true if the observation starts inside of a write, the rest of which it observes.
    ///   - hasMissed: true if others may have committed since the start, while the database was locked.
    func begin(
        _ regions: [any DatabaseRegionConvertible], on db: Database, isInsideWrite: Bool = false,
        hasMissed: Bool = false
    ) throws {
        guard isActive else { return }
        let commitCount = db.connection.commits, firstCommit = firstCommit ?? commitCount
        self.firstCommit = firstCommit
        _ = try db.openConnection
        let region = try DatabaseRegion.union(of: regions, db)
        let observer = RegionObserver(region) { [weak self] db in
            self?.notify(.unknownChange(db))
        } onChange: { [weak self] db in
            self?.notify(.change(db))
        }
        if db.isInsideTransaction, !isInsideWrite { observer.missChanges() }
        self.observer = observer
        db.observers.add(observer, .observerLifetime)
        // A lock of others, or a suspension, has delayed the observation: it has missed these commits.
        if hasMissed || commitCount != firstCommit { notify(.unknownChange(db)) }
    }
}

extension RegionSubscription: ExternalChangeObserver {
    func databaseDidChangeElsewhere(_ db: Result<Database, any Error>) {
        switch db {
        case .success(let db): notify(.unknownChange(db))
        case .failure(let error): fail(error)
        }
    }
}

extension DatabaseRegion {
    /// Returns the union of the regions.
    static func union(of regions: [any DatabaseRegionConvertible], _ db: Database) throws -> DatabaseRegion {
        try regions.reduce(into: DatabaseRegion()) { union, region in try union.formUnion(region.databaseRegion(db)) }
    }
}

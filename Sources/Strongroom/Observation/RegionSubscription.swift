/// One observation of a region, from its start until it is cancelled.
///
/// Sendable because `observer` is used with access to the connection that writes.
final class RegionSubscription: @unchecked Sendable {
    private struct State {
        var onChange: (@Sendable (Database) -> Void)?
    }

    private let state: Mutex<State>
    private var observer: RegionObserver?

    init(_ onChange: @escaping @Sendable (Database) -> Void) {
        state = Mutex(State(onChange: onChange))
    }

    private var function: (@Sendable (Database) -> Void)? { state.withLock(\.onChange) }

    var isActive: Bool { function != nil }

    func cancel() {
        // What the function holds may go with it, and use the database when it goes: not under the lock.
        let former = state.withLock { $0.onChange.take() }
        withExtendedLifetime(former) {}
    }

    /// Removes the observer of the region: the next statements run without it.
    func end(on db: Database) {
        if let observer = observer.take() { db.observers.remove(observer) }
    }

    func begin(_ regions: [any DatabaseRegionConvertible], on db: Database) throws {
        guard isActive else { return }
        _ = try db.openConnection
        let region = try DatabaseRegion.union(of: regions, db)
        let observer = RegionObserver(region) { [weak self] db in self?.function?(db) }
        self.observer = observer
        db.observers.add(observer, .observerLifetime)
    }
}

extension DatabaseRegion {
    /// Returns the union of the regions.
    static func union(of regions: [any DatabaseRegionConvertible], _ db: Database) throws -> DatabaseRegion {
        try regions.reduce(into: DatabaseRegion()) { union, region in try union.formUnion(region.databaseRegion(db)) }
    }
}

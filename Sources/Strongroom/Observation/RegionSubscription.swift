import Foundation

/// One observation of a region, from its start until it is cancelled.
///
/// Sendable because the functions are used under `lock`, and `observer` with access to the connection that writes.
final class RegionSubscription: @unchecked Sendable {
    private let lock = NSLock()
    private var functions: Functions?
    private var observer: RegionObserver?

    private struct Functions {
        let onError: @Sendable (any Error) -> Void
        let onEvent: @Sendable (DatabaseRegionObservation.Event) -> Void
    }

    init(
        onError: @escaping @Sendable (any Error) -> Void,
        onEvent: @escaping @Sendable (DatabaseRegionObservation.Event) -> Void)
    {
        functions = Functions(onError: onError, onEvent: onEvent)
    }

    var isActive: Bool { lock.withLock { functions != nil } }

    func cancel() {
        // What the functions hold may go with them, and use the database when it goes: not under the lock.
        let former = lock.withLock { functions.take() }
        withExtendedLifetime(former) {}
    }

    /// Ends with an error, unless it has ended.
    func fail(_ error: any Error) {
        let former = lock.withLock { functions.take() }
        former?.onError(error)
    }

    private func tell(_ event: DatabaseRegionObservation.Event) {
        let functions = lock.withLock { self.functions }
        functions?.onEvent(event)
    }

    /// The next statements owe nothing to an observation that has ended.
    func end(on db: Database) {
        if let observer = observer.take() { db.observers.remove(observer) }
    }

    func begin(_ regions: [any DatabaseRegionConvertible], on db: Database) throws {
        guard isActive else { return }
        _ = try db.openConnection
        let region = try DatabaseRegion.union(of: regions, db)
        let observer = RegionObserver(region) { [weak self] db in self?.tell(.change(db)) }
        self.observer = observer
        db.observers.add(observer, .observerLifetime)
    }
}

extension RegionSubscription: ExternalChangeObserver {
    func databaseDidChangeElsewhere(_ db: Result<Database, any Error>) {
        switch db {
        case .success(let db): tell(.unknownChange(db))
        case .failure(let error): fail(error)
        }
    }
}

extension DatabaseRegion {
    /// What is in any of the regions.
    static func union(of regions: [any DatabaseRegionConvertible], _ db: Database) throws -> DatabaseRegion {
        try regions.reduce(into: DatabaseRegion()) { union, region in try union.formUnion(region.databaseRegion(db)) }
    }
}

/// An observer of one region, which calls a function once for each transaction that changes it.
///
/// Only used with access to the connection.
final class RegionObserver: TransactionObserver {
    private(set) var region: DatabaseRegion
    private let onCommit: (Database) -> Void
    private var isStale = false

    init(_ region: DatabaseRegion, onCommit: @escaping (Database) -> Void) {
        self.region = region
        self.onCommit = onCommit
    }

    /// Observes another region from now on.
    func observe(_ region: DatabaseRegion, on db: Database) {
        self.region = region
        db.observers.regionsDidChange()
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        region.isModified(byEventsOfKind: eventKind)
    }

    func databaseDidChange() {
        isStale = true
    }

    func databaseDidChange(with event: DatabaseEvent) {
        guard !isStale, region.isModified(by: event) else { return }
        isStale = true
        stopObservingDatabaseChangesUntilNextTransaction()
    }

    func databaseDidCommit(_ db: Database) {
        if consumeStaleness() { onCommit(db) }
    }

    func databaseDidRollback(_ db: Database) {
        _ = consumeStaleness()
    }

    private func consumeStaleness() -> Bool {
        defer { isStale = false }
        return isStale
    }
}

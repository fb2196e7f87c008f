/// An observer of one region, which calls a function once for each transaction that changes it.
///
/// Only used with access to the connection.
final class RegionObserver: TransactionObserver {
    private(set) var region: DatabaseRegion
    private let onChange: (Database) -> Void
    private let onReopening: (Database) -> Void
    private var isStale = false

    /// True if a value was fetched in the open transaction, whose changes may be undone.
    private var hasProvisionalValue = false

    /// True if a transaction that has ended changed the region, until the function is called.
    private var mustNotify = false

    /// - parameter onReopening: called when a locked database was unlocked, which others may have changed meanwhile.
    ///   Nil to call `onChange`.
    init(
        _ region: DatabaseRegion, onReopening: ((Database) -> Void)? = nil, onChange: @escaping (Database) -> Void
    ) {
        self.region = region
        self.onChange = onChange
        self.onReopening = onReopening ?? onChange
    }

    func databaseWasReopened(_ db: Database) {
        (isStale, hasProvisionalValue, mustNotify) = (false, false, false)
        onReopening(db)
    }

    /// Records that the open transaction may have changed the region before it was observed.
    func missChanges() {
        isStale = true
    }

    /// Ignores the changes of the open transaction so far: the observer's own fetch has made them.
    func forgetChanges() {
        isStale = false
    }

    /// Records that a value was fetched in the open transaction. The function is also called if what it has seen is
    /// rolled back.
    func noteProvisionalValue() {
        hasProvisionalValue = true
    }

    /// Records that changes may be undone that a value contains.
    func savepointWasRolledBack() {
        if hasProvisionalValue { isStale = true }
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

    /// Records the end of a transaction, before any observer is notified of it: they may run other transactions.
    func transactionDidEnd(isCommitted: Bool) {
        if isCommitted ? isStale : hasProvisionalValue { mustNotify = true }
        (isStale, hasProvisionalValue) = (false, false)
    }

    func databaseDidCommit(_ db: Database) {
        notify(db)
    }

    func databaseDidRollback(_ db: Database) {
        notify(db)
    }

    private func notify(_ db: Database) {
        guard mustNotify else { return }
        mustNotify = false
        onChange(db)
    }
}

/// One observer of one connection. Only used with access to the connection.
final class ObserverRegistration {
    let extent: Database.TransactionObservationExtent
    private weak var weakObserver: (any TransactionObserver)?
    private var strongObserver: (any TransactionObserver)?

    /// True if the observer observes a region. It announces changes of its answers.
    let isOfRegion: Bool

    /// The observer, if it observes a region.
    var regionObserver: RegionObserver? { isOfRegion ? observer as? RegionObserver : nil }

    /// True if the observer is not notified of changes until the next transaction.
    var isPaused = false

    /// True if the connection was closed while the observer was registered, until the observer is notified that it is
    /// open again.
    var awaitsReopening = false

    /// The connection. The observer must not use it while it is notified of a change, possibly in the middle of a
    /// statement.
    private let connection: ConnectionHandle

    init(
        _ observer: any TransactionObserver, _ extent: Database.TransactionObservationExtent,
        on connection: ConnectionHandle
    ) {
        self.extent = extent
        self.connection = connection
        weakObserver = observer
        strongObserver = extent == .observerLifetime ? nil : observer
        isOfRegion = observer is RegionObserver
    }

    var observer: (any TransactionObserver)? { strongObserver ?? weakObserver }

    /// Releases the observer. Statements may hold the registration for longer.
    func end() {
        DeferredReleases.keep(strongObserver)
        strongObserver = nil
        weakObserver = nil
    }

    /// Notifies the observer of an event.
    func notify(of event: DatabaseEvent) {
        notifying { $0.databaseDidChange(with: event) }
    }

    /// Notifies the observer of a change without an event.
    func notifyOfChanges() {
        notifying { $0.databaseDidChange() }
    }

    private func notifying(_ notify: (any TransactionObserver) -> Void) {
        guard !isPaused, let observer else { return }
        let former = CallingThread.setNotifier(Unmanaged.passUnretained(self).toOpaque())
        let barred = connection.bar("databaseDidChange")
        notify(observer)
        connection.unbar(barred)
        _ = CallingThread.setNotifier(former)
    }
}

/// The observers of one statement.
final class StatementObservers {
    private struct Observer {
        let registration: ObserverRegistration

        /// The observed kinds of changes. Nil for all kinds that the statement makes.
        let kinds: [DatabaseEventKind]?
    }

    let generation: Int
    let recompilationCount: CInt
    let kinds: [DatabaseEventKind]
    private let observers: [Observer]

    /// The answers of each observer, for each of the kinds.
    private let answers: [Bool]

    /// True if an observer observes a region.
    let haveRegionObservers: Bool

    /// The changes that the statement makes without an event. Nil if no region contains a part of its tables.
    let hiddenChanges: HiddenChanges.OfStatement?

    var isEmpty: Bool { observers.isEmpty }

    init(
        generation: Int, recompilationCount: CInt, kinds: [DatabaseEventKind],
        hiddenChanges: HiddenChanges.OfStatement?, registrations: [ObserverRegistration]
    ) {
        self.generation = generation
        self.recompilationCount = recompilationCount
        self.kinds = kinds
        self.hiddenChanges = hiddenChanges
        let removals = hiddenChanges?.removals ?? []
        var answers: [Bool] = []
        var observers: [Observer] = []
        for registration in registrations {
            let observed = kinds.filter { kind in
                let answer = registration.observer?.observes(eventsOfKind: kind) ?? false
                answers.append(answer)
                return answer
            }
            let losesRows = registration.regionObserver.map { removals.contains(where: $0.observes) } ?? false
            if observed.isEmpty, !losesRows { continue }
            let isAll = observed.count == kinds.count
            observers.append(Observer(registration: registration, kinds: isAll ? nil : observed))
        }
        self.answers = answers
        self.observers = observers
        haveRegionObservers = observers.contains(where: \.registration.isOfRegion)
    }

    /// Notifies the observers of the event's kind.
    func notify(of event: DatabaseEvent) {
        for observer in observers {
            if observer.kinds?.contains(where: { $0.includes(event, inTable: event.tableName) }) == false { continue }
            observer.registration.notify(of: event)
        }
    }

    /// Notifies the observers of regions of a change without an event.
    func notifyRegionObservers() {
        for observer in observers where observer.registration.isOfRegion { observer.registration.notifyOfChanges() }
    }

    /// Returns true if the observers whose answers can change answer as before. Does not allocate.
    func isConfirmed(by registrations: [ObserverRegistration]) -> Bool {
        var next = 0
        for registration in registrations {
            defer { next += kinds.count }
            if registration.isOfRegion || kinds.isEmpty { continue }
            guard let observer = registration.observer else { return false }
            for (index, kind) in kinds.enumerated() {
                if observer.observes(eventsOfKind: kind) != answers[next + index] { return false }
            }
        }
        return true
    }
}

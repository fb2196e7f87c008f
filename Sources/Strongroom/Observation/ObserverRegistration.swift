import CStrongroom

/// One observer of one connection. Used with access to the connection only.
final class ObserverRegistration {
    let extent: Database.TransactionObservationExtent
    private weak var livingObserver: (any TransactionObserver)?
    private var keptObserver: (any TransactionObserver)?

    /// Whether the observer watches a region, and nothing else: its answers change only when it says so.
    let watchesRegion: Bool

    /// Whether the observer wants to hear of no more changes before the next transaction.
    var isPaused = false

    /// Barred to the observer while it is told of changes, which it may be in the midst of a statement.
    private let connection: UnsafeMutablePointer<strongroom_connection>

    init(
        _ observer: any TransactionObserver, _ extent: Database.TransactionObservationExtent,
        on connection: UnsafeMutablePointer<strongroom_connection>)
    {
        self.extent = extent
        self.connection = connection
        livingObserver = observer
        keptObserver = extent == .observerLifetime ? nil : observer
        watchesRegion = observer is RegionObserver
    }

    var observer: (any TransactionObserver)? { keptObserver ?? livingObserver }

    /// Lets go of the observer. Statements may remember the registration for longer.
    func end() {
        DeferredReleases.keep(keptObserver)
        keptObserver = nil
        livingObserver = nil
    }

    func tell(_ event: DatabaseEvent) {
        telling { $0.databaseDidChange(with: event) }
    }

    /// Tells of changes that no event describes.
    func tellOfChanges() {
        telling { $0.databaseDidChange() }
    }

    private func telling(_ tell: (any TransactionObserver) -> Void) {
        guard !isPaused, let observer else { return }
        let former = strongroom_set_told(Unmanaged.passUnretained(self).toOpaque())
        let barred = strongroom_bar(connection, ("databaseDidChange" as StaticString).cString)
        tell(observer)
        strongroom_unbar(connection, barred)
        _ = strongroom_set_told(former)
    }
}

/// Who is told of the changes of one statement.
final class Audience {
    struct Listener {
        let registration: ObserverRegistration

        /// The kinds of changes to tell; nil for all that the statement makes.
        let kinds: [DatabaseEventKind]?

        func tell(_ event: DatabaseEvent, _ tableName: @autoclosure () -> String) {
            if let kinds, !kinds.contains(where: { $0.includes(event, inTable: tableName()) }) { return }
            registration.tell(event)
        }
    }

    let generation: Int
    let recompilationCount: CInt
    let kinds: [DatabaseEventKind]
    let listeners: [Listener]

    /// What each observer answered for each of the kinds.
    let answers: [Bool]

    /// Whether the statement may change rows that SQLite doesn't tell.
    let mayHideChanges: Bool

    init(
        generation: Int, recompilationCount: CInt, kinds: [DatabaseEventKind], registrations: [ObserverRegistration],
        mayHideChanges: () -> Bool)
    {
        self.generation = generation
        self.recompilationCount = recompilationCount
        self.kinds = kinds
        var answers: [Bool] = []
        var listeners: [Listener] = []
        for registration in registrations {
            let observed = kinds.filter { kind in
                let answer = registration.observer?.observes(eventsOfKind: kind) ?? false
                answers.append(answer)
                return answer
            }
            if observed.isEmpty { continue }
            listeners.append(Listener(registration: registration, kinds: observed.count == kinds.count ? nil : observed))
        }
        self.answers = answers
        self.listeners = listeners
        self.mayHideChanges = listeners.contains(where: \.registration.watchesRegion) && mayHideChanges()
    }

    /// Whether the observers that may change their minds answer as they did. Allocates nothing.
    func isConfirmed(by registrations: [ObserverRegistration]) -> Bool {
        var next = 0
        for registration in registrations {
            defer { next += kinds.count }
            if registration.watchesRegion || kinds.isEmpty { continue }
            guard let observer = registration.observer else { return false }
            for (index, kind) in kinds.enumerated() where observer.observes(eventsOfKind: kind) != answers[next + index] {
                return false
            }
        }
        return true
    }
}

/// The rank of a visitor of a ``Turnstile``.
enum VisitorRank {
    /// Waits for all earlier visitors, and for barriers.
    case ordinary

    /// Belongs to the owner of the barrier. Passes ordinary visitors and barriers.
    case owner

    /// Belongs to the owner of the barrier, and must not wait. Enters past the limit.
    case ownerAtOnce
}

/// The order in which visitors enter: up to a limit at the same time, in order of arrival, and each barrier alone.
///
/// A value without locks and threads that only decides. Its user guards it by a ``Mutex``, and calls ``next()`` after
/// each change until no visitor is left to admit. <doc:AccessPath> has its state table.
struct Turnstile<Visitor> {
    /// Identifies a visitor that waits.
    typealias Ticket = Int

    /// The answer to a visitor that arrives.
    enum Entry {
        case admitted, refused, mustWait
    }

    /// The answer to a visitor that has waited.
    enum Admission {
        case admitted(Visitor), refused(Visitor)
    }

    private enum Phase {
        case open

        /// The owner of the barrier is closing. Its own visitors would open again what it has closed.
        case closing

        /// The database is locked: ordinary visitors wait, all others are refused.
        case locked

        case closed
    }

    /// The number of visitors that may be inside at the same time.
    let limit: Int

    /// The number of visitors inside. It exceeds the limit if owners passed it.
    private(set) var inside = 0

    /// A Boolean value that indicates whether a barrier is alone inside.
    private(set) var isBarrierUp = false

    private var phase = Phase.open
    private var line = Line<(visitor: Visitor, isBarrier: Bool)>()
    private var owners = Line<Visitor>()

    /// True if no further ordinary visitor may come. Those that wait are served.
    private(set) var refusesArrivals = false

    /// The visitor that waits until all others have left a turnstile that is locked or closing.
    private(set) var lastVisitor: Visitor?

    /// The number of visitors inside that wait for the owner of the barrier. Meanwhile the owner does not wait for a
    /// place.
    private var waitingInside = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// The number of visitors that wait, and the number of places that are reserved for them.
    var waiting: (count: Int, capacity: Int) { (line.count + owners.count, line.capacity + owners.capacity) }

    // MARK: - Arrivals

    /// Admits or refuses a visitor that arrives, or returns that it has to wait. In that case the caller appends it.
    mutating func enter(_ rank: VisitorRank) -> Entry {
        switch rank {
        case .ordinary:
            if phase == .closed || refusesArrivals { return .refused }
            if phase == .locked || isBarrierUp || !line.isEmpty || !owners.isEmpty { return .mustWait }
        case .owner, .ownerAtOnce:
            if phase != .open { return .refused }
        }
        guard rank == .ownerAtOnce || inside < limit || rank == .owner && waitingInside > 0 else { return .mustWait }
        inside += 1
        return .admitted
    }

    /// Makes an ordinary visitor wait for its turn.
    mutating func append(_ visitor: Visitor) -> Ticket {
        line.append((visitor, isBarrier: false))
    }

    /// Makes a barrier wait until no visitor is inside. Later visitors wait until it ends.
    mutating func append(barrier visitor: Visitor) -> Ticket {
        line.append((visitor, isBarrier: true))
    }

    /// Makes a visitor of the owner wait for the next place.
    mutating func append(owner visitor: Visitor) {
        _ = owners.append(visitor)
    }

    /// Removes a waiting visitor or barrier, and returns it. Nil if it no longer waits.
    mutating func withdraw(_ ticket: Ticket) -> Visitor? {
        line.remove(ticket)?.visitor
    }

    // MARK: - Departures

    /// Removes one visitor from inside.
    mutating func leave() {
        inside -= 1
    }

    /// Ends the barrier.
    mutating func lowerBarrier() {
        isBarrierUp = false
    }

    /// Takes places without a request, whatever the limit.
    mutating func occupy(_ count: Int) {
        inside += count
    }

    /// Sets whether one more visitor inside waits for the owner of the barrier, or one fewer.
    mutating func setWaitingInside(_ isWaiting: Bool) {
        waitingInside += isWaiting ? 1 : -1
    }

    // MARK: - Closing

    /// Refuses ordinary visitors from now on.
    mutating func refuseArrivals() {
        refusesArrivals = true
    }

    /// Refuses the visitors of the owner, which is closing. Returns false if a lock waits for the end of the barrier.
    mutating func beginClosing() -> Bool {
        guard phase != .locked else { return false }
        phase = .closing
        return true
    }

    /// Refuses all later visitors, or goes on if the owner could not close.
    mutating func endClosing(isClosed: Bool) {
        phase = isClosed ? .closed : .open
    }

    // MARK: - Locking

    /// Keeps all visitors out, unless the owner is closing or has closed. Returns false then.
    mutating func beginLocking() -> Bool {
        guard phase == .open else { return false }
        phase = .locked
        return true
    }

    /// Sets the visitor that is admitted when no other one is inside.
    mutating func setLast(_ visitor: Visitor) {
        lastVisitor = visitor
    }

    /// Admits visitors again, or refuses them if the database was closed meanwhile.
    mutating func endLocking(isClosed: Bool) {
        phase = isClosed ? .closed : .open
    }

    var isLocked: Bool { phase == .locked }

    /// The tickets of those that wait.
    var tickets: [Ticket] { line.tickets }

    /// Refuses those that can't wait, and admits the last one when the others have left.
    private mutating func nextOfLocked() -> Admission? {
        if let owner = owners.takeFirst() { return .refused(owner) }
        if let barrier = line.takeFirst(where: \.isBarrier) { return .refused(barrier.visitor) }
        return isBarrierUp ? nil : takeLast()
    }

    /// Admits the last visitor when the others have left.
    private mutating func takeLast() -> Admission? {
        inside == 0 ? lastVisitor.take().map { .admitted($0) } : nil
    }

    // MARK: - Turns

    /// Removes the next visitor whose turn has come, and admits or refuses it. Nil if all others have to wait.
    mutating func next() -> Admission? {
        if phase == .locked { return nextOfLocked() }
        if !owners.isEmpty {
            guard inside < limit || waitingInside > 0 else { return nil }
            inside += 1
            return owners.takeFirst().map { .admitted($0) }
        }
        if phase == .closing { return takeLast() }
        guard !isBarrierUp, let first = line.first else { return nil }
        if phase != .closed {
            guard first.isBarrier ? inside == 0 : inside < limit else { return nil }
            if first.isBarrier { isBarrierUp = true } else { inside += 1 }
        }
        _ = line.takeFirst()
        return phase == .closed ? .refused(first.visitor) : .admitted(first.visitor)
    }
}

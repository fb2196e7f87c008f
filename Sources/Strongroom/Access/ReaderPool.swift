import CStrongroom
import Dispatch

/// A reader of a pool: a queue, and the connection once the reader was used.
///
/// Sendable because it belongs to one access at a time, from ``ReaderPool/checkOut(_:)`` to
/// ``ReaderPool/checkIn(_:)``.
final class Reader: @unchecked Sendable {
    let queue: DispatchQueue

    fileprivate struct State {
        /// Written under the pool's lock, by the access that has the reader.
        var connection: SerializedConnection?

        /// A Boolean value that indicates whether the connection is closed, and not used again, when its access ends.
        var isInvalidated = false

        /// The set-ups that the connection must have gone through. Written under the pool's lock.
        var requiredSetups: ConnectionSetups.Version = 0
    }

    // Unchecked exclusivity: the lock and the order of accesses exclude what Swift would check, for each read anew.
    @exclusivity(unchecked) fileprivate var state = State()

    var connection: SerializedConnection? { state.connection }

    fileprivate init(queue: DispatchQueue) {
        self.queue = queue
    }
}

/// The readers of a database pool. A ``Turnstile`` decides which access gets one.
///
/// A barrier belongs to the thread that has the writer, and that thread is not kept from reading: neither by its own
/// barrier, nor by one that waits for a reader whose thread waits for the writer. See the article
/// <doc:NestedAccesses>.
final class ReaderPool: Sendable {
    typealias Use = @Sendable (Result<Reader, any Error>) -> Void

    private enum Visitor {
        case reader(Use)
        case barrier(@Sendable (BarrierOutcome) -> Void)
    }

    /// The end of a barrier's wait.
    enum BarrierOutcome {
        case raised, withdrawn, closed
    }

    private struct State {
        var turnstile: Turnstile<Visitor>
        var idle: [Reader] = []
        var inUse: [Reader] = []
        var setups = ConnectionSetups()
        var readerNumber = 0
        var snapshotNumber = 0
        var isSuspended = false
    }

    let path: String
    let target: TargetQueue?
    let lane = FastLane()
    private let label: String
    private let configuration: Configuration
    private let state: Mutex<State>

    init(path: String, label: String, configuration: Configuration, target: TargetQueue?) {
        self.path = path
        self.label = label
        self.configuration = configuration
        self.target = target
        state = Mutex(State(turnstile: Turnstile(limit: configuration.maximumReaderCount)))
    }

    /// The number that the readers have in common, and no other connection has.
    var group: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

    /// A Boolean value that indicates whether the calling thread is inside an access to one of the readers.
    var isAccessed: Bool { strongroom_innermost_in_group(group) != nil }

    // MARK: - Readers

    /// Waits for a reader, and returns it. Give it back with ``checkIn(_:)``.
    func checkOut(_ rank: VisitorRank = .ordinary) throws -> Reader {
        var turn: Handover<Result<Reader, any Error>>?
        let reader: Reader? = try state.withLock { state in
            switch state.turnstile.enter(rank) {
            case .admitted:
                return takeReader(&state)
            case .refused:
                throw DatabaseError.closed
            case .mustWait:
                let handover = Handover<Result<Reader, any Error>>()
                if rank == .ordinary {
                    _ = state.turnstile.append(.reader(handover.put))
                } else {
                    state.turnstile.append(owner: .reader(handover.put))
                }
                turn = handover
                return nil
            }
        }
        if let reader { return reader }
        guard let turn else { preconditionFailure("A visitor who was not admitted waits.") }
        return try turn.take { target?.requireConcurrency() }.get()
    }

    /// Takes a reader whose connection is open, if one is free at once.
    func checkOutOpenReader() -> Reader? {
        state.withLock { state in
            guard state.idle.last?.connection != nil, state.turnstile.enter(.ordinary) == .admitted else { return nil }
            return takeReader(&state)
        }
    }

    /// Calls `use` with a reader, now, or when there is one: then the ticket takes the request back. `use` must not
    /// work on the calling thread.
    @discardableResult
    func checkOut(_ use: @escaping Use) -> Int? {
        var answer: Result<Reader, any Error>?
        let ticket: Int? = state.withLock { state in
            switch state.turnstile.enter(.ordinary) {
            case .admitted: answer = .success(takeReader(&state))
            case .refused: answer = .failure(DatabaseError.closed)
            case .mustWait: return state.turnstile.append(.reader(use))
            }
            return nil
        }
        if let answer { use(answer) }
        return ticket
    }

    /// Withdraws a request that waits, and serves those that waited for it alone.
    func withdraw(_ ticket: Int) {
        let visitor = change { $0.turnstile.withdraw(ticket) }
        if case .barrier(let start) = visitor { start(.withdrawn) }
    }

    /// The number of accesses that wait, and of the places that are reserved for them.
    var waiting: (count: Int, capacity: Int) { state.withLock { $0.turnstile.waiting } }

    /// A Boolean value that indicates whether a reader holds a lock that keeps others out.
    var holdsLock: Bool { connections.contains(where: \.holdsLock) }

    /// Keeps the readers from holding locks that keep others out: those that are open, and those that open later.
    func setSuspended(_ isSuspended: Bool) {
        state.withLock { state in
            state.isSuspended = isSuspended
            for reader in state.idle + state.inUse {
                isSuspended ? reader.connection?.suspendLocks() : reader.connection?.resume()
            }
        }
    }

    /// Gives a reader back, and serves the requests that wait.
    func checkIn(_ reader: Reader) {
        let (isKept, turns) = state.withLock { state in
            if let index = state.inUse.firstIndex(where: { $0 === reader }) {
                state.inUse.swapAt(index, state.inUse.count - 1)
                state.inUse.removeLast()
            }
            state.turnstile.leave()
            let hasRoom = state.idle.count + state.inUse.count < state.turnstile.limit
            let isKept = !reader.state.isInvalidated && reader.connection != nil && hasRoom
            if isKept { state.idle.append(reader) }
            return (isKept, admitted(&state))
        }
        if !isKept { reader.connection?.retire() }
        for turn in turns { turn() }
    }

    /// The reader's connection, opened when it is the first time.
    func connection(of reader: Reader, by path: AccessPath = .queue) throws -> SerializedConnection {
        if let connection = reader.connection {
            if connection.appliedSetups < reader.state.requiredSetups { try setUp(connection, by: path) }
            return connection
        }
        let connection = try SerializedConnection(
            path: self.path, configuration: configuration, queue: reader.queue, target: target, by: path, group: group)
        try setUp(connection, by: path)
        state.withLock { state in
            reader.state.connection = connection
            if state.isSuspended { connection.suspendLocks() }
        }
        return connection
    }

    /// Runs `write`, to which a thread has come inside of a read. Who has the writer meanwhile waits for no reader.
    func duringWriteInRead<T>(_ write: () throws -> T) rethrows -> T {
        change { $0.turnstile.setWaitingInside(true) }
        defer { change { $0.turnstile.setWaitingInside(false) } }
        return try write()
    }

    // MARK: - Set-ups

    /// Adds a set-up that readers go through before their next access.
    func addSetup(_ subject: ConnectionSetups.Subject, _ setup: @escaping ConnectionSetups.Setup) {
        let former = state.withLock { $0.setups.add(subject, setup) }
        // What the program's function holds may go with it, and use the database when it goes: not under the lock.
        withExtendedLifetime(former) {}
    }

    /// The number of set-ups that a new connection goes through.
    var setupCount: Int { state.withLock { $0.setups.count } }

    /// Returns a number that no other snapshot of the pool has.
    func nextSnapshotNumber() -> Int {
        state.withLock { state in
            state.snapshotNumber += 1
            return state.snapshotNumber
        }
    }

    /// Lets a connection that is not one of the readers go through all set-ups.
    func setUpFully(_ db: Database) throws {
        let all = state.withLock { $0.setups.missing(since: 0) }
        for setup in all { try setup(db) }
    }

    private func setUp(_ connection: SerializedConnection, by path: AccessPath) throws {
        let (missing, version) = state.withLock { state in
            (state.setups.missing(since: connection.appliedSetups), state.setups.version)
        }
        guard !missing.isEmpty else { return }
        try connection.sync(by: path) { db in
            for setup in missing { try setup(db) }
        }
        connection.appliedSetups = version
    }

    // MARK: - Barriers

    /// Waits until no reader is in use. Later requests wait until ``lowerBarrier()``.
    ///
    /// - parameter withdrawal: gets the function that ends the wait.
    func raiseBarrier(withdrawal: (@escaping @Sendable () -> Void) -> Void = { _ in }) -> BarrierOutcome {
        let turn = Handover<BarrierOutcome>()
        let ticket = change { $0.turnstile.append(barrier: .barrier(turn.put)) }
        withdrawal { self.withdraw(ticket) }
        return turn.take { target?.requireConcurrency() }
    }

    /// The same, or the error that the pool is closed.
    func raiseBarrierOrThrow() throws {
        if raiseBarrier() == .closed { throw DatabaseError.closed }
    }

    /// Runs `block` when no reader is in use, later; not when the pool is closed.
    func asyncBarrier(_ block: @escaping @Sendable () -> Void) {
        let start: @Sendable (BarrierOutcome) -> Void = { outcome in
            guard outcome == .raised else { return }
            DispatchQueue.global().async {
                block()
                self.lowerBarrier()
            }
        }
        _ = change { $0.turnstile.append(barrier: .barrier(start)) }
    }

    /// Ends the barrier, and serves the requests that wait.
    func lowerBarrier() {
        change { $0.turnstile.lowerBarrier() }
    }

    // MARK: - All readers

    /// Makes the accesses that follow open new connections. Those that run go on with theirs.
    func invalidate() {
        let connections = state.withLock { state in
            defer { state.idle = [] }
            for reader in state.inUse { reader.state.isInvalidated = true }
            return state.idle.compactMap(\.connection)
        }
        // An idle reader has nothing alive but statements that its user kept: they keep it open, unreachable, until
        // they go.
        for connection in connections { connection.retire() }
    }

    /// Releases memory of the readers that are not in use.
    func releaseMemory() {
        let readers = state.withLock { state in
            let readers = state.idle
            state.idle = []
            state.inUse += readers
            state.turnstile.occupy(readers.count)
            return readers
        }
        for reader in readers {
            reader.connection?.sync(by: .direct) { $0.releaseMemory() }
            checkIn(reader)
        }
    }

    /// The connections that are open at this moment.
    var connections: [SerializedConnection] {
        state.withLock { ($0.idle + $0.inUse).compactMap(\.connection) }
    }

    /// Closes all readers for good, and then runs `finish`: call it inside of a barrier.
    ///
    /// - throws: `SQLITE_BUSY` when a statement of a reader is alive, and what `finish` throws; the pool stays open
    ///   then.
    func close(then finish: () throws -> Void) throws {
        var isClosed = false
        state.withLock { $0.turnstile.beginClosing() }
        defer { state.withLock { $0.turnstile.endClosing(isClosed: isClosed) } }
        while let reader = state.withLock({ $0.idle.last }) {
            try reader.connection?.sync(by: .direct) { try $0.close() }
            state.withLock { $0.idle.removeAll { $0 === reader } }
        }
        try finish()
        isClosed = true
    }

    // MARK: - Under the lock

    /// Returns a reader for a visitor that was admitted.
    private func takeReader(_ state: inout State) -> Reader {
        let reader = state.idle.popLast() ?? newReader(&state)
        reader.state.requiredSetups = state.setups.version
        state.inUse.append(reader)
        return reader
    }

    private func newReader(_ state: inout State) -> Reader {
        state.readerNumber += 1
        return Reader(queue: DispatchQueue(label: "\(label).reader.\(state.readerNumber)", qos: configuration.readQoS))
    }

    /// Changes the state, and serves whose turn it is then.
    @discardableResult
    private func change<T>(_ change: (inout State) -> T) -> T {
        let (result, turns) = state.withLock { state in
            let result = change(&state)
            return (result, admitted(&state))
        }
        for turn in turns { turn() }
        return result
    }

    /// The turns that have come, to be called when the lock is released.
    private func admitted(_ state: inout State) -> [() -> Void] {
        var turns: [() -> Void] = []
        while let admission = state.turnstile.next() {
            switch admission {
            case .admitted(.reader(let use)):
                let reader = takeReader(&state)
                turns.append { use(.success(reader)) }
            case .admitted(.barrier(let start)): turns.append { start(.raised) }
            case .refused(.reader(let use)): turns.append { use(.failure(DatabaseError.closed)) }
            case .refused(.barrier(let start)): turns.append { start(.closed) }
            }
        }
        return turns
    }
}

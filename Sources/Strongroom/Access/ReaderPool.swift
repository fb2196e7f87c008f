import Dispatch

/// The readers of a database pool. A ``Turnstile`` decides which access gets one.
///
/// A barrier belongs to the thread that has the writer. That thread can read: neither its own barrier keeps it from
/// reading, nor one that waits for a reader whose thread waits for the writer. See <doc:NestedAccesses>.
final class ReaderPool: Sendable {
    struct State {
        var turnstile: Turnstile<Visitor>
        var idle: [Reader] = []
        var inUse: [Reader] = []
        var setups = ConnectionSetups()
        var readerNumber = 0
        var snapshotNumber = 0
        var isSuspended = false

        /// The time that requests wait while the database is locked. Nil while it is not.
        var hold: WaitLimit?

        /// The error of visitors that are refused.
        var refusal: DatabaseError {
            turnstile.isLocked ? .locked : turnstile.refusesArrivals ? .shutDown : .closed
        }
    }

    let path: String
    let target: TargetQueue?
    let inPlace = InPlaceReads()

    /// The functions that are called with an error, one after the other.
    let refusals = AccessLine(qos: .default)
    private let label: String
    private let configuration: Configuration
    let tally: Tally?
    let state: Mutex<State>

    init(path: String, label: String, configuration: Configuration, target: TargetQueue?) {
        self.path = path
        self.label = label
        self.configuration = configuration
        self.target = target
        tally = configuration.tally
        state = Mutex(State(turnstile: Turnstile(limit: configuration.maximumReaderCount)))
    }

    /// The quality of service of reads whose task has no priority.
    var qos: DispatchQoS.QoSClass { configuration.readQoS.qosClass }

    /// The number that all readers of the pool have, and no other connection.
    var group: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

    /// A Boolean value that indicates whether the calling thread is inside an access to one of the readers.
    var isAccessed: Bool { CallingThread.isInside(group: group) }

    // MARK: - Readers

    /// Waits for a reader, and returns it. Return it with ``checkIn(_:)``.
    func checkOut(_ rank: VisitorRank = .ordinary) throws -> Reader {
        var turn: Handover<Result<Reader, any Error>>?
        var wait: LimitedWait?
        let reader: Reader? = try state.withLock { state in
            switch state.turnstile.enter(rank) {
            case .admitted:
                return takeReader(&state)
            case .refused:
                throw state.refusal
            case .mustWait:
                // The unlocking needs the queue that this thread has.
                if state.hold != nil, target?.isCurrent == true { throw DatabaseError.locked }
                let handover = Handover<Result<Reader, any Error>>()
                if rank == .ordinary {
                    wait = state.limitedWait(state.turnstile.append(.thread(handover)))
                } else {
                    state.turnstile.append(owner: .thread(handover))
                }
                turn = handover
                return nil
            }
        }
        if let reader { return reader }
        guard let turn else { preconditionFailure("A visitor that was not admitted waits.") }
        if let wait { wait.hold.begin([wait.ticket]) }
        let start = tally == nil ? 0 : Tally.now
        let result = turn.take { target?.requireConcurrency() }
        tally?.didWait(.read, since: start)
        return try result.get()
    }

    /// Checks out a reader with an open connection. Nil if none is free.
    func checkOutOpenReader() -> Reader? {
        state.withLock { state in
            guard state.idle.last?.connection != nil, state.turnstile.enter(.ordinary) == .admitted else { return nil }
            return takeReader(&state)
        }
    }

    /// Begins `work` with a reader, now or later. In the second case, the returned ticket can withdraw the request.
    @discardableResult
    func checkOut(_ work: ReaderWork) -> Int? {
        var reader: Reader?
        var refusal: (any Error)?
        var wait: LimitedWait?
        let ticket: Int? = state.withLock { state in
            switch state.turnstile.enter(.ordinary) {
            case .admitted: reader = takeReader(&state)
            case .refused: refusal = state.refusal
            case .mustWait:
                let ticket = state.turnstile.append(.work(work.measured(by: tally)))
                wait = state.limitedWait(ticket)
                return ticket
            }
            return nil
        }
        if let reader { work.begin(with: reader) }
        if let refusal { work.refuse(refusal) }
        if let wait { wait.hold.begin([wait.ticket]) }
        return ticket
    }

    /// Withdraws a request that waits, and serves the requests that waited only for it.
    func withdraw(_ ticket: Int) {
        let visitor = change { $0.turnstile.withdraw(ticket) }
        if case .barrier(let start) = visitor { start(.withdrawn) }
    }

    /// Refuses new reads, but for those of the thread that has the writer.
    func leave() {
        state.withLock { $0.turnstile.refuseArrivals() }
    }

    /// A Boolean value that indicates whether a reader holds a lock that keeps others out.
    var holdsLock: Bool { connections.contains(where: \.holdsLock) }

    /// Prevents the readers from holding locks that keep others out, or ends that. Applies to readers that open later,
    /// too.
    func setSuspended(_ isSuspended: Bool) {
        state.withLock { state in
            state.isSuspended = isSuspended
            for reader in state.idle + state.inUse {
                isSuspended ? reader.connection?.suspendLocks() : reader.connection?.resume()
            }
        }
    }

    /// Checks in a reader, and serves the requests that wait.
    ///
    /// - parameter qos: the quality of service of a worker that goes on with the returned step immediately.
    /// - returns: nil if `qos` is nil, or no request for work of that quality of service has got a reader.
    @discardableResult
    func checkIn(_ reader: Reader, goingOnWith qos: DispatchQoS.QoSClass? = nil) -> Workers.Step? {
        let turns: [Turn]? = state.withLock { state in
            if let index = state.inUse.firstIndex(where: { $0 === reader }) {
                state.inUse.swapAt(index, state.inUse.count - 1)
                state.inUse.removeLast()
            }
            let hasRoom = state.idle.count + state.inUse.count < state.turnstile.limit
            let isKept = !reader.state.isInvalidated && reader.connection?.isOpen == true && hasRoom
            guard isKept else { return nil }
            state.idle.append(reader)
            state.turnstile.leave()
            return admitted(&state)
        }
        guard let turns else {
            retire([reader.connection])
            return nil
        }
        return begin(turns, keeping: qos)
    }

    /// Closes connections for which places were taken, and then leaves the places: a lock waits for it.
    private func retire(_ connections: [SerializedConnection?]) {
        for connection in connections { connection?.retire() }
        change { state in
            for _ in connections { state.turnstile.leave() }
        }
    }

    /// Returns the reader's connection. Opens it at the first call.
    func connection(of reader: Reader, by path: AccessPath = .inTurn) throws -> SerializedConnection {
        if let connection = reader.connection {
            if connection.appliedSetups < reader.state.requiredSetups { try setUp(connection, by: path) }
            return connection
        }
        let connection = try SerializedConnection(
            path: self.path, configuration: configuration, label: reader.label, target: target, by: path, group: group)
        try setUp(connection, by: path)
        state.withLock { state in
            reader.state.connection = connection
            if state.isSuspended { connection.suspendLocks() }
            if state.hold != nil { connection.stopForLock() }
        }
        return connection
    }

    /// Runs `write` for a thread that is inside of a read. Meanwhile the thread that has the writer does not wait for
    /// readers.
    func duringWriteInRead<T>(_ write: () throws -> T) rethrows -> T {
        change { $0.turnstile.setWaitingInside(true) }
        defer { change { $0.turnstile.setWaitingInside(false) } }
        return try write()
    }

    // MARK: - Set-ups

    /// Adds a set-up, which each reader runs before its next access.
    func addSetup(_ subject: ConnectionSetups.Subject, _ setup: @escaping ConnectionSetups.Setup) {
        let former = state.withLock { $0.setups.add(subject, setup) }
        // Releasing the program's function may release objects that use the database: not under the lock.
        withExtendedLifetime(former) {}
    }

    /// The number of set-ups that a new connection runs.
    var setupCount: Int { state.withLock { $0.setups.count } }

    /// Returns a number that no other snapshot of the pool has.
    func nextSnapshotNumber() -> Int {
        state.withLock { state in
            state.snapshotNumber += 1
            return state.snapshotNumber
        }
    }

    /// Runs all set-ups on a connection that is not one of the readers.
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
    /// - parameter withdrawal: called with the function that ends the wait.
    func raiseBarrier(withdrawal: (@escaping @Sendable () -> Void) -> Void = { _ in }) -> BarrierOutcome {
        let start = tally == nil ? 0 : Tally.now
        defer { tally?.didWait(.barrier, since: start) }
        let turn = Handover<BarrierOutcome>()
        let ticket = change { $0.turnstile.append(barrier: .barrier(turn.put)) }
        withdrawal { self.withdraw(ticket) }
        return turn.take { target?.requireConcurrency() }
    }

    /// Raises the barrier, as ``raiseBarrier(withdrawal:)``. Throws if the pool is closed.
    func raiseBarrierOrThrow() throws {
        if let refusal = raiseBarrier().refusal { throw refusal }
    }

    /// Runs `block` later, when no reader is in use. Does not run it if the pool is closed.
    func asyncBarrier(_ block: @escaping @Sendable () -> Void) {
        let start: @Sendable (BarrierOutcome) -> Void = { outcome in
            guard outcome == .raised else { return }
            Workers.shared.run {
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

    /// Makes later accesses open new connections. Running accesses go on with theirs.
    func invalidate() {
        let idle = state.withLock { state in
            for reader in state.inUse { reader.state.isInvalidated = true }
            return state.takeIdle()
        }
        // An idle reader may have statements that the program keeps. They keep its connection open, unused, until they
        // are released.
        retire(idle.map(\.connection))
    }

    /// Takes the readers that are not in use. Returns the work that closes them or, if connections are persistent,
    /// releases their memory and checks them in.
    func takeIdle() -> () -> Void {
        let isPersistent = configuration.persistentReadOnlyConnections
        let idle = state.withLock { state in
            let idle = state.takeIdle()
            if isPersistent { state.inUse += idle }
            return idle
        }
        guard isPersistent else { return { self.retire(idle.map(\.connection)) } }
        return {
            for reader in idle {
                reader.connection?.sync(by: .direct) { $0.releaseMemory() }
                self.checkIn(reader)
            }
        }
    }

    /// The open connections.
    var connections: [SerializedConnection] {
        state.withLock { ($0.idle + $0.inUse).compactMap(\.connection) }
    }

    /// Closes all readers, and then runs `finish`. Called inside of a barrier. Returns false, and does nothing, if the
    /// database is about to be locked.
    ///
    /// - throws: `SQLITE_BUSY` when a statement of a reader is alive, and the error that `finish` throws. The pool
    ///   stays open.
    func close(then finish: () throws -> Void) throws -> Bool {
        var isClosed = false
        guard state.withLock({ $0.turnstile.beginClosing() }) else { return false }
        defer { state.withLock { $0.turnstile.endClosing(isClosed: isClosed) } }
        try closeIdle()
        try finish()
        isClosed = true
        return true
    }

    // MARK: - Under the lock

    /// Returns a reader for a visitor that was admitted.
    func takeReader(_ state: inout State) -> Reader {
        let reader = state.idle.popLast() ?? newReader(&state)
        reader.state.requiredSetups = state.setups.version
        state.inUse.append(reader)
        return reader
    }

    private func newReader(_ state: inout State) -> Reader {
        state.readerNumber += 1
        return Reader(label: "\(label).reader.\(state.readerNumber)")
    }

    /// Changes the state, and then serves the visitors whose turn has come.
    @discardableResult
    func change<T>(_ change: (inout State) -> T) -> T {
        let (result, turns) = state.withLock { state in
            let result = change(&state)
            return (result, admitted(&state))
        }
        _ = begin(turns)
        return result
    }
}

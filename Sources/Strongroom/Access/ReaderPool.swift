import CStrongroom
import Dispatch
import Foundation

/// A reader of a pool: a queue, and the connection once the reader was used.
///
/// Sendable because it belongs to one access at a time, from ``ReaderPool/checkOut(_:)`` to ``ReaderPool/checkIn(_:)``.
final class Reader: @unchecked Sendable {
    let queue: DispatchQueue

    /// Written under the pool's lock, by the access that has the reader.
    @exclusivity(unchecked) fileprivate(set) var connection: SerializedConnection?

    /// Whether the connection is closed, and not used again, when its access ends.
    @exclusivity(unchecked) fileprivate var isInvalidated = false

    /// How many of the later set-ups the connection has to have gone through. Written under the pool's lock.
    @exclusivity(unchecked) fileprivate var requiredSetups: LaterSetups.Version = 0

    fileprivate init(queue: DispatchQueue) {
        self.queue = queue
    }
}

/// The readers of a database pool, and the accesses that wait for one: first come, first served.
///
/// A barrier belongs to the thread that has the writer, and that thread is not kept from reading: neither by its own barrier, nor by one
/// that waits for a reader whose thread waits for the writer. See the article <doc:NestedAccesses>.
///
/// Sendable because its variables are read and written under `lock` only.
final class ReaderPool: @unchecked Sendable {
    typealias Use = @Sendable (Result<Reader, any Error>) -> Void
    typealias Ticket = Int

    /// How a thread that asks for a reader stands to those who wait.
    enum Haste {
        /// It waits like all others.
        case inLine

        /// It has the writer: it goes ahead of those who wait, and passes barriers.
        case ahead

        /// It has the writer and must not wait at all: more than the allowed number of readers may be open for a while.
        case atOnce
    }

    private enum Waiter {
        case reader(Use)
        case barrier(@Sendable (BarrierTurn) -> Void)
    }

    /// What becomes of a barrier that waits.
    enum BarrierTurn {
        case up, withdrawn, closed
    }

    let path: String
    let target: TargetQueue?
    private let label: String
    private let configuration: Configuration
    private let limit: Int

    // Unchecked exclusivity: what the lock orders can't overlap, and each read comes by here.
    private let lock = NSLock()
    @exclusivity(unchecked) private var idle: [Reader] = []
    @exclusivity(unchecked) private var busy: [Reader] = []
    @exclusivity(unchecked) private var waiters = Waiters<Waiter>()
    @exclusivity(unchecked) private var hasty: [Use] = []
    @exclusivity(unchecked) private var setups = LaterSetups()
    private var number = 0
    private var snapshotNumber = 0
    private var isBarrierUp = false
    private var isClosing = false
    private var isSuspended = false
    private var isClosed = false

    /// How many threads want to write inside of a read.
    private var writingReads = 0

    /// Until when the fast lane is closed to the reads of this pool.
    let laneClosedUntil = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)

    init(path: String, label: String, configuration: Configuration, target: TargetQueue?) {
        self.path = path
        self.label = label
        self.configuration = configuration
        self.target = target
        limit = configuration.maximumReaderCount
        laneClosedUntil.initialize(to: 0)
    }

    deinit {
        laneClosedUntil.deallocate()
    }

    /// What the readers have in common, and no other connection has.
    var group: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

    /// Whether the calling thread is inside an access to one of the readers.
    var isAccessed: Bool { strongroom_innermost_in_group(group) != nil }

    // MARK: - Readers

    /// Waits for a reader. Give it back with ``checkIn(_:)``.
    func checkOut(_ haste: Haste = .inLine) throws -> Reader {
        lock.lock()
        if let reader = takeReader(haste) {
            lock.unlock()
            return reader
        }
        if isRefused(haste) {
            lock.unlock()
            throw DatabaseError.closed
        }
        let turn = Turn<Result<Reader, any Error>>()
        if haste == .inLine { waiters.append(.reader(turn.end)) } else { hasty.append(turn.end) }
        lock.unlock()
        return try turn.wait(before: { target?.requireConcurrency() }).get()
    }

    /// Takes a reader whose connection is open, if one is free at once.
    func checkOutOpenReader() -> Reader? {
        lock.lock()
        defer { lock.unlock() }
        guard idle.last?.connection != nil else { return nil }
        return takeReader(.inLine)
    }

    /// Calls `use` with a reader, now, or when there is one: then the ticket takes the request back. `use` must not work on the calling
    /// thread.
    @discardableResult
    func checkOut(_ use: @escaping Use) -> Ticket? {
        lock.lock()
        if let reader = takeReader(.inLine) {
            lock.unlock()
            use(.success(reader))
            return nil
        }
        if isClosed {
            lock.unlock()
            use(.failure(DatabaseError.closed))
            return nil
        }
        defer { lock.unlock() }
        return waiters.append(.reader(use))
    }

    /// Forgets who waits, and serves those who waited for that alone.
    func withdraw(_ ticket: Ticket) {
        lock.lock()
        let waiter = waiters.remove(ticket)
        let turns = serve()
        lock.unlock()
        if case .barrier(let start) = waiter { start(.withdrawn) }
        for turn in turns { turn() }
    }

    /// How many accesses wait, and how many places they take.
    var waiting: (count: Int, capacity: Int) {
        lock.withLock { (hasty.count + waiters.count, hasty.count + waiters.capacity) }
    }

    /// Whether a reader holds a lock that keeps others out.
    var holdsLock: Bool { connections.contains(where: \.holdsLock) }

    /// Keeps the readers from holding locks that keep others out: those that are open, and those that open later.
    func setSuspended(_ isSuspended: Bool) {
        lock.withLock {
            self.isSuspended = isSuspended
            for reader in idle + busy { isSuspended ? reader.connection?.suspendLocks() : reader.connection?.resume() }
        }
    }

    /// Gives a reader back, and serves who waits.
    func checkIn(_ reader: Reader) {
        lock.lock()
        let index = busy.firstIndex { $0 === reader }!
        busy.swapAt(index, busy.count - 1)
        busy.removeLast()
        let isKept = !reader.isInvalidated && reader.connection != nil && idle.count + busy.count < limit
        if isKept { idle.append(reader) }
        if waiters.isEmpty, hasty.isEmpty, isKept { return lock.unlock() }
        let turns = serve()
        lock.unlock()
        if !isKept { reader.connection?.retire() }
        for turn in turns { turn() }
    }

    /// The reader's connection, opened when it is the first time.
    func connection(of reader: Reader, by path: AccessPath = .queue) throws -> SerializedConnection {
        if let connection = reader.connection {
            if connection.appliedSetups < reader.requiredSetups { try setUp(connection, by: path) }
            return connection
        }
        let connection = try SerializedConnection(
            path: self.path, configuration: configuration, queue: reader.queue, target: target, by: path, group: group)
        try setUp(connection, by: path)
        lock.lock()
        reader.connection = connection
        if isSuspended { connection.suspendLocks() }
        lock.unlock()
        return connection
    }

    /// Adds a set-up that readers go through before their next access.
    func addSetup(_ subject: LaterSetups.Subject, _ setup: @escaping LaterSetups.Setup) {
        lock.lock()
        let former = setups.add(subject, setup)
        lock.unlock()
        // What the program's function holds may go with it, and use the database when it goes: not under the lock.
        withExtendedLifetime(former) {}
    }

    /// How many set-ups a new connection goes through.
    var setupCount: Int { lock.withLock { setups.count } }

    /// Tells the pool's snapshots apart.
    func nextSnapshotNumber() -> Int {
        lock.lock()
        defer { lock.unlock() }
        snapshotNumber += 1
        return snapshotNumber
    }

    /// Lets a connection that is not one of the readers go through all set-ups.
    func setUpFully(_ db: Database) throws {
        let all = lock.withLock { setups.missing(since: 0) }
        for setup in all { try setup(db) }
    }

    private func setUp(_ connection: SerializedConnection, by path: AccessPath) throws {
        let (missing, version) = lock.withLock { (setups.missing(since: connection.appliedSetups), setups.version) }
        guard !missing.isEmpty else { return }
        try connection.sync(by: path) { db in
            for setup in missing { try setup(db) }
        }
        connection.appliedSetups = version
    }

    /// Runs `write`, to which a thread has come inside of a read. Who has the writer meanwhile waits for no reader.
    func duringWriteInRead<T>(_ write: () throws -> T) rethrows -> T {
        lock.lock()
        writingReads += 1
        let turns = serve()
        lock.unlock()
        for turn in turns { turn() }
        defer { lock.withLock { writingReads -= 1 } }
        return try write()
    }

    // MARK: - Barriers

    /// Waits until no reader is in use. Those who come meanwhile wait, until ``lowerBarrier()``.
    ///
    /// - parameter withdrawal: gets the function that ends the wait.
    func raiseBarrier(withdrawal: (@escaping @Sendable () -> Void) -> Void = { _ in }) -> BarrierTurn {
        let turn = Turn<BarrierTurn>()
        let ticket = enqueueBarrier(turn.end)
        withdrawal { self.withdraw(ticket) }
        return turn.wait(before: { target?.requireConcurrency() })
    }

    /// The same, or the error that the pool is closed.
    func raiseBarrierOrThrow() throws {
        if raiseBarrier() == .closed { throw DatabaseError.closed }
    }

    /// Runs `block` when no reader is in use, later; not when the pool is closed.
    func asyncBarrier(_ block: @escaping @Sendable () -> Void) {
        enqueueBarrier { turn in
            guard turn == .up else { return }
            DispatchQueue.global().async {
                block()
                self.lowerBarrier()
            }
        }
    }

    @discardableResult
    private func enqueueBarrier(_ start: @escaping @Sendable (BarrierTurn) -> Void) -> Ticket {
        lock.lock()
        let ticket = waiters.append(.barrier(start))
        let turns = serve()
        lock.unlock()
        for turn in turns { turn() }
        return ticket
    }

    func lowerBarrier() {
        lock.lock()
        isBarrierUp = false
        let turns = serve()
        lock.unlock()
        for turn in turns { turn() }
    }

    // MARK: - All readers

    /// What follows runs with new connections; accesses that run go on with theirs.
    func invalidate() {
        lock.lock()
        let connections = idle.compactMap(\.connection)
        idle = []
        for reader in busy { reader.isInvalidated = true }
        lock.unlock()
        // An idle reader has nothing alive but statements that its user kept: they keep it open, unreachable, until they go.
        for connection in connections { connection.retire() }
    }

    /// Gives back memory that the readers which nobody uses can do without.
    func releaseMemory() {
        lock.lock()
        let readers = idle
        idle = []
        busy += readers
        lock.unlock()
        for reader in readers {
            reader.connection?.sync(by: .direct) { $0.releaseMemory() }
            checkIn(reader)
        }
    }

    /// The connections that are open at this moment.
    var connections: [SerializedConnection] {
        lock.lock()
        defer { lock.unlock() }
        return (idle + busy).compactMap(\.connection)
    }

    /// Closes all readers for good, and then runs `finish`: call it inside of a barrier.
    ///
    /// - throws: `SQLITE_BUSY` when a statement of a reader is alive, and what `finish` throws; the pool stays open then.
    func close(then finish: () throws -> Void) throws {
        lock.withLock { isClosing = true }
        defer { lock.withLock { isClosing = false } }
        while let reader = lock.withLock({ idle.last }) {
            try reader.connection?.sync(by: .direct) { try $0.close() }
            lock.withLock { idle.removeAll { $0 === reader } }
        }
        try finish()
        lock.withLock { isClosed = true }
    }

    // MARK: - Under the lock

    /// Who closes the pool, inside of a barrier, can't open readers anew.
    private func isRefused(_ haste: Haste) -> Bool { isClosed || isClosing && haste != .inLine }

    private func takeReader(_ haste: Haste) -> Reader? {
        if haste == .inLine, isBarrierUp || !waiters.isEmpty || !hasty.isEmpty { return nil }
        return isRefused(haste) ? nil : freeReader(pastLimit: haste == .atOnce || haste == .ahead && writingReads > 0)
    }

    private func freeReader(pastLimit: Bool = false) -> Reader? {
        if let reader = idle.popLast() {
            reader.requiredSetups = setups.version
            busy.append(reader)
            return reader
        }
        guard pastLimit || busy.count < limit else { return nil }
        number += 1
        let reader = Reader(queue: DispatchQueue(label: "\(label).reader.\(number)", qos: configuration.readQoS))
        busy.append(reader)
        return reader
    }

    /// Whose turn it is now. To be called when the lock is released.
    private func serve() -> [() -> Void] {
        var turns: [() -> Void] = []
        while let use = hasty.first {
            guard let reader = freeReader(pastLimit: writingReads > 0) else { return turns }
            hasty.removeFirst()
            turns.append { use(.success(reader)) }
        }
        while !isBarrierUp, let first = waiters.first {
            switch first {
            case .barrier(let start):
                if isClosed {
                    turns.append { start(.closed) }
                } else {
                    guard busy.isEmpty else { return turns }
                    isBarrierUp = true
                    turns.append { start(.up) }
                }
            case .reader(let use):
                if isClosed {
                    turns.append { use(.failure(DatabaseError.closed)) }
                } else {
                    guard let reader = freeReader() else { return turns }
                    turns.append { use(.success(reader)) }
                }
            }
            waiters.removeFirst()
        }
        return turns
    }
}

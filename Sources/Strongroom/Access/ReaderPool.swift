import CStrongroom
import Dispatch
import Foundation

/// A reader of a pool: a queue, and the connection once the reader was used.
///
/// Sendable because it belongs to one access at a time, from ``ReaderPool/checkOut()`` to ``ReaderPool/checkIn(_:)``.
final class Reader: @unchecked Sendable {
    let queue: DispatchQueue

    /// Written under the pool's lock, by the access that has the reader.
    @exclusivity(unchecked) fileprivate(set) var connection: SerializedConnection?

    /// Whether the connection is closed, and not used again, when its access ends.
    @exclusivity(unchecked) fileprivate var isInvalidated = false

    /// How many of the later set-ups the connection has to have gone through. Written under the pool's lock.
    @exclusivity(unchecked) fileprivate var requiredSetups = 0

    fileprivate init(queue: DispatchQueue) {
        self.queue = queue
    }
}

/// The readers of a database pool, and the accesses that wait for one: first come, first served.
///
/// Sendable because its variables are read and written under `lock` only.
final class ReaderPool: @unchecked Sendable {
    let path: String
    private let label: String
    private let configuration: Configuration
    private let limit: Int

    // Unchecked exclusivity: what the lock orders can't overlap, and each read comes by here.
    private let lock = NSLock()
    @exclusivity(unchecked) private var idle: [Reader] = []
    @exclusivity(unchecked) private var busy: [Reader] = []
    @exclusivity(unchecked) private var waiters = Waiters()
    @exclusivity(unchecked) private var setups: [@Sendable (Database) throws -> Void] = []
    private var number = 0
    private var snapshotNumber = 0
    private var isBarrierUp = false
    private var isClosed = false

    init(path: String, label: String, configuration: Configuration) {
        self.path = path
        self.label = label
        self.configuration = configuration
        self.limit = configuration.maximumReaderCount
    }

    /// What the readers have in common, and no other connection has.
    var group: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

    /// Whether reads may take the short cut: the application's own queue may have other work to wait for.
    var takesFastLane: Bool { configuration.targetQueue == nil }

    /// Whether the calling thread is inside an access to one of the readers.
    var isAccessed: Bool { strongroom_innermost_in_group(group) != nil }

    // MARK: - Readers

    /// Waits for a reader. Give it back with ``checkIn(_:)``.
    func checkOut() throws -> Reader {
        lock.lock()
        if let reader = takeReader() {
            lock.unlock()
            return reader
        }
        if isClosed {
            lock.unlock()
            throw Self.closedError
        }
        let turn = Turn()
        waiters.append(.reader { turn.end(with: $0) })
        lock.unlock()
        return try turn.wait()
    }

    /// Takes a reader whose connection is open, if one is free at once.
    func checkOutOpenReader() -> Reader? {
        lock.lock()
        defer { lock.unlock() }
        guard idle.last?.connection != nil else { return nil }
        return takeReader()
    }

    /// Calls `use` with a reader, now or when there is one. `use` must not work on the calling thread.
    func checkOut(_ use: @escaping @Sendable (Result<Reader, any Error>) -> Void) {
        lock.lock()
        if let reader = takeReader() {
            lock.unlock()
            return use(.success(reader))
        }
        if isClosed {
            lock.unlock()
            return use(.failure(Self.closedError))
        }
        waiters.append(.reader(use))
        lock.unlock()
    }

    /// Gives a reader back, and serves who waits.
    ///
    /// - parameter isOnQueue: whether the calling thread works on the reader's queue already.
    func checkIn(_ reader: Reader, isOnQueue: Bool = false) {
        lock.lock()
        let index = busy.firstIndex { $0 === reader }!
        busy.swapAt(index, busy.count - 1)
        busy.removeLast()
        let isKept = !reader.isInvalidated && reader.connection != nil
        if isKept { idle.append(reader) }
        if waiters.isEmpty, isKept { return lock.unlock() }
        let turns = serve()
        lock.unlock()
        if !isKept, let connection = reader.connection { connection.sync(isOnQueue: isOnQueue) { $0.abandon() } }
        for turn in turns { turn() }
    }

    /// The reader's connection, opened when it is the first time.
    ///
    /// - parameter isOnQueue: whether the calling thread works on the reader's queue already.
    func connection(of reader: Reader, isOnQueue: Bool = false) throws -> SerializedConnection {
        if let connection = reader.connection {
            if connection.appliedSetups < reader.requiredSetups { try setUp(connection, isOnQueue: isOnQueue) }
            return connection
        }
        let connection = try SerializedConnection(
            path: path, configuration: configuration, queue: reader.queue, isOnQueue: isOnQueue, group: group)
        try setUp(connection, isOnQueue: isOnQueue)
        lock.lock()
        reader.connection = connection
        lock.unlock()
        return connection
    }

    /// Adds a set-up that readers go through before their next access.
    func addSetup(_ setup: @escaping @Sendable (Database) throws -> Void) {
        lock.lock()
        setups.append(setup)
        lock.unlock()
    }

    /// Tells the pool's snapshots apart.
    func nextSnapshotNumber() -> Int {
        lock.lock()
        defer { lock.unlock() }
        snapshotNumber += 1
        return snapshotNumber
    }

    /// Lets a connection that is not one of the readers go through all set-ups.
    func setUpFully(_ db: Database) throws {
        lock.lock()
        let setups = setups
        lock.unlock()
        for setup in setups { try setup(db) }
    }

    private func setUp(_ connection: SerializedConnection, isOnQueue: Bool) throws {
        lock.lock()
        let missing = setups.dropFirst(connection.appliedSetups)
        lock.unlock()
        guard !missing.isEmpty else { return }
        try connection.sync(isOnQueue: isOnQueue) { db in
            for setup in missing { try setup(db) }
        }
        connection.appliedSetups += missing.count
    }

    /// Runs `block` while no reader is in use. Those who come meanwhile wait.
    ///
    /// - throws: only when the pool is closed.
    func barrier<T>(_ block: () throws -> T) throws -> T {
        lock.lock()
        if isClosed {
            lock.unlock()
            throw Self.closedError
        }
        let turn = Turn()
        waiters.append(.barrier { turn.end(with: nil) })
        let turns = serve()
        lock.unlock()
        for turn in turns { turn() }
        turn.waitForBarrier()
        defer { lowerBarrier() }
        return try block()
    }

    /// Runs `block` when no reader is in use, later.
    func asyncBarrier(_ block: @escaping @Sendable () -> Void) {
        lock.lock()
        waiters.append(.barrier {
            DispatchQueue.global().async {
                block()
                self.lowerBarrier()
            }
        })
        let turns = serve()
        lock.unlock()
        for turn in turns { turn() }
    }

    private func lowerBarrier() {
        lock.lock()
        isBarrierUp = false
        let turns = serve()
        lock.unlock()
        for turn in turns { turn() }
    }

    /// What follows runs with new connections; accesses that run go on with theirs.
    func invalidate() {
        lock.lock()
        let connections = idle.compactMap(\.connection)
        idle = []
        for reader in busy { reader.isInvalidated = true }
        lock.unlock()
        // An idle reader has nothing alive but statements that its user kept: they keep it open, unreachable, until they go.
        for connection in connections { connection.sync { $0.abandon() } }
    }

    /// The connections that are open at this moment.
    var connections: [SerializedConnection] {
        lock.lock()
        defer { lock.unlock() }
        return (idle + busy).compactMap(\.connection)
    }

    /// Closes all readers for good: call it inside of a barrier.
    ///
    /// - throws: `SQLITE_BUSY` when a statement of a reader is alive; the pool stays open then.
    func close(then finish: () throws -> Void) throws {
        lock.lock()
        let readers = idle
        lock.unlock()
        for reader in readers { try reader.connection?.sync { try $0.close() } }
        lock.lock()
        idle = []
        lock.unlock()
        try finish()
        lock.lock()
        isClosed = true
        lock.unlock()
    }

    static var closedError: DatabaseError {
        .closed
    }

    // MARK: - Under the lock

    private func takeReader() -> Reader? {
        guard !isClosed, !isBarrierUp, waiters.isEmpty else { return nil }
        return freeReader()
    }

    private func freeReader() -> Reader? {
        if let reader = idle.popLast() {
            reader.requiredSetups = setups.count
            busy.append(reader)
            return reader
        }
        guard busy.count < limit else { return nil }
        number += 1
        let reader = Reader(queue: DispatchQueue(
            label: "\(label).reader.\(number)", qos: configuration.readQoS, target: configuration.targetQueue))
        busy.append(reader)
        return reader
    }

    /// Whose turn it is now. To be called when the lock is released.
    private func serve() -> [() -> Void] {
        var turns: [() -> Void] = []
        while !isBarrierUp, let first = waiters.first {
            switch first {
            case .barrier(let start):
                guard busy.isEmpty else { return turns }
                isBarrierUp = true
                turns.append(start)
            case .reader(let use):
                if isClosed {
                    turns.append { use(.failure(Self.closedError)) }
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

/// Accesses that wait, in the order in which they came.
private struct Waiters {
    enum Waiter {
        case reader(@Sendable (Result<Reader, any Error>) -> Void)
        case barrier(() -> Void)
    }

    private var waiters: [Waiter?] = []
    private var head = 0

    var isEmpty: Bool { head == waiters.count }
    var first: Waiter? { isEmpty ? nil : waiters[head] }

    mutating func append(_ waiter: Waiter) {
        waiters.append(waiter)
    }

    mutating func removeFirst() {
        waiters[head] = nil
        head += 1
        if head == waiters.count {
            waiters.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64, head * 2 >= waiters.count {
            waiters.removeFirst(head)
            head = 0
        }
    }
}

/// A thread that waits for its turn. The semaphore orders the one write before the one read.
private final class Turn: @unchecked Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private var result: Result<Reader, any Error>?

    func end(with result: Result<Reader, any Error>?) {
        self.result = result
        semaphore.signal()
    }

    func wait() throws -> Reader {
        semaphore.wait()
        return try result!.get()
    }

    func waitForBarrier() {
        semaphore.wait()
    }
}

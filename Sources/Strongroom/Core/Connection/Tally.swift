import Dispatch

/// The figures of one queue or pool, which its connections count and any thread reads.
///
/// A connection counts in a block of its own. The block of a closed connection goes to the next one and keeps its
/// counts, because only sums are read. Blocks live as long as the tally, which each connection holds.
final class Tally: Sendable {
    /// The accesses of a kind that waited.
    struct Waits {
        var count = 0
        var nanoseconds: UInt64 = 0
        var longest: UInt64 = 0

        fileprivate mutating func add(_ duration: UInt64) {
            count += 1
            nanoseconds += duration
            longest = max(longest, duration)
        }
    }

    /// A duration that was measured, in nanoseconds.
    enum Measurement: Sendable {
        /// An access has waited for its connection.
        case wait(AccessKind, UInt64)

        /// An observation has fetched a value.
        case observationFetch(UInt64)

        /// An observation notifies a value, after the change that led to it.
        case observationLatency(UInt64)
    }

    /// A failure because the disk was full.
    struct FullDisk {
        /// The number of the writer's commits at that time.
        let commits: UInt64

        /// The free bytes at that time.
        let room: Int64
    }

    private struct State {
        var all: [WorkCounts] = []
        var free: [WorkCounts] = []
        var waits: [AccessKind: Waits] = [:]
        var observationFetches = 0
        var fullDisk: FullDisk?
        var listeners: [@Sendable (Measurement) -> Void] = []
    }

    private let state = Mutex(State())

    deinit {
        for counts in state.withLock(\.all) { counts.free() }
    }

    // MARK: - Counting

    /// Returns counts for one connection.
    func take() -> WorkCounts {
        state.withLock { state in
            if let counts = state.free.popLast() { return counts }
            let counts = WorkCounts()
            state.all.append(counts)
            return counts
        }
    }

    func giveBack(_ counts: WorkCounts) {
        state.withLock { $0.free.append(counts) }
    }

    /// The clock of all measurements, in nanoseconds.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// Records that an access has waited since `start`.
    func didWait(_ kind: AccessKind, since start: UInt64) {
        let duration = Self.now &- start
        let listeners = state.withLock { state in
            state.waits[kind, default: Waits()].add(duration)
            return state.listeners
        }
        for listener in listeners { listener(.wait(kind, duration)) }
    }

    func countObservationFetch() {
        state.withLock { $0.observationFetches += 1 }
    }

    func noteFullDisk(_ fullDisk: FullDisk) {
        state.withLock { $0.fullDisk = fullDisk }
    }

    // MARK: - Listening

    /// Calls `listener` with each measurement from now on, on the thread that has measured.
    func listen(_ listener: @escaping @Sendable (Measurement) -> Void) {
        state.withLock { $0.listeners.append(listener) }
    }

    /// True if durations of observations are to be measured.
    var isListening: Bool { state.withLock { !$0.listeners.isEmpty } }

    func report(_ measurement: Measurement) {
        for listener in state.withLock(\.listeners) { listener(measurement) }
    }

    // MARK: - Reading

    /// The sum of all connections.
    func count(of work: CountedWork) -> Int {
        state.withLock { $0.all.reduce(0) { $0 + $1[work] } }
    }

    func waits(of kind: AccessKind) -> Waits { state.withLock { $0.waits[kind] ?? Waits() } }

    var observationFetches: Int { state.withLock(\.observationFetches) }

    /// The latest failure because the disk was full. Nil if there was none.
    var fullDisk: FullDisk? { state.withLock(\.fullDisk) }
}

extension Database {
    /// The counts of the connection, and its end as other threads see it.
    @inline(__always)
    var figures: ConnectionFigures { ConnectionFigures(connection) }
}

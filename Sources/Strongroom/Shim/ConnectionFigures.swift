import CStrongroom

/// A kind of work that connections count.
enum CountedWork {
    /// Accesses of connections that only read.
    case reads
    /// Accesses of connections that write, including those that read with them.
    case writes
    /// Of these, those that only read.
    case queueReads
    /// Statements that were found in a cache.
    case cachedStatements
    case compiledStatements
    case checkpoints
    case busyWaits

    fileprivate var place: CInt {
        switch self {
        case .reads: CInt(STRONGROOM_READS)
        case .writes: CInt(STRONGROOM_WRITES)
        case .queueReads: CInt(STRONGROOM_QUEUE_READS)
        case .cachedStatements: CInt(STRONGROOM_CACHED)
        case .compiledStatements: CInt(STRONGROOM_COMPILED)
        case .checkpoints: CInt(STRONGROOM_CHECKPOINTS)
        case .busyWaits: CInt(STRONGROOM_BUSY_WAITS)
        }
    }
}

/// The counts of one connection at a time. Any thread may read them.
struct WorkCounts: @unchecked Sendable {
    fileprivate let counts: UnsafeMutablePointer<UInt64>

    init() {
        counts = .allocate(capacity: STRONGROOM_COUNTS)
        counts.initialize(repeating: 0, count: STRONGROOM_COUNTS)
    }

    subscript(work: CountedWork) -> Int { Int(clamping: strongroom_counted(counts, work.place)) }

    func free() { counts.deallocate() }
}

/// The state of a connection for the figures and the end of its queue or pool: `strongroom_connection.h`.
struct ConnectionFigures {
    fileprivate let connection: ConnectionHandle

    @inline(__always)
    init(_ connection: ConnectionHandle) {
        self.connection = connection
    }

    /// Counts one piece of work of the calling thread. Does nothing without ``setCounts(_:)``.
    @inline(__always)
    func count(_ work: CountedWork) { strongroom_count(connection.pointer, work.place) }

    /// Sets the counts of the connection, which no other connection uses meanwhile. Nil for none.
    func setCounts(_ counts: WorkCounts?) { strongroom_set_counts(connection.pointer, counts?.counts) }

    /// True if new accesses are refused, because the database is about to be closed. Any thread may use it.
    var isLeaving: Bool {
        get { strongroom_is_leaving(connection.pointer) }
        nonmutating set { strongroom_set_leaving(connection.pointer, newValue) }
    }

    /// True once the connection is closed or abandoned. Any thread may read it.
    var isClosed: Bool { strongroom_connection_is_closed(connection.pointer) }
}

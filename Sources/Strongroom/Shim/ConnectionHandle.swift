import CStrongroom

/// The handle of a connection, which threads share: `strongroom_connection.h`.
///
/// The functions that any thread may call say so. The others belong to the thread that has access.
@usableFromInline
struct ConnectionHandle {
    @usableFromInline let pointer: UnsafeMutablePointer<strongroom_connection>

    @inlinable @inline(__always)
    init(_ pointer: UnsafeMutablePointer<strongroom_connection>) {
        self.pointer = pointer
    }

    /// The raw connection. Nil once it is closed.
    var sqliteConnection: SQLiteConnection? { pointer.pointee.db }

    // MARK: - Access

    /// True if the calling thread has access.
    @inlinable @inline(__always)
    var hasAccess: Bool { strongroom_has_access(pointer) }

    /// Ends the access. `former` is the result of ``enter()``.
    @inline(__always)
    func exit(_ former: UInt) { strongroom_exit(pointer, former) }

    /// Removes the calling thread's access while `place` runs, a function of the program in which SQLite does not allow
    /// any use of the connection. Returns the argument for ``unbar(_:)``.
    @inline(__always)
    func bar(_ place: StaticString) -> Barred { Barred(state: strongroom_bar(pointer, place.cString)) }

    @inline(__always)
    func unbar(_ former: Barred) { strongroom_unbar(pointer, former.state) }

    /// The state before the calling thread lost its access for a while.
    struct Barred {
        fileprivate let state: strongroom_barred
    }

    /// The running function of the program that must not use the connection. Any thread may read it.
    var barredPlace: String? { strongroom_barred_in(pointer).map { String(cString: $0) } }

    // MARK: - Stops

    /// The stops that prevent statements from running now. Any thread may read them.
    @inline(__always)
    var stops: StopSet { StopSet(rawValue: strongroom_stops(pointer)) }

    /// The stops that reach what runs now.
    var reach: Reach { Reach(rawValue: strongroom_reach(pointer)) }

    /// True if the connection holds a lock that keeps others out. Any thread may read it.
    var holdsLock: Bool { strongroom_connection_holds_lock(pointer) }

    // MARK: - Commits

    /// The number of counted transactions. Any thread may read it.
    var commits: UInt64 { strongroom_commits(pointer) }

    /// Counts a transaction of the calling thread.
    func countCommit() { strongroom_count_commit(pointer) }

    // MARK: - The state of the thread that has access

    /// True while a whole transaction is being rolled back.
    var isRollingBack: Bool {
        get { pointer.pointee.rolls_back }
        nonmutating set { pointer.pointee.rolls_back = newValue }
    }

    /// The reach around the statement that begins or ends a transaction.
    var outerReach: Reach {
        get { Reach(rawValue: pointer.pointee.outer_reach) }
        nonmutating set { pointer.pointee.outer_reach = newValue.rawValue }
    }

    /// Forgets that the statement was stopped: what SQLite does with the files from now on is not to undo.
    func forgetTrip() { pointer.pointee.tripped = false }

    /// Records that the access has met a stop.
    func noteStop() { pointer.pointee.stopped = true }

    /// True if the most recent wait for a lock was ended by a stop.
    var waitWasStopped: Bool { pointer.pointee.wait_was_stopped }

    /// Names the group of the connections of one pool.
    func join(_ group: UInt) { pointer.pointee.group = group }

    /// Records that the program's set-up function has run.
    func noteSetUp() { pointer.pointee.is_set_up = true }

    /// True if SQLCipher would free a secret twice: the connection can't be freed.
    var isUnfreeable: Bool { pointer.pointee.unfreeable }
}

extension StaticString {
    /// The text for C, which may keep the pointer.
    var cString: UnsafePointer<CChar> { UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) }
}

import CStrongroom

// The stops of a connection: `strongroom_stops.h`.

extension ConnectionHandle {
    /// The reasons to stop.
    struct StopSet: OptionSet {
        let rawValue: UInt32

        /// The database may hold no lock that keeps others out.
        static let suspended = StopSet(rawValue: UInt32(STRONGROOM_SUSPENDED))
        /// The task of the access was cancelled.
        static let cancelled = StopSet(rawValue: UInt32(STRONGROOM_CANCELLED))
        /// The running work was interrupted.
        static let interrupted = StopSet(rawValue: UInt32(STRONGROOM_INTERRUPTED))
        /// A suspension has rolled back a transaction between two accesses.
        static let undone = StopSet(rawValue: UInt32(STRONGROOM_UNDONE))
        /// The database is being locked.
        static let locked = StopSet(rawValue: UInt32(STRONGROOM_LOCKED))

        /// Returns the stops that end statements and their file operations.
        func reaching(_ reach: Reach) -> StopSet { StopSet(rawValue: rawValue & reach.rawValue & 0xff) }

        /// Returns the stops that end waits for locks.
        func reachingWaits(_ reach: Reach) -> StopSet { StopSet(rawValue: rawValue & reach.rawValue >> 8) }
    }

    /// The stops that reach some work.
    struct Reach {
        let rawValue: UInt32

        fileprivate static let interruptions = UInt32(STRONGROOM_INTERRUPTED | STRONGROOM_INTERRUPTED << 8)

        var isOutOfInterruptions: Bool { rawValue & Self.interruptions == 0 }

        /// Observers of a transaction: they must not hold a lock of a suspended database.
        static let notified = Reach(rawValue: UInt32(STRONGROOM_REACH_NOTIFIED))
        /// Compiling, `BEGIN` and `COMMIT`: done or not done, and never halfway.
        static let waits = Reach(rawValue: UInt32(STRONGROOM_REACH_WAITS))
        /// Closing: a suspended database leaves its log where it is.
        static let closing = Reach(rawValue: UInt32(STRONGROOM_REACH_CLOSING))
        /// Undoing.
        static let nothing = Reach(rawValue: UInt32(STRONGROOM_REACH_NOTHING))
    }

    // MARK: - Reach

    /// Limits the stops that reach the calling thread's work. Returns the former reach, to be restored.
    func narrow(to reach: Reach) -> Reach { Reach(rawValue: strongroom_narrow(pointer, reach.rawValue)) }

    /// Lets interruptions reach the work, too. Returns the former reach, to be restored.
    func widenToInterruptions() -> Reach {
        let former = reach
        restore(Reach(rawValue: former.rawValue | Reach.interruptions))
        return former
    }

    /// - parameter forgets: true to end an interruption of the work that has ended.
    func restore(_ former: Reach, forgettingInterruption forgets: Bool = false) {
        strongroom_restore_reach(pointer, former.rawValue)
        if forgets { strongroom_forget_interruption(pointer) }
    }

    /// A statement commits, and then checkpoints: until it has ended, stops only reach its waits.
    func commitBegins() { strongroom_commit_begins(pointer) }

    func commitEnds() { strongroom_commit_ends(pointer) }

    /// The stops of the running work.
    var reachingStops: StopSet { StopSet(rawValue: strongroom_reaching_stops(pointer)) }

    // MARK: - Stopping, from any thread

    /// Interrupts the running work. Has no effect on an idle connection.
    func interrupt() { strongroom_connection_interrupt(pointer) }

    /// Prevents the connection from taking or holding locks that keep others out.
    ///
    /// - parameter interrupts: true to interrupt the running work even if it holds none.
    func suspend(interrupts: Bool) { strongroom_connection_suspend(pointer, interrupts) }

    func resume() { strongroom_connection_resume(pointer) }

    /// Stops the running access until it has ended. The caller ensures that the access is still the intended one.
    func cancel() { strongroom_connection_cancel(pointer) }

    func endCancellation() { strongroom_connection_end_cancellation(pointer) }

    // MARK: - With access

    /// Records that a transaction was rolled back without the knowledge of the next access, or that this access knows
    /// it.
    func setUndone(_ isUndone: Bool) { strongroom_connection_set_undone(pointer, isUndone) }

    /// True if the current access has met a stop.
    var wasStopped: Bool { strongroom_connection_was_stopped(pointer) }

    /// Ends the access. The next one has not met a stop.
    func endStops() { strongroom_connection_end_stops(pointer) }

    /// Lets SQLite clear an interruption of work that has ended. Returns false while a statement from before is alive.
    @discardableResult
    func settle() -> Bool { strongroom_connection_settle(pointer) }

    /// Begins a statement: an interruption before it has no effect on it. Returns the stops that prevent it.
    @discardableResult
    func beginStatement() -> StopSet { StopSet(rawValue: strongroom_connection_begin(pointer)) }

    // MARK: - Waiting

    /// Returns true if a wait is pointless because the access was stopped. Each busy handler calls it first.
    func stopsWait(tries: CInt) -> Bool { strongroom_connection_stops_wait(pointer, tries) }

    /// Returns true once if a stop has ended the most recent wait for a lock.
    func endWait() -> Bool { strongroom_connection_end_wait(pointer) }

    /// Waits for locks like `sqlite3_busy_timeout`, but not for an access that was stopped. Returns a result code.
    func setBusyTimeout(milliseconds: CInt) -> CInt { strongroom_connection_busy_timeout(pointer, milliseconds) }

    // MARK: - Watching

    /// Calls `watch` every few milliseconds of a statement, instead of looking for stops. For a connection that is not
    /// shared.
    func watch(
        _ watch: @escaping @convention(c) (UnsafeMutableRawPointer?) -> CInt, _ context: UnsafeMutableRawPointer
    ) {
        strongroom_connection_watch(pointer, watch, context)
    }

    func endWatch() { strongroom_connection_watch(pointer, nil, nil) }
}

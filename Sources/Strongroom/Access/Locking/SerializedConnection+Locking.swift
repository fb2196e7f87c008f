// A connection that is closed while the database is locked.

extension SerializedConnection {
    /// Stops the running access, and those that come, until the connection is closed.
    func stopForLock() {
        handle.stop()
    }

    func endStopForLock() {
        handle.endStop()
    }

    /// Calls `react` at each suspension, until it is removed. Returns the argument for the removal.
    func addSuspensionReaction(_ react: @escaping @Sendable () -> Void) -> Int {
        suspensionReactions.withLock { reactions in
            let number = (reactions.keys.max() ?? 0) + 1
            reactions[number] = react
            return number
        }
    }

    func removeSuspensionReaction(_ number: Int) {
        let former = suspensionReactions.withLock { $0.removeValue(forKey: number) }
        withExtendedLifetime(former) {}
    }

    /// The use of the connection so far. Any thread may read it.
    var activity: Activity {
        Activity(count: handle.accessCount, isRunning: handle.isAccessed)
    }
}

/// The use of connections: those whose use has not changed between two looks were idle.
struct Activity: Equatable {
    var count: UInt64 = 0
    var isRunning = false

    static func + (a: Activity, b: Activity) -> Activity {
        Activity(count: a.count &+ b.count, isRunning: a.isRunning || b.isRunning)
    }
}

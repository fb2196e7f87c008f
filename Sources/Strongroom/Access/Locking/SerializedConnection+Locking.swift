// A connection that is closed while the database is locked.

extension SerializedConnection {
    /// Stops the running access, and those that come, until the connection is closed.
    func stopForLock() {
        handle.lock()
    }

    func endStopForLock() {
        handle.endLock()
    }

    /// The use of the connection so far. Any thread may read it.
    var activity: Activity {
        Activity(count: handle.accessCount, isRunning: handle.isAccessed)
    }
}

/// How much connections were used: what has not changed between two looks was idle.
struct Activity: Equatable {
    var count: UInt64 = 0
    var isRunning = false

    static func + (a: Activity, b: Activity) -> Activity {
        Activity(count: a.count &+ b.count, isRunning: a.isRunning || b.isRunning)
    }
}

// Snapshots, which end with a lock: their connections use the key of the pool.

extension DatabaseLock {
    /// The snapshots of a pool, and those whose connection may be open.
    struct Snapshots {
        struct Living {
            let number: Int
            weak var connection: SerializedConnection?
        }

        fileprivate(set) var living: [Living] = []
        fileprivate var open: Set<Int> = []
        fileprivate var atEnd: Handover<Void>?
        fileprivate var lastNumber = 0
    }

    /// Ends a snapshot with the next lock.
    func add(_ snapshot: SerializedConnection) {
        let number = state.withLock { state in
            state.snapshots.lastNumber += 1
            state.snapshots.open.insert(state.snapshots.lastNumber)
            return state.snapshots.lastNumber
        }
        snapshot.didRetire = { [weak self] in self?.remove(number) }
        state.withLock { $0.snapshots.living.append(Snapshots.Living(number: number, connection: snapshot)) }
    }

    private func remove(_ number: Int) {
        state.withLock { $0.snapshots.living.removeAll { $0.number == number } }
        noteClosed(number)
    }

    private func noteClosed(_ number: Int) {
        let turn = state.withLock { state in
            state.snapshots.open.remove(number)
            return state.snapshots.open.isEmpty ? state.snapshots.atEnd.take() : nil
        }
        turn?.put(())
    }

    /// The snapshots that the program has. The last reference to one may be the returned one, so that it is released
    /// without a lock.
    var livingSnapshots: [SerializedConnection] { state.withLock { $0.snapshots.living }.compactMap(\.connection) }

    /// Closes all snapshots, and waits for those that other threads are releasing: nothing refers to them any more, and
    /// their connections are still open.
    func closeSnapshots() throws {
        for snapshot in state.withLock({ $0.snapshots.living }) {
            guard let connection = snapshot.connection else { continue }
            connection.stopForLock()
            try connection.sync(by: .direct) { try $0.close(refusing: .locked) }
            noteClosed(snapshot.number)
        }
        let turn: Handover<Void>? = state.withLock { state in
            guard !state.snapshots.open.isEmpty else { return nil }
            let turn = Handover<Void>()
            state.snapshots.atEnd = turn
            return turn
        }
        turn?.take {}
    }

    /// Tells the snapshots that were closed from those that go on after a lock that failed.
    func endSnapshots() {
        for snapshot in livingSnapshots {
            snapshot.endStopForLock()
            snapshot.sync(by: .direct) { db in
                if db.sqliteConnection == nil { db.refusal = .endedSnapshot }
            }
        }
    }
}

extension DatabaseError {
    /// The error of a snapshot that a lock has ended.
    fileprivate static let endedSnapshot = DatabaseError(
        refusing: "The snapshot has ended, because the database was locked", advice: "make another snapshot",
        reason: .closed, isConnectionUsable: false)
}

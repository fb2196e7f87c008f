// The library's own connections that use the key of a queue or pool: checks of the whole file, and snapshots that open.

extension DatabaseLock {
    /// Runs work with a connection of its own. A lock waits for its end.
    ///
    /// - throws: the reason `locked` while the database is locked, at the end of the time that accesses wait.
    func duringWork<T>(_ work: () throws -> T) throws -> T {
        if !beginWork() {
            // The lock waits for a thread that is inside of an access, and accesses for one that is their target's.
            guard !isInside, !isOnTarget, limit > 0 else { throw DatabaseError.locked }
            writer.line?.sync {}
            guard beginWork() else { throw DatabaseError.locked }
        }
        defer { endWork() }
        return try work()
    }

    private func beginWork() -> Bool {
        state.withLock { state in
            // The connection of a closed database reports that by itself.
            guard state.phase == .open || state.phase == .closed else { return false }
            state.workCount += 1
            return true
        }
    }

    private func endWork() {
        let turn = state.withLock { state in
            state.workCount -= 1
            return state.workCount == 0 ? state.atEndOfWork.take() : nil
        }
        turn?.put(())
    }

    /// Waits for the end of the work. No other work begins meanwhile.
    func awaitEndOfWork() {
        let turn: Handover<Void>? = state.withLock { state in
            guard state.workCount > 0 else { return nil }
            let turn = Handover<Void>()
            state.atEndOfWork = turn
            return turn
        }
        turn?.take {}
    }
}

extension DatabaseReader {
    /// Runs work with a connection of its own, which ends with a lock of the database.
    func duringWork<T>(_ work: () throws -> T) throws -> T {
        if let served { try served.databaseLock.duringWork(work) } else { try work() }
    }
}

import Foundation

// The readers while the database is locked: no access gets one, and none is open.

extension ReaderPool {
    /// A request for a reader that ends at the end of its time.
    struct LimitedWait {
        let ticket: Int
        let hold: WaitLimit
    }

    /// Stops the readers in use, and hands out none until ``endLocking(isClosed:)``: requests wait for so many seconds,
    /// and then throw an error.
    ///
    /// - returns: false if the pool is closed, or about to be.
    func beginLocking(limit seconds: TimeInterval) -> Bool {
        let hold = WaitLimit(seconds: seconds) { [weak self] hold, tickets in self?.refuse(tickets, hold) }
        let tickets: [Int]? = change { state in
            guard state.turnstile.beginLocking() else { return nil }
            state.hold = hold
            for reader in state.inUse + state.idle { reader.connection?.stopForLock() }
            return state.turnstile.tickets
        }
        guard let tickets else { return false }
        hold.begin(tickets)
        return true
    }

    /// Waits until no reader is in use.
    func awaitLast() {
        let turn = Handover<BarrierOutcome>()
        change { $0.turnstile.setLast(.barrier(turn.put)) }
        _ = turn.take { target?.requireConcurrency() }
    }

    /// Closes the readers, of which no access uses one, for a lock or at the end of the pool. Waits for those that
    /// another thread closes, or whose memory it releases: it may have taken them since the others have left.
    ///
    /// - throws: `SQLITE_BUSY` if a statement of a reader is alive. Its connection stays open.
    func closeIdle() throws {
        repeat {
            while let reader = state.withLock({ $0.idle.popLast() }) {
                do {
                    try reader.connection?.sync(by: .direct) { try $0.close() }
                } catch {
                    state.withLock { $0.idle.append(reader) }
                    throw error
                }
            }
            awaitLast()
        } while state.withLock({ !$0.idle.isEmpty })
    }

    /// Hands out readers again, or refuses all requests if the database was closed while it was locked.
    func endLocking(isClosed: Bool = false) {
        let former = change { state in
            defer { state.hold = nil }
            for reader in state.inUse + state.idle { reader.connection?.endStopForLock() }
            state.turnstile.endLocking(isClosed: isClosed)
            return state.hold
        }
        withExtendedLifetime(former) {}
    }

    /// Ends requests at the end of their time, if they still wait in the same hold.
    private func refuse(_ tickets: [Int], _ hold: WaitLimit) {
        let visitors = change { state in
            state.hold === hold ? tickets.compactMap { state.turnstile.withdraw($0) } : []
        }
        for visitor in visitors { visitor.refuse(DatabaseError.locked, .locked) }
    }

    /// The number of accesses to the readers, and whether one of them runs. The number also changes when readers are
    /// opened and closed.
    var activity: Activity {
        connections.reduce(Activity()) { $0 + $1.activity }
    }
}

extension ReaderPool.State {
    /// Takes the readers that are not in use, with their places. A lock, a close and barriers wait until the places are
    /// given back.
    mutating func takeIdle() -> [Reader] {
        defer { idle = [] }
        turnstile.occupy(idle.count)
        return idle
    }

    /// Returns the wait of a request while the database is locked. Nil while it is not.
    func limitedWait(_ ticket: Int) -> ReaderPool.LimitedWait? {
        hold.map { ReaderPool.LimitedWait(ticket: ticket, hold: $0) }
    }
}

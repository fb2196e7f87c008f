import Dispatch
import Foundation

// The readers while the database is locked: no access gets one, and none is open.

extension ReaderPool {
    /// The time that accesses wait in a locked database. A number distinguishes it from former ones.
    struct Hold {
        let limit: TimeInterval
        let number: Int
    }

    /// A request for a reader that ends at the end of its time.
    struct LimitedWait {
        let ticket: Int
        let hold: Hold
    }

    /// Stops the readers in use, and hands out none until ``endLocking(isClosed:)``: requests wait for so many seconds,
    /// and then throw an error.
    ///
    /// - returns: false if the pool is closed, or about to be.
    func beginLocking(limit seconds: TimeInterval) -> Bool {
        let waits: [LimitedWait]? = change { state in
            guard state.turnstile.beginLocking() else { return nil }
            state.holdNumber += 1
            let hold = Hold(limit: seconds, number: state.holdNumber)
            state.hold = hold
            for reader in state.inUse + state.idle { reader.connection?.stopForLock() }
            return state.turnstile.tickets.map { LimitedWait(ticket: $0, hold: hold) }
        }
        guard let waits else { return false }
        for wait in waits { limit(wait) }
        return true
    }

    /// Waits until no reader is in use.
    func awaitLast() {
        let turn = Handover<BarrierOutcome>()
        change { $0.turnstile.setLast(.barrier(turn.put)) }
        _ = turn.take { target?.requireConcurrency() }
    }

    /// Closes the readers, of which none is in use.
    ///
    /// - throws: `SQLITE_BUSY` if a statement of a reader is alive. Its connection stays open.
    func closeIdle() throws {
        while let reader = state.withLock({ $0.idle.popLast() }) {
            do {
                try reader.connection?.sync(by: .direct) { try $0.close() }
            } catch {
                state.withLock { $0.idle.append(reader) }
                throw error
            }
        }
    }

    /// Hands out readers again, or refuses all requests if the database was closed while it was locked.
    func endLocking(isClosed: Bool = false) {
        change { state in
            state.hold = nil
            for reader in state.inUse + state.idle { reader.connection?.endStopForLock() }
            state.turnstile.endLocking(isClosed: isClosed)
        }
    }

    /// Ends a request at the end of its time, if it still waits in the same hold.
    func limit(_ wait: LimitedWait) {
        guard wait.hold.limit > 0 else { return refuse(wait) }
        DispatchQueue.global().asyncAfter(deadline: .now() + wait.hold.limit) { self.refuse(wait) }
    }

    private func refuse(_ wait: LimitedWait) {
        let visitor = change { state in
            state.hold?.number == wait.hold.number ? state.turnstile.withdraw(wait.ticket) : nil
        }
        if case .reader(let use) = visitor { use(.failure(DatabaseError.locked)) }
    }

    /// The number of accesses to the readers, and whether one of them runs. The number also changes when readers are
    /// opened and closed.
    var activity: Activity {
        connections.reduce(Activity()) { $0 + $1.activity }
    }
}

extension ReaderPool.State {
    /// Returns the wait of a request while the database is locked. Nil while it is not.
    func limitedWait(_ ticket: Int) -> ReaderPool.LimitedWait? {
        hold.map { ReaderPool.LimitedWait(ticket: ticket, hold: $0) }
    }
}

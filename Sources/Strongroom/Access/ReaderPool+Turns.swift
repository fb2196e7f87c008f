import Dispatch

// Those that wait at the turnstile of the readers, and their turns.

/// An access that runs on a worker when it has a reader.
struct ReaderWork: Sendable {
    let qos: DispatchQoS.QoSClass

    /// Runs the access, and checks the reader in. Returns the step with which the worker goes on.
    let run: @Sendable (Reader) -> Workers.Step?

    /// Called instead with the error of a refusal. It must not work on the calling thread.
    let refuse: @Sendable (any Error) -> Void

    func step(with reader: Reader) -> Workers.Step {
        Workers.Step { run(reader) }
    }

    func begin(with reader: Reader) {
        Workers.shared.run(qos: qos, step(with: reader))
    }

    /// Returns the same work, which waits from now on.
    func measured(by tally: Tally?) -> ReaderWork {
        guard let tally else { return self }
        let start = Tally.now
        return ReaderWork(qos: qos) { reader in
            tally.didWait(.read, since: start)
            return run(reader)
        } refuse: { error in
            tally.didWait(.read, since: start)
            refuse(error)
        }
    }
}

extension ReaderPool {
    enum Visitor {
        case thread(Handover<Result<Reader, any Error>>)
        case work(ReaderWork)
        case barrier(@Sendable (BarrierOutcome) -> Void)
    }

    /// The outcome of a barrier's wait.
    enum BarrierOutcome {
        case raised, withdrawn, closed

        /// The database is locked, or about to be.
        case locked

        /// The error of an access that needs the barrier. Nil if the barrier is up.
        var refusal: (any Error)? {
            switch self {
            case .raised: nil
            case .withdrawn: CancellationError()
            case .closed: DatabaseError.closed
            case .locked: DatabaseError.locked
            }
        }
    }

    /// A visitor whose turn has come.
    enum Turn {
        case work(ReaderWork, Reader)

        /// Does not block.
        case call(() -> Void)
    }

    /// Returns the turns that have come, to begin after the lock is released.
    func admitted(_ state: inout State) -> [Turn] {
        var turns: [Turn] = []
        while let admission = state.turnstile.next() {
            switch admission {
            case .admitted(.thread(let turn)):
                let reader = takeReader(&state)
                turns.append(.call { turn.put(.success(reader)) })
            case .admitted(.work(let work)): turns.append(.work(work, takeReader(&state)))
            case .admitted(.barrier(let start)): turns.append(.call { start(.raised) })
            case .refused(let visitor):
                let refusal = state.refusal, outcome: BarrierOutcome = state.turnstile.isLocked ? .locked : .closed
                turns.append(.call { visitor.refuse(refusal, outcome) })
            }
        }
        return turns
    }

    /// Begins the turns, but for the first work of a quality of service: the calling worker goes on with it, so that no
    /// other thread has to be woken.
    func begin(_ turns: [Turn], keeping qos: DispatchQoS.QoSClass? = nil) -> Workers.Step? {
        var kept: Workers.Step?
        for turn in turns {
            switch turn {
            case .call(let call): call()
            case .work(let work, let reader) where kept == nil && work.qos == qos: kept = work.step(with: reader)
            case .work(let work, let reader): work.begin(with: reader)
            }
        }
        return kept
    }
}

extension ReaderPool.Visitor {
    /// - parameter outcome: the outcome of a barrier's wait.
    func refuse(_ error: any Error, _ outcome: ReaderPool.BarrierOutcome) {
        switch self {
        case .thread(let turn): turn.put(.failure(error))
        case .work(let work): work.refuse(error)
        case .barrier(let start): start(outcome)
        }
    }
}

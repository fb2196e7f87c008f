import Dispatch

/// The accesses to a connection, one after the other, in order of arrival.
///
/// An access that blocks runs on its own thread. When it must wait, the access before it hands the line over to that
/// thread directly. Other accesses run on a thread of ``Workers``, which goes on with those that follow.
final class AccessLine: Sendable {
    typealias Work = @Sendable () -> Void

    private enum Visitor {
        case thread(Handover<Void>)
        case work(DispatchQoS.QoSClass, Work)
    }

    /// The figures that count the waits. Nil for none.
    private let tally: Tally?

    private struct State {
        var isTaken = false
        var line = Line<Visitor>()

        /// Releases the line, or returns the next visitor, which has it now.
        mutating func next() -> Visitor? {
            let visitor = line.takeFirst()
            isTaken = visitor != nil
            return visitor
        }
    }

    private let qos: DispatchQoS.QoSClass
    private let state = Mutex(State())

    init(qos: DispatchQoS, tally: Tally? = nil) {
        self.qos = qos.qosClass
        self.tally = tally
    }

    /// The number of accesses that wait.
    var waiting: Int { state.withLock(\.line.count) }

    /// Runs `work` on the calling thread, after the accesses that came before.
    func sync<T>(_ work: () throws -> T) rethrows -> T {
        enter()
        defer { leave() }
        return try work()
    }

    /// Runs `work` later on another thread, after the accesses that came before.
    ///
    /// - parameter priority: the priority of a task. That of the configuration applies if it is the default.
    func async(priority: TaskPriority = .medium, _ work: @escaping Work) {
        let qos = priority == .medium ? qos : DispatchQoS.QoSClass(priority)
        let isFree = state.withLock { state in
            if state.isTaken { _ = state.line.append(.work(qos, measured(work))) }
            defer { state.isTaken = true }
            return !state.isTaken
        }
        if isFree { begin(qos, work) }
    }

    private func enter() {
        let turn: Handover<Void>? = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            let turn = Handover<Void>()
            _ = state.line.append(.thread(turn))
            return turn
        }
        guard let turn else { return }
        let start = tally == nil ? 0 : Tally.now
        turn.take {}
        tally?.didWait(.write, since: start)
    }

    /// Returns work that has to wait from now on.
    private func measured(_ work: @escaping Work) -> Work {
        guard let tally else { return work }
        let start = Tally.now
        return {
            tally.didWait(.write, since: start)
            work()
        }
    }

    private func leave() {
        switch state.withLock({ $0.next() }) {
        case .thread(let turn): turn.put(())
        case .work(let qos, let work): begin(qos, work)
        case nil: break
        }
    }

    private func begin(_ qos: DispatchQoS.QoSClass, _ work: @escaping Work) {
        Workers.shared.run(qos: qos) { self.run(work) }
    }

    /// Runs `first`, and the work that follows, until the line is free or another thread has it.
    private func run(_ first: Work) {
        first()
        while let visitor = state.withLock({ $0.next() }) {
            switch visitor {
            case .thread(let turn): return turn.put(())
            case .work(qos, let work): work()
            case .work(let other, let work): return begin(other, work)
            }
        }
    }
}

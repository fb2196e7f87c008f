import Dispatch
import Foundation

/// The accesses to a connection, one after the other, in order of arrival.
///
/// An access that blocks runs on its own thread. When it must wait, the access before it hands the line over to that
/// thread directly. Other accesses run on a thread of ``Workers``, which goes on with those that follow.
///
/// While the line is held for a locked database, accesses wait for a limited time. Then they run past the line. Those
/// that don't need the database to be open do so immediately. Work that must come before all later accesses waits until
/// the line is released.
final class AccessLine: Sendable {
    typealias Work = @Sendable () -> Void

    private enum Visitor {
        /// A thread that waits. It gets true if it has the line.
        case thread(Handover<Bool>, waitsInHolds: Bool)
        case work(DispatchQoS.QoSClass, Work, staysInHolds: Bool)

        var passesHolds: Bool {
            if case .thread(_, waitsInHolds: false) = self { true } else { false }
        }

        /// True if a hold has a limit for it.
        var isLimited: Bool {
            switch self {
            case .thread(_, let waitsInHolds): waitsInHolds
            case .work(_, _, let staysInHolds): !staysInHolds
            }
        }
    }

    /// The figures that count the waits. Nil for none.
    private let tally: Tally?

    private struct State {
        var isTaken = false
        var line = Line<Visitor>()

        /// The time that accesses wait while the line is held. Nil while it is not.
        var hold: WaitLimit?

        /// The work that runs past the line, one after the other: all of it needs the same connection.
        var passed: [Work] = []
        var isPassing = false

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
    ///
    /// - parameter waitsInHolds: false to run past the line while it is held.
    func sync<T>(waitsInHolds: Bool = true, _ work: () throws -> T) rethrows -> T {
        let hasLine = enter(waitsInHolds)
        defer { if hasLine { leave() } }
        return try work()
    }

    /// Runs `work` later on another thread, after the accesses that came before.
    ///
    /// - parameters:
    ///   - priority: the priority of a task. That of the configuration applies if it is the default.
    ///   - staysInHolds: true to keep its place until a hold ends, whatever the limit.
    func async(priority: TaskPriority = .medium, staysInHolds: Bool = false, _ work: @escaping Work) {
        let qos = priority == .medium ? qos : DispatchQoS.QoSClass(priority)
        var wait: (ticket: Int, hold: WaitLimit)?
        let isFree = state.withLock { state in
            if state.isTaken {
                let ticket = state.line.append(.work(qos, measured(work), staysInHolds: staysInHolds))
                if !staysInHolds { wait = state.hold.map { (ticket, $0) } }
            }
            defer { state.isTaken = true }
            return !state.isTaken
        }
        if isFree { begin(qos, work) }
        if let wait { wait.hold.begin([wait.ticket]) }
    }

    /// Returns true if the calling thread has the line. Otherwise it runs past the line.
    private func enter(_ waitsInHolds: Bool) -> Bool {
        var wait: (ticket: Int, hold: WaitLimit)?
        var hasLine = true
        let turn: Handover<Bool>? = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            if !waitsInHolds, state.hold != nil {
                hasLine = false
                return nil
            }
            let turn = Handover<Bool>()
            let ticket = state.line.append(.thread(turn, waitsInHolds: waitsInHolds))
            wait = state.hold.map { (ticket, $0) }
            return turn
        }
        guard let turn else { return hasLine }
        if let wait { wait.hold.begin([wait.ticket]) }
        let start = tally == nil ? 0 : Tally.now
        let isInTurn = turn.take {}
        tally?.didWait(.write, since: start)
        return isInTurn
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

    // MARK: - Holding

    /// Takes the line before all accesses that wait. Until ``release()``, they and those that come wait for so many
    /// seconds, and then run past the line.
    ///
    /// - returns: a function that waits for the end of the running access.
    func hold(limit seconds: TimeInterval) -> () -> Void {
        let hold = WaitLimit(seconds: seconds) { [weak self] hold, tickets in self?.pass(tickets, hold) }
        let (turn, waiting, passing) = state.withLock { state -> (Handover<Bool>?, [Int], [Int]) in
            state.hold = hold
            let passing = state.line.tickets(where: \.passesHolds)
            let waiting = state.line.tickets(where: \.isLimited)
            guard state.isTaken else {
                state.isTaken = true
                return (nil, waiting, passing)
            }
            let turn = Handover<Bool>()
            state.line.prepend(.thread(turn, waitsInHolds: true))
            return (turn, waiting, passing)
        }
        pass(passing, hold)
        hold.begin(waiting)
        return { _ = turn?.take {} }
    }

    /// Ends the hold. The accesses that wait go on in their order.
    func release() {
        let former = state.withLock { $0.hold.take() }
        withExtendedLifetime(former) {}
        leave()
    }

    /// Lets accesses run past the line, if they still wait in the same hold.
    private func pass(_ tickets: [Int], _ hold: WaitLimit) {
        var turns: [Handover<Bool>] = []
        let mustRun = state.withLock { state in
            guard state.hold === hold else { return false }
            for ticket in tickets {
                switch state.line.remove(ticket) {
                case .thread(let turn, _): turns.append(turn)
                case .work(_, let work, _): state.passed.append(work)
                case nil: break
                }
            }
            if state.isPassing || state.passed.isEmpty { return false }
            state.isPassing = true
            return true
        }
        for turn in turns { turn.put(false) }
        if mustRun { Workers.shared.run(qos: qos, runPassed) }
    }

    private func runPassed() {
        while let all = takePassed() {
            for work in all { work() }
        }
    }

    /// Nil if no work is left.
    private func takePassed() -> [Work]? {
        state.withLock { state in
            state.isPassing = !state.passed.isEmpty
            defer { state.passed = [] }
            return state.isPassing ? state.passed : nil
        }
    }

    // MARK: - Turns

    private func leave() {
        switch state.withLock({ $0.next() }) {
        case .thread(let turn, _): turn.put(true)
        case .work(let qos, let work, _): begin(qos, work)
        case nil: break
        }
    }

    private func begin(_ qos: DispatchQoS.QoSClass, _ work: @escaping Work) {
        Workers.shared.run(qos: qos, step(qos, work))
    }

    private func step(_ qos: DispatchQoS.QoSClass, _ work: @escaping Work) -> Workers.Step {
        Workers.Step {
            work()
            return self.next(qos)
        }
    }

    /// Returns the work that follows, which has the line. Nil if the line is free, or another thread has it.
    private func next(_ qos: DispatchQoS.QoSClass) -> Workers.Step? {
        switch state.withLock({ $0.next() }) {
        case .thread(let turn, _): turn.put(true)
        case .work(qos, let work, _): return step(qos, work)
        case .work(let other, let work, _): begin(other, work)
        case nil: break
        }
        return nil
    }
}

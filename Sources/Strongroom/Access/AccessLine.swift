import Dispatch
import Foundation

/// The accesses to a connection, one after the other, in order of arrival.
///
/// An access that blocks runs on its own thread. When it must wait, the access before it hands the line over to that
/// thread directly. Other accesses run on a thread of ``Workers``, which goes on with those that follow.
///
/// While the line is held for a locked database, accesses wait for a limited time. Then they run past the line.
final class AccessLine: Sendable {
    typealias Work = @Sendable () -> Void

    private enum Visitor {
        /// A thread that waits. It gets true if it has the line.
        case thread(Handover<Bool>)
        case work(DispatchQoS.QoSClass, Work)
    }

    /// The figures that count the waits. Nil for none.
    private let tally: Tally?

    /// A hold of the line, which a number distinguishes from former ones.
    private struct Hold {
        let limit: TimeInterval
        let number: Int
    }

    private struct State {
        var isTaken = false
        var line = Line<Visitor>()
        var hold: Hold?
        var holdNumber = 0

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
        let hasLine = enter()
        defer { if hasLine { leave() } }
        return try work()
    }

    /// Runs `work` later on another thread, after the accesses that came before.
    ///
    /// - parameter priority: the priority of a task. That of the configuration applies if it is the default.
    func async(priority: TaskPriority = .medium, _ work: @escaping Work) {
        let qos = priority == .medium ? qos : DispatchQoS.QoSClass(priority)
        var wait: (ticket: Int, hold: Hold)?
        let isFree = state.withLock { state in
            if state.isTaken {
                let ticket = state.line.append(.work(qos, measured(work)))
                wait = state.hold.map { (ticket, $0) }
            }
            defer { state.isTaken = true }
            return !state.isTaken
        }
        if isFree { begin(qos, work) }
        if let wait { limit([wait.ticket], wait.hold) }
    }

    /// Returns true if the calling thread has the line. Otherwise it runs past the line.
    private func enter() -> Bool {
        var wait: (ticket: Int, hold: Hold)?
        let turn: Handover<Bool>? = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            let turn = Handover<Bool>()
            let ticket = state.line.append(.thread(turn))
            wait = state.hold.map { (ticket, $0) }
            return turn
        }
        guard let turn else { return true }
        if let wait { limit([wait.ticket], wait.hold) }
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
        let (turn, tickets, hold) = state.withLock { state -> (Handover<Bool>?, [Int], Hold) in
            state.holdNumber += 1
            let hold = Hold(limit: seconds, number: state.holdNumber)
            state.hold = hold
            let tickets = state.line.tickets
            guard state.isTaken else {
                state.isTaken = true
                return (nil, tickets, hold)
            }
            let turn = Handover<Bool>()
            state.line.prepend(.thread(turn))
            return (turn, tickets, hold)
        }
        limit(tickets, hold)
        return { _ = turn?.take {} }
    }

    /// Ends the hold. The accesses that wait go on in their order.
    func release() {
        state.withLock { $0.hold = nil }
        leave()
    }

    /// Lets accesses run past the line at the end of their time, if they still wait in the same hold.
    private func limit(_ tickets: [Int], _ hold: Hold) {
        if tickets.isEmpty { return }
        guard hold.limit > 0 else { return pass(tickets, hold) }
        DispatchQueue.global().asyncAfter(deadline: .now() + hold.limit) { self.pass(tickets, hold) }
    }

    private func pass(_ tickets: [Int], _ hold: Hold) {
        let visitors = state.withLock { state in
            state.hold?.number == hold.number ? tickets.compactMap { state.line.remove($0) } : []
        }
        for visitor in visitors {
            switch visitor {
            case .thread(let turn): turn.put(false)
            case .work(let qos, let work): Workers.shared.run(qos: qos, work)
            }
        }
    }

    // MARK: - Turns

    private func leave() {
        switch state.withLock({ $0.next() }) {
        case .thread(let turn): turn.put(true)
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
            case .thread(let turn): return turn.put(true)
            case .work(qos, let work): work()
            case .work(let other, let work): return begin(other, work)
            }
        }
    }
}

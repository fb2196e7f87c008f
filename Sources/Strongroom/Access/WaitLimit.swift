import Dispatch
import Foundation

/// The time that accesses wait while the database is locked. All of them wait equally long.
final class WaitLimit: Sendable {
    private struct State {
        /// The waits, in the order of their ends.
        var waits: [(ticket: Int, end: DispatchTime)] = []

        /// Nil while no access waits.
        var watch: RecurringWork?
    }

    private let seconds: TimeInterval
    private let expire: @Sendable (WaitLimit, [Int]) -> Void
    private let state = Mutex(State())

    /// - parameter expire: gets the tickets of accesses that have waited for so many seconds.
    init(seconds: TimeInterval, expire: @escaping @Sendable (WaitLimit, [Int]) -> Void) {
        (self.seconds, self.expire) = (seconds, expire)
    }

    /// Begins to count the time of accesses that wait.
    func begin(_ tickets: [Int]) {
        if tickets.isEmpty { return }
        guard seconds > 0 else { return expire(self, tickets) }
        state.withLock { state in
            let end = DispatchTime.now() + seconds
            state.waits += tickets.map { ($0, end) }
            if state.watch != nil { return }
            state.watch = RecurringWork { [weak self] in self?.expireNext() }
        }
    }

    /// Ends the waits whose time has come. Returns the end of the next one.
    private func expireNext() -> DispatchTime? {
        var former: RecurringWork?
        let (due, next) = state.withLock { state in
            let now = DispatchTime.now()
            let due = state.waits.prefix { $0.end <= now }.map(\.ticket)
            state.waits.removeFirst(due.count)
            if state.waits.isEmpty { former = state.watch.take() }
            return (due, state.waits.first?.end)
        }
        withExtendedLifetime(former) {}
        if !due.isEmpty { expire(self, due) }
        return next
    }
}

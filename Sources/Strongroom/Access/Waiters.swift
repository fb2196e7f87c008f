import Dispatch

/// Who waits, in the order in which they came. Who goes away leaves nothing behind.
struct Waiters<Waiter> {
    /// Names a waiter.
    typealias Ticket = Int

    private var entries: [(ticket: Ticket, waiter: Waiter?)] = []
    private var head = 0
    private var next: Ticket = 0

    /// How many there are.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// How many places the waiters take, those that are left among them.
    var capacity: Int { entries.count }

    var first: Waiter? { isEmpty ? nil : entries[head].waiter }

    @discardableResult
    mutating func append(_ waiter: Waiter) -> Ticket {
        entries.append((next, waiter))
        count += 1
        defer { next += 1 }
        return next
    }

    mutating func removeFirst() {
        entries[head].waiter = nil
        count -= 1
        tidy()
    }

    /// Answers the waiter, for the caller to let go of it; nil when its turn has come.
    mutating func remove(_ ticket: Ticket) -> Waiter? {
        guard let index = index(of: ticket), let waiter = entries[index].waiter else { return nil }
        entries[index].waiter = nil
        count -= 1
        tidy()
        return waiter
    }

    /// Keeps a waiter at the head, and no more free places than twice those that are taken.
    private mutating func tidy() {
        while head < entries.count, entries[head].waiter == nil { head += 1 }
        if entries.count >= 64, entries.count > 3 * count {
            entries = entries[head...].filter { $0.waiter != nil }
            head = 0
        } else if isEmpty {
            entries.removeAll(keepingCapacity: true)
            head = 0
        }
    }

    /// Tickets grow from one entry to the next.
    private func index(of ticket: Ticket) -> Int? {
        var (low, high) = (head, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].ticket < ticket { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].ticket == ticket ? low : nil
    }
}

/// What a thread waits for. The semaphore orders the one write before the one read.
final class Turn<Outcome: Sendable>: @unchecked Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private var outcome: Outcome?

    @Sendable func end(with outcome: Outcome) {
        self.outcome = outcome
        semaphore.signal()
    }

    /// - parameter block: called when there is something to wait for.
    func wait(before block: () -> Void) -> Outcome {
        if semaphore.wait(timeout: .now()) == .timedOut {
            block()
            semaphore.wait()
        }
        return outcome!
    }
}

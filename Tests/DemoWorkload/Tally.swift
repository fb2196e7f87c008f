import Foundation

/// The work of the threads so far. Unchecked, since the condition guards every stored property.
final class Tally: @unchecked Sendable {
    private let condition = NSCondition()
    private var writes = 0
    private var reads = 0
    private var ended = 0
    private var stopping = false
    private var failure: (any Error)?

    var soFar: (writes: Int, reads: Int) { locked { (writes, reads) } }

    func wrote() { locked { writes += 1 } }
    func read() { locked { reads += 1 } }

    /// Repeats `step` until the end, or until anyone fails.
    func work(_ step: () throws -> Void) {
        do {
            while locked({ !stopping && failure == nil }) { try step() }
        } catch {
            locked { failure = failure ?? error }
        }
        locked { ended += 1 }
    }

    /// Returns when so much is done; throws what stopped a thread.
    func wait(writes: Int, reads: Int) throws {
        try wait { self.writes >= writes && self.reads >= reads }
    }

    /// Lets all threads end their last step.
    func finish(threads: Int) throws {
        locked { stopping = true }
        try wait { self.ended == threads }
    }

    private func wait(until done: () -> Bool) throws {
        try locked {
            while !done() && failure == nil { condition.wait() }
            if let failure { throw failure }
        }
    }

    private func locked<T>(_ body: () throws -> T) rethrows -> T {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        return try body()
    }
}

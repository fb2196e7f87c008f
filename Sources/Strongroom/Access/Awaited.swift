/// A value that a thread puts once, and that tasks wait for.
final class Awaited<Value: Sendable>: Sendable {
    private typealias Waiting = CheckedContinuation<Value, any Error>

    private struct State {
        var result: Result<Value, any Error>?
        var waiting: [Int: Waiting] = [:]
        var withdrawn: Set<Int> = []
        var tickets = 0
    }

    private let state = Mutex(State())

    /// The value or error, if it is there.
    var result: Result<Value, any Error>? { state.withLock(\.result) }

    /// Puts the value. Does nothing if there is one already.
    func put(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state -> [Int: Waiting] in
            guard state.result == nil else { return [:] }
            state.result = result
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume(with: result) }
    }

    /// Returns the value when it is there.
    ///
    /// - throws: the error that was put; `CancellationError` if the task is cancelled before.
    func value() async throws -> Value {
        let ticket = newTicket()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0, ticket) }
        } onCancel: {
            withdraw(ticket)
        }
    }

    /// Returns the value when it is there, even if the task is cancelled. Calls `onCancel` then.
    func value(onCancel: @escaping @Sendable () -> Void) async throws -> Value {
        let ticket = newTicket()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0, ticket) }
        } onCancel: {
            onCancel()
        }
    }

    private func newTicket() -> Int {
        state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
    }

    private func wait(_ continuation: Waiting, _ ticket: Int) {
        let result: Result<Value, any Error>? = state.withLock { state in
            if state.withdrawn.remove(ticket) != nil { return .failure(CancellationError()) }
            if let result = state.result { return result }
            state.waiting[ticket] = continuation
            return nil
        }
        if let result { continuation.resume(with: result) }
    }

    private func withdraw(_ ticket: Int) {
        let continuation = state.withLock { state -> Waiting? in
            guard let continuation = state.waiting.removeValue(forKey: ticket) else {
                state.withdrawn.insert(ticket)
                return nil
            }
            return continuation
        }
        continuation?.resume(throwing: CancellationError())
    }
}

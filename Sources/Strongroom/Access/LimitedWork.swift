/// Work that runs the program's functions: a limited number at a time, on the library's threads. The rest waits in its
/// order.
///
/// Without a limit, a thousand observations whose values take time to reduce would have a thousand threads.
final class LimitedWork: Sendable {
    /// The reductions of the values that observations have fetched.
    static let reductions = LimitedWork(limit: 32)

    private struct State {
        var running = 0
        var waiting = Line<Workers.Work>()
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - parameter limit: the number of threads.
    init(limit: Int) {
        self.limit = limit
    }

    /// Runs `work` on another thread, as soon as there is one for it.
    func run(_ work: @escaping Workers.Work) {
        if let step = step(work) { Workers.shared.run(qos: .default, step) }
    }

    /// Makes `work` wait for its thread. Returns the step by which a worker runs it, and the work that follows. Nil if
    /// as many threads as the limit run.
    func step(_ work: @escaping Workers.Work) -> Workers.Step? {
        let needsThread = state.withLock { state in
            _ = state.waiting.append(work)
            guard state.running < limit else { return false }
            state.running += 1
            return true
        }
        guard needsThread else { return nil }
        return Workers.Step {
            self.serve()
            return nil
        }
    }

    private func serve() {
        while let work = next() { work() }
    }

    private func next() -> Workers.Work? {
        state.withLock { state in
            let work = state.waiting.takeFirst()
            if work == nil { state.running -= 1 }
            return work
        }
    }
}

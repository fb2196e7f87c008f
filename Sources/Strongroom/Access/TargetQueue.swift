import Dispatch

/// The application's own queue under those of the connections: all accesses run on it.
///
/// It may be serial, and then the thread that it runs must not wait for others that wait for the queue. So an access
/// enters it last, when it has all else that it needs, and an access from the queue itself goes ahead.
final class TargetQueue: Sendable {
    private let queue: DispatchQueue
    private let key = DispatchSpecificKey<Bool>()

    /// Nil when there is none.
    init?(_ queue: DispatchQueue?) {
        guard let queue else { return nil }
        self.queue = queue
        if canBeMarked { queue.setSpecific(key: key, value: true) }
    }

    deinit {
        if canBeMarked { queue.setSpecific(key: key, value: nil) }
    }

    /// Dispatch's global queues carry no values. They are concurrent: nothing has to be known of them.
    private var canBeMarked: Bool { !queue.label.hasPrefix("com.apple.root.") }

    /// A Boolean value that indicates whether the calling thread works on the queue.
    var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }

    /// Runs `block` on the queue.
    func sync<T>(_ block: () throws -> T) rethrows -> T {
        isCurrent ? try block() : try queue.wait(for: block)
    }

    /// Stops a program that is about to wait on a serial queue, for accesses that wait for the queue.
    func requireConcurrency() {
        guard isCurrent else { return }
        let isReached = DispatchSemaphore(value: 0)
        // Dispatch doesn't tell which queues are serial. While this thread has a serial one, nothing else runs there.
        queue.async { isReached.signal() }
        guard isReached.wait(timeout: .now() + 5) == .timedOut else { return }
        fatalError("""
            An access that blocks was asked for on \(queue.label), the serial target queue of the database, \
            while other accesses wait for that queue. Access the database from another queue, use an asynchronous \
            access, or set a concurrent targetQueue.
            """)
    }
}

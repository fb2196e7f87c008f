import Dispatch

/// The application's own queue, on which all accesses run.
///
/// It may be serial, and then its thread must not wait for threads that wait for the queue. So an access enters the
/// queue last, when it has everything else that it needs, and an access that is called on the queue goes ahead of
/// others.
final class TargetQueue: Sendable {
    private let queue: DispatchQueue
    private let key = DispatchSpecificKey<Bool>()

    /// Marks the queue. Nil for nil.
    init?(_ queue: DispatchQueue?) {
        guard let queue else { return nil }
        self.queue = queue
        if canBeMarked { queue.setSpecific(key: key, value: true) }
    }

    deinit {
        if canBeMarked { queue.setSpecific(key: key, value: nil) }
    }

    /// True unless it is one of Dispatch's global queues, which carry no values. Those are concurrent, and need no
    /// mark.
    private var canBeMarked: Bool { !queue.label.hasPrefix("com.apple.root.") }

    /// True if the calling thread works on the queue.
    var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }

    /// Runs `block` on the queue.
    func sync<T>(_ block: () throws -> T) rethrows -> T {
        isCurrent ? try block() : try queue.wait(for: block)
    }

    /// Stops a program that is about to wait on a serial queue for accesses that wait for the same queue.
    func requireConcurrency() {
        guard isCurrent else { return }
        let isReached = DispatchSemaphore(value: 0)
        // Dispatch doesn't say which queues are serial. A concurrent queue lets a thread in immediately, whether or not
        // Dispatch has threads left. While this thread works on a serial queue, no other one gets in.
        Workers.shared.run { [queue] in queue.sync { isReached.signal() } }
        guard isReached.wait(timeout: .now() + 5) == .timedOut else { return }
        fatalError(
            """
            A blocking access was called on \(queue.label), the serial target queue of the database, \
            while other accesses wait for that queue. Access the database from another queue, use an asynchronous \
            access, or set a concurrent targetQueue.
            """)
    }
}

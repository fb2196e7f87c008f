import Foundation

/// The lifetime of a ``SharedValueObservation``.
public enum SharedValueObservationExtent: Sendable {
    /// From the first subscriber until the object is released.
    case observationLifetime

    /// While there are subscribers. A subscriber after the last one starts it again.
    case whileObserved
}

/// One observation for any number of subscribers. They share each fetch, and a later subscriber gets the latest value.
///
/// ```swift
/// let shared = ValueObservation.tracking { db in try Player.fetchAll(db) }.shared(in: dbPool)
/// let cancellable = shared.start(onError: { _ in }, onChange: { players in print(players) })
/// ```
///
/// The first subscriber starts it. An error is passed to all subscribers. The next subscriber starts it again, except
/// with ``SharedValueObservationExtent/observationLifetime``: then it gets the same error.
///
/// Sendable because its variables are used under `lock` only.
public final class SharedValueObservation<Element: Sendable>: @unchecked Sendable {
    private struct Client: Sendable {
        let onError: @Sendable (any Error) -> Void
        let onChange: @Sendable (Element) -> Void
        var hasValue = false
    }

    private let scheduler: any ValueObservationScheduler
    private let extent: SharedValueObservationExtent
    private let startObservation: AsyncValueObservation<Element>.Start

    private let lock = NSLock()
    private var clients: [Int: Client] = [:]
    private var clientNumber = 0

    /// The number of the current observation, which distinguishes it from former ones, whose last values may still
    /// arrive.
    private var session = 0
    private var isObserving = false
    private var cancellable: AnyDatabaseCancellable?
    private var latest: Element?

    /// The error that ended the observation, if it is not started again.
    private var failure: (any Error)?

    init(
        scheduler: any ValueObservationScheduler, extent: SharedValueObservationExtent,
        start: @escaping AsyncValueObservation<Element>.Start)
    {
        self.scheduler = scheduler
        self.extent = extent
        startObservation = start
    }

    /// Calls `onChange` with the latest value, as soon as there is one, and with all later values.
    ///
    /// The subscription ends when the returned object is cancelled or released.
    @preconcurrency
    public func start(
        onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Element) -> Void) -> AnyDatabaseCancellable
    {
        let isImmediate = scheduler.immediateInitialValue()
        lock.lock()
        clientNumber += 1
        let number = clientNumber
        clients[number] = Client(onError: onError, onChange: onChange)
        let mustStart = !isObserving && failure == nil
        if mustStart {
            isObserving = true
            session += 1
        }
        let session = session
        lock.unlock()

        if mustStart {
            startSession(session)
        } else if isImmediate {
            replay(to: number)
        } else {
            scheduler.schedule { self.replay(to: number) }
        }
        return AnyDatabaseCancellable { self.remove(number) }
    }

    /// Returns the values as an asynchronous sequence. Each loop over it is a subscriber.
    ///
    /// - parameter bufferingPolicy: the rule for values that arrive while the loop is busy. Default: all are buffered.
    public func values(
        bufferingPolicy: AsyncValueObservation<Element>.BufferingPolicy = .unbounded) -> AsyncValueObservation<Element>
    {
        AsyncValueObservation(bufferingPolicy: bufferingPolicy) { onError, onChange in
            self.start(onError: onError, onChange: onChange)
        }
    }

    private func startSession(_ session: Int) {
        let cancellable = startObservation(
            { [weak self] error in self?.end(session, with: error) },
            { [weak self] value in self?.receive(value, session) })
        lock.lock()
        let isCurrent = isObserving && self.session == session
        if isCurrent { self.cancellable = cancellable }
        lock.unlock()
        // All subscribers have left while it started.
        if !isCurrent { cancellable.cancel() }
    }

    private func receive(_ value: Element, _ session: Int) {
        lock.lock()
        guard isObserving, self.session == session else { return lock.unlock() }
        let former = latest
        latest = value
        for number in clients.keys { clients[number]?.hasValue = true }
        let numbers = clients.keys.sorted()
        lock.unlock()
        withExtendedLifetime(former) {}
        for number in numbers { client(number)?.onChange(value) }
    }

    private func end(_ session: Int, with error: any Error) {
        lock.lock()
        guard isObserving, self.session == session else { return lock.unlock() }
        let failed = clients.sorted { $0.key < $1.key }
        clients = [:]
        if extent == .observationLifetime { failure = error }
        let stopped = stop()
        lock.unlock()
        stopped.cancellable?.cancel()
        for (_, client) in failed { client.onError(error) }
    }

    /// Notifies a new subscriber of the latest value, or of the error that ended the observation.
    private func replay(to number: Int) {
        lock.lock()
        if let failure {
            let client = clients.removeValue(forKey: number)
            lock.unlock()
            client?.onError(failure)
            return
        }
        guard let client = clients[number], !client.hasValue, let latest else { return lock.unlock() }
        clients[number]?.hasValue = true
        lock.unlock()
        client.onChange(latest)
    }

    private func client(_ number: Int) -> Client? {
        lock.withLock { clients[number] }
    }

    private func remove(_ number: Int) {
        lock.lock()
        let former = clients.removeValue(forKey: number)
        let stopped = clients.isEmpty && extent == .whileObserved ? stop() : nil
        lock.unlock()
        stopped?.cancellable?.cancel()
        withExtendedLifetime(former) {}
    }

    /// Stops the observation. Called under the lock. The caller cancels and releases the result outside of the lock:
    /// releasing the program's objects may use the observation.
    private func stop() -> (cancellable: AnyDatabaseCancellable?, latest: Element?) {
        isObserving = false
        return (cancellable.take(), latest.take())
    }
}

import Foundation

/// The extent of a ``SharedValueObservation``.
public enum SharedValueObservationExtent: Sendable {
    /// From its first subscriber until the object goes away.
    case observationLifetime

    /// While it has subscribers: the next one after the last starts it again.
    case whileObserved
}

/// One observation for any number of subscribers: one fetch serves all, and a late subscriber gets the latest value.
///
/// ```swift
/// let shared = ValueObservation.tracking { db in try Player.fetchAll(db) }.shared(in: dbPool)
/// let cancellable = shared.start(onError: { _ in }, onChange: { players in print(players) })
/// ```
///
/// It starts with its first subscriber. An error goes to all subscribers. The next one starts it again, unless the
/// observation has ended for good with ``SharedValueObservationExtent/observationLifetime``: then it gets the same
/// error.
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

    /// Tells the present observation from former ones, whose last values may still be on their way.
    private var session = 0
    private var isObserving = false
    private var cancellable: AnyDatabaseCancellable?
    private var latest: Element?

    /// The error that ended the observation for good.
    private var failure: (any Error)?

    init(
        scheduler: any ValueObservationScheduler, extent: SharedValueObservationExtent,
        start: @escaping AsyncValueObservation<Element>.Start)
    {
        self.scheduler = scheduler
        self.extent = extent
        startObservation = start
    }

    /// Calls `onChange` with the latest value, as soon as there is one, and with all that follow.
    ///
    /// The subscription ends when the returned object is cancelled or goes away.
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

    /// The values as an asynchronous sequence: each loop over it is a subscriber.
    ///
    /// - parameter bufferingPolicy: what becomes of values while the loop is busy. Default: all are kept.
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
        // Everybody went while it started.
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

    /// To be called under the lock. What it returns is to be cancelled, and let go, outside of it: the program's
    /// objects may go with it, and use the observation when they go.
    private func stop() -> (cancellable: AnyDatabaseCancellable?, latest: Element?) {
        isObserving = false
        return (cancellable.take(), latest.take())
    }
}

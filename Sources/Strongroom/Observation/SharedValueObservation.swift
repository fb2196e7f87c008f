import Foundation

/// The lifetime of a ``SharedValueObservation``.
public enum SharedValueObservationExtent: Sendable {
    /// From the first subscriber until the object is released.
    case observationLifetime

    /// While there are subscribers. When all have left, the next subscriber starts the observation again.
    case whileObserved
}

/// One observation for any number of subscribers. They share each fetch, and a later subscriber gets the latest value.
///
/// ```swift
/// let shared = ValueObservation.tracking { db in try Player.fetchAll(db) }.shared(in: dbPool)
/// let cancellable = shared.start(onError: { _ in }, onChange: { players in print(players) })
/// ```
///
/// The first subscriber starts the observation. An error ends it, and is passed to all subscribers. The next subscriber
/// starts the observation again. With ``SharedValueObservationExtent/observationLifetime``, it gets the same error.
public final class SharedValueObservation<Element: Sendable>: Sendable {
    private struct Client: Sendable {
        let onError: @Sendable (any Error) -> Void
        let onChange: @Sendable (Element) -> Void
        var hasValue = false
    }

    private enum Replay {
        case value(Element, Client)
        case failure(any Error, Client)
    }

    private struct State {
        typealias Stopped = (cancellable: AnyDatabaseCancellable?, latest: Element?)

        var clients: [Int: Client] = [:]
        var clientNumber = 0

        /// The number of the current observation, which distinguishes it from former ones, whose last values may still
        /// arrive.
        var session = 0
        var isObserving = false
        var cancellable: AnyDatabaseCancellable?
        var latest: Element?

        /// The error that ended the observation, if it is not started again.
        var failure: (any Error)?

        func isCurrent(_ session: Int) -> Bool { isObserving && session == self.session }

        /// Adds a client. Returns its number, and the number of the session to start for it, if there is one.
        mutating func add(_ client: Client) -> (number: Int, newSession: Int?) {
            clientNumber += 1
            clients[clientNumber] = client
            guard !isObserving, failure == nil else { return (clientNumber, nil) }
            isObserving = true
            session += 1
            return (clientNumber, session)
        }

        /// Ends the session. The caller cancels and releases what this returns outside the lock: the program's objects
        /// may go with it, and use the observation in their deinitializers.
        mutating func stop() -> Stopped {
            isObserving = false
            return (cancellable.take(), latest.take())
        }
    }

    private let scheduler: any ValueObservationScheduler
    private let extent: SharedValueObservationExtent
    private let startObservation: AsyncValueObservation<Element>.Start
    private let state = Mutex(State())

    init(
        scheduler: any ValueObservationScheduler, extent: SharedValueObservationExtent,
        start: @escaping AsyncValueObservation<Element>.Start
    ) {
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
        onChange: @escaping @Sendable (Element) -> Void
    ) -> AnyDatabaseCancellable {
        let isImmediate = scheduler.immediateInitialValue()
        let (number, newSession) = state.withLock { $0.add(Client(onError: onError, onChange: onChange)) }
        if let newSession {
            startSession(newSession)
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
        bufferingPolicy: AsyncValueObservation<Element>.BufferingPolicy = .unbounded
    ) -> AsyncValueObservation<Element> {
        AsyncValueObservation(bufferingPolicy: bufferingPolicy) { onError, onChange in
            self.start(onError: onError, onChange: onChange)
        }
    }

    private func startSession(_ session: Int) {
        let cancellable = startObservation(
            { [weak self] error in self?.end(session, with: error) },
            { [weak self] value in self?.receive(value, session) })
        let isCurrent = state.withLock { state in
            if state.isCurrent(session) { state.cancellable = cancellable }
            return state.isCurrent(session)
        }
        // All subscribers left while it started.
        if !isCurrent { cancellable.cancel() }
    }

    private func receive(_ value: Element, _ session: Int) {
        let received = state.withLock { state -> (numbers: [Int], former: Element?)? in
            guard state.isCurrent(session) else { return nil }
            let former = state.latest
            state.latest = value
            for number in state.clients.keys { state.clients[number]?.hasValue = true }
            return (state.clients.keys.sorted(), former)
        }
        // The former value is released outside the lock, because its deinitializer may do anything.
        guard let received else { return }
        for number in received.numbers { client(number)?.onChange(value) }
    }

    private func end(_ session: Int, with error: any Error) {
        let (failed, stopped) = state.withLock { state -> ([Int: Client], State.Stopped?) in
            guard state.isCurrent(session) else { return ([:], nil) }
            if extent == .observationLifetime { state.failure = error }
            let failed = state.clients
            state.clients = [:]
            return (failed, state.stop())
        }
        stopped?.cancellable?.cancel()
        for (_, client) in failed.sorted(by: { $0.key < $1.key }) { client.onError(error) }
    }

    /// Notifies a new subscriber of the latest value, or of the error that ended the observation.
    private func replay(to number: Int) {
        let replay = state.withLock { state -> Replay? in
            if let failure = state.failure {
                return state.clients.removeValue(forKey: number).map { .failure(failure, $0) }
            }
            guard let client = state.clients[number], !client.hasValue, let latest = state.latest else { return nil }
            state.clients[number]?.hasValue = true
            return .value(latest, client)
        }
        switch replay {
        case .value(let value, let client): client.onChange(value)
        case .failure(let error, let client): client.onError(error)
        case nil: break
        }
    }

    private func client(_ number: Int) -> Client? {
        state.withLock { $0.clients[number] }
    }

    private func remove(_ number: Int) {
        let (former, stopped) = state.withLock { state -> (Client?, State.Stopped?) in
            let former = state.clients.removeValue(forKey: number)
            return (former, state.clients.isEmpty && extent == .whileObserved ? state.stop() : nil)
        }
        stopped?.cancellable?.cancel()
        withExtendedLifetime(former) {}
    }
}

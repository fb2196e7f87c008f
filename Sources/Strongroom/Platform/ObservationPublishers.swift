// The publishers of observations. See DatabasePublishers.swift.

import Foundation

#if canImport(Combine)
import Combine
#elseif OpenCombine
import OpenCombine
#endif

#if canImport(Combine) || OpenCombine

extension DatabasePublishers {
    /// A publisher of the values of an observation. See ``ValueObservation/publisher(in:scheduling:)``.
    public struct Value<Output: Sendable>: Publisher {
        /// The type of the published values.
        public typealias Output = Output
        /// Any error: those of the database, and those that the closures throw.
        public typealias Failure = any Error

        fileprivate let start: AsyncValueObservation<Output>.Start

        /// Starts the work for a new subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
            subscriber.receive(subscription: LatestValueSubscription(subscriber, start))
        }
    }

    /// A publisher of the connection that changed a region. See ``DatabaseRegionObservation/publisher(in:)``.
    public struct DatabaseRegion: Publisher {
        /// The connection that made the change.
        public typealias Output = Database
        /// Any error: those of the database, and those that the closures throw.
        public typealias Failure = any Error

        fileprivate let observation: DatabaseRegionObservation
        fileprivate let writer: any DatabaseWriter

        /// Starts the work for a new subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Database, S.Failure == any Error {
            subscriber.receive(subscription: ChangeSubscription(subscriber, observation, writer))
        }
    }
}

extension ValueObservation {
    /// Returns a publisher of the first value, and of a new one after each change. Each subscription is an observation
    /// of its own.
    ///
    /// A subscriber without demand gets the latest value when it has demand again.
    ///
    /// - parameters:
    ///   - reader: the database.
    ///   - scheduler: the scheduler that delivers the values. Default: the main dispatch queue.
    public func publisher(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationScheduler = .async(onQueue: .main)
    ) -> DatabasePublishers.Value<Reducer.Value> {
        DatabasePublishers.Value(start: starting(in: reader, scheduler))
    }
}

extension SharedValueObservation {
    /// Returns a publisher of the latest value, and of a new one after each change. Each subscription is a subscriber.
    public func publisher() -> DatabasePublishers.Value<Element> {
        DatabasePublishers.Value { onError, onChange in self.start(onError: onError, onChange: onChange) }
    }
}

extension DatabaseRegionObservation {
    /// Returns a publisher of the connection after each transaction that changes the region, before its next access.
    /// Use it in the subscriber only.
    ///
    /// Changes while the subscriber has no demand are not published.
    public func publisher(in writer: any DatabaseWriter) -> DatabasePublishers.DatabaseRegion {
        DatabasePublishers.DatabaseRegion(observation: self, writer: writer)
    }
}

/// The subscription to values. Sendable because `state` has its own lock.
private final class LatestValueSubscription<S: Subscriber>: Subscription, @unchecked Sendable
where S.Input: Sendable, S.Failure == any Error {
    private enum Event {
        case value(S.Input)
        case failure(any Error)
    }

    private struct State {
        var subscriber: S?
        var start: AsyncValueObservation<S.Input>.Start?
        var cancellable: AnyDatabaseCancellable?
        var demand = Subscribers.Demand.none

        /// The latest value, if it was not delivered yet.
        var waitingValue: S.Input?
        var failure: (any Error)?

        /// True while a thread delivers to the subscriber, which receives one value at a time.
        var isDelivering = false

        /// Returns the next event to deliver; nil for none, and while another thread delivers.
        mutating func next() -> (S, Event)? {
            guard !isDelivering, let subscriber else { return nil }
            if demand > .none, let value = waitingValue.take() {
                demand -= 1
                isDelivering = true
                return (subscriber, .value(value))
            }
            guard let failure else { return nil }
            isDelivering = true
            return (subscriber, .failure(failure))
        }
    }

    private let state: Mutex<State>

    init(_ subscriber: S, _ start: @escaping AsyncValueObservation<S.Input>.Start) {
        state = Mutex(State(subscriber: subscriber, start: start))
    }

    func request(_ more: Subscribers.Demand) {
        let start = state.withLock { state in
            state.demand += more
            return state.start.take()
        }
        if let start { begin(start) } else { deliver() }
    }

    private func begin(_ start: AsyncValueObservation<S.Input>.Start) {
        let callbacks = Callbacks(
            fail: { [weak self] in self?.fail($0) },
            receive: { [weak self] in self?.receive($0) })
        let cancellable = start({ callbacks.fail($0) }, { callbacks.receive($0) })
        let isCancelled = state.withLock { state in
            if state.subscriber != nil { state.cancellable = cancellable }
            return state.subscriber == nil
        }
        if isCancelled { cancellable.cancel() }
    }

    func cancel() {
        _ = end()
    }

    private func receive(_ value: S.Input) {
        let former = state.withLock { state in
            defer { state.waitingValue = value }
            return state.waitingValue
        }
        // Released outside the lock, because its deinitializer may do anything.
        withExtendedLifetime(former) {}
        deliver()
    }

    private func fail(_ error: any Error) {
        state.withLock { $0.failure = error }
        deliver()
    }

    /// Delivers values to the subscriber as long as it has demand. If another thread is delivering, it delivers later
    /// values, too.
    private func deliver() {
        while let (subscriber, event) = state.withLock({ $0.next() }) {
            switch event {
            case .value(let value):
                let more = subscriber.receive(value)
                state.withLock { state in
                    state.demand += more
                    state.isDelivering = false
                }
            case .failure(let error):
                end()?.receive(completion: .failure(error))
            }
        }
    }

    private func end() -> S? {
        // What the state held is released outside the lock, because its deinitializers may do anything.
        let former = state.withLock { state in
            defer { state = State(subscriber: nil, start: nil) }
            return state
        }
        former.cancellable?.cancel()
        return former.subscriber
    }
}

/// The changes of a region for one subscriber. Sendable because `state` has its own lock.
private final class ChangeSubscription<S: Subscriber>: Subscription, @unchecked Sendable
where S.Input == Database, S.Failure == any Error {
    private struct State {
        var subscriber: S?
        var hasStarted = false
        var cancellable: AnyDatabaseCancellable?
        var demand = Subscribers.Demand.none
    }

    private let observation: DatabaseRegionObservation
    private let writer: any DatabaseWriter
    private let state: Mutex<State>

    init(_ subscriber: S, _ observation: DatabaseRegionObservation, _ writer: any DatabaseWriter) {
        state = Mutex(State(subscriber: subscriber))
        self.observation = observation
        self.writer = writer
    }

    func request(_ more: Subscribers.Demand) {
        let mustStart = state.withLock { state in
            state.demand += more
            defer { state.hasStarted = true }
            return !state.hasStarted && state.subscriber != nil
        }
        guard mustStart else { return }
        let callbacks = Callbacks(
            fail: { [weak self] in self?.fail($0) },
            receive: { [weak self] in self?.receive($0) })
        let cancellable = observation.start(
            in: writer, onError: { callbacks.fail($0) }, onChange: { callbacks.receive($0) })
        let isCancelled = state.withLock { state in
            if state.subscriber != nil { state.cancellable = cancellable }
            return state.subscriber == nil
        }
        if isCancelled { cancellable.cancel() }
    }

    func cancel() {
        _ = end()
    }

    private func receive(_ db: Database) {
        let subscriber = state.withLock { state -> S? in
            guard let subscriber = state.subscriber, state.demand > .none else { return nil }
            state.demand -= 1
            return subscriber
        }
        guard let more = subscriber?.receive(db) else { return }
        state.withLock { $0.demand += more }
    }

    private func fail(_ error: any Error) {
        end()?.receive(completion: .failure(error))
    }

    private func end() -> S? {
        let (subscriber, cancellable) = state.withLock { ($0.subscriber.take(), $0.cancellable.take()) }
        cancellable?.cancel()
        return subscriber
    }
}

/// The two functions of a subscription, without the type of its subscriber, which must not be sent to another thread.
///
/// Sendable because subscriptions are: their state has its own lock.
private struct Callbacks<Value>: @unchecked Sendable {
    let fail: (any Error) -> Void
    let receive: (Value) -> Void
}
#endif

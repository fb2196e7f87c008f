// Publishers are Combine's on Apple's platforms, and OpenCombine's elsewhere, behind the package trait of that name.

import Dispatch
import Foundation

#if canImport(Combine)
import Combine
#elseif OpenCombine
import OpenCombine
import OpenCombineDispatch
#endif

/// Publishers of database values and changes: ``Read``, ``Write`` and ``Migrate``.
public enum DatabasePublishers {}

#if canImport(Combine)
/// A scheduler that delivers published values: a dispatch queue, for example.
public typealias DatabaseScheduler = Combine.Scheduler

extension DatabasePublishers {
    /// The scheduler of the main dispatch queue.
    public static var main: DispatchQueue { .main }
}
#elseif OpenCombine
/// A scheduler that delivers published values: `.ocombine` of a dispatch queue, for example.
public typealias DatabaseScheduler = OpenCombine.Scheduler

extension DatabasePublishers {
    /// The scheduler of the main dispatch queue.
    public static var main: DispatchQueue.OCombine { DispatchQueue.main.ocombine }
}
#endif

#if canImport(Combine) || OpenCombine
extension DatabasePublishers {
    /// A publisher of the value of one read. See ``DatabaseReader/readPublisher(receiveOn:value:)``.
    public struct Read<Output>: Publisher {
        /// The type of the published values.
        public typealias Output = Output
        /// Any error: those of the database, and those that the closures throw.
        public typealias Failure = any Error

        fileprivate let upstream: AnyPublisher<Output, any Error>

        /// Starts the work for a new subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
            upstream.receive(subscriber: subscriber)
        }
    }

    /// A publisher of the value of one write. See ``DatabaseWriter/writePublisher(receiveOn:updates:)``.
    public struct Write<Output>: Publisher {
        /// The type of the published values.
        public typealias Output = Output
        /// Any error: those of the database, and those that the closures throw.
        public typealias Failure = any Error

        fileprivate let upstream: AnyPublisher<Output, any Error>

        /// Starts the work for a new subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
            upstream.receive(subscriber: subscriber)
        }
    }

    /// A publisher that completes when a database is migrated. See ``DatabaseMigrator/migratePublisher(_:receiveOn:)``.
    public struct Migrate: Publisher {
        /// Nothing: the publisher only completes.
        public typealias Output = Void
        /// Any error: those of the database, and those that the closures throw.
        public typealias Failure = any Error

        fileprivate let upstream: AnyPublisher<Void, any Error>

        /// Starts the work for a new subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == any Error {
            upstream.receive(subscriber: subscriber)
        }
    }
}

extension DatabaseReader {
    /// Returns a publisher of the value of a read. Each subscription is a read.
    ///
    /// - parameter scheduler: the scheduler that delivers the value or the error. Default: the main dispatch queue.
    /// - parameter value: the function of the read, as for `read(_:)`.
    public func readPublisher<Output: Sendable>(
        receiveOn scheduler: some DatabaseScheduler = DatabasePublishers.main,
        value: @escaping @Sendable (Database) throws -> Output
    ) -> DatabasePublishers.Read<Output> {
        let result = OnceOnDemand(scheduler: scheduler) { (promise: Promise<Output>) in
            self.asyncRead { db in promise.keep(Result { try value(db.get()) }) }
        }
        return DatabasePublishers.Read(upstream: AnyPublisher(result))
    }
}

extension DatabaseWriter {
    /// Returns a publisher of the value of a write transaction. Each subscription is a transaction.
    ///
    /// - parameter scheduler: the scheduler that delivers the value or the error. Default: the main dispatch queue.
    /// - parameter updates: the function of the transaction, as for `write(_:)`.
    public func writePublisher<Output: Sendable>(
        receiveOn scheduler: some DatabaseScheduler = DatabasePublishers.main,
        updates: @escaping @Sendable (Database) throws -> Output
    ) -> DatabasePublishers.Write<Output> {
        let result = OnceOnDemand(scheduler: scheduler) { (promise: Promise<Output>) in
            self.asyncWrite(updates) { _, result in promise.keep(result) }
        }
        return DatabasePublishers.Write(upstream: AnyPublisher(result))
    }

    /// Returns a publisher of a value that is read in the state after a write transaction, while later writes go on.
    /// Each subscription is a transaction.
    ///
    /// - parameters:
    ///   - scheduler: the scheduler that delivers the value or the error. Default: the main dispatch queue.
    ///   - updates: the function of the transaction, as for `write(_:)`.
    ///   - value: the function of the read, which gets the value that `updates` returned.
    public func writePublisher<Value: Sendable, Output: Sendable>(
        receiveOn scheduler: some DatabaseScheduler = DatabasePublishers.main,
        updates: @escaping @Sendable (Database) throws -> Value,
        thenRead value: @escaping @Sendable (Database, Value) throws -> Output
    ) -> DatabasePublishers.Write<Output> {
        let result = OnceOnDemand(scheduler: scheduler) { (promise: Promise<Output>) in
            self.asyncWriteWithoutTransaction { db in
                switch Result(catching: { try db.committing(updates) }) {
                case .failure(let error):
                    promise.keep(.failure(error))
                case .success(let updated):
                    self.spawnConcurrentRead { db in promise.keep(Result { try value(db.get(), updated) }) }
                }
            }
        }
        return DatabasePublishers.Write(upstream: AnyPublisher(result))
    }
}

extension DatabaseMigrator {
    /// Returns a publisher that runs the missing migrations of a database for each subscription, and publishes one
    /// value when all have run.
    ///
    /// - parameters:
    ///   - writer: the database.
    ///   - scheduler: the scheduler that delivers the value or the error. Default: the main dispatch queue.
    public func migratePublisher(
        _ writer: any DatabaseWriter, receiveOn scheduler: some DatabaseScheduler = DatabasePublishers.main
    )
        -> DatabasePublishers.Migrate
    {
        let result = OnceOnDemand(scheduler: scheduler) { (promise: Promise<Void>) in
            asyncMigrate(writer) { result in promise.keep(result.map { _ in }) }
        }
        return DatabasePublishers.Migrate(upstream: AnyPublisher(result))
    }
}

/// A publisher that starts `work` when a subscriber requests its first value. It delivers value and completion in one
/// action: on a concurrent scheduler, the value could otherwise come after the completion.
private struct OnceOnDemand<Output, Context: DatabaseScheduler>: Publisher {
    typealias Failure = any Error

    let scheduler: Context
    let work: (Promise<Output>) -> Void

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
        subscriber.receive(subscription: Delivery(to: subscriber, of: self))
    }

    /// Sendable because `state` has its own lock, and `publisher` never changes.
    private final class Delivery<S: Subscriber>: Subscription, @unchecked Sendable
    where S.Input == Output, S.Failure == any Error {
        private struct State {
            var subscriber: S?
            var isStarted = false
        }

        private let state: Mutex<State>
        private let publisher: OnceOnDemand

        init(to subscriber: S, of publisher: OnceOnDemand) {
            state = Mutex(State(subscriber: subscriber))
            self.publisher = publisher
        }

        func request(_ demand: Subscribers.Demand) {
            let starts = state.withLock { state in
                defer { state.isStarted = state.isStarted || demand > .none }
                return !state.isStarted && demand > .none
            }
            if starts {
                publisher.work(Promise { result in self.publisher.scheduler.schedule { self.deliver(result) } })
            }
        }

        func cancel() {
            _ = takeSubscriber()
        }

        private func deliver(_ result: Result<Output, any Error>) {
            guard let subscriber = takeSubscriber() else { return }
            switch result {
            case .success(let value):
                _ = subscriber.receive(value)
                subscriber.receive(completion: .finished)
            case .failure(let error):
                subscriber.receive(completion: .failure(error))
            }
        }

        private func takeSubscriber() -> S? {
            state.withLock { $0.subscriber.take() }
        }
    }
}

/// The destination of the result of the work. Sendable because it is sent once, to the thread that fulfills it.
private struct Promise<Output>: @unchecked Sendable {
    let keep: (Result<Output, any Error>) -> Void
}
#endif

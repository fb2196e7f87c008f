/// Publishers of database values: ``Read`` and ``Write``.
public enum DatabasePublishers {}

#if canImport(Combine) || OpenCombine
extension DatabasePublishers {
    /// Publishes the value of one read. See ``DatabaseReader/readPublisher(receiveOn:value:)``.
    public struct Read<Output>: Publisher {
        public typealias Output = Output
        public typealias Failure = any Error

        fileprivate let upstream: AnyPublisher<Output, any Error>

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
            upstream.receive(subscriber: subscriber)
        }
    }

    /// Publishes the value of one write. See ``DatabaseWriter/writePublisher(receiveOn:updates:)``.
    public struct Write<Output>: Publisher {
        public typealias Output = Output
        public typealias Failure = any Error

        fileprivate let upstream: AnyPublisher<Output, any Error>

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
            upstream.receive(subscriber: subscriber)
        }
    }
}

extension DatabaseReader {
    /// Publishes the value of a read, one for each subscription, which is when the database is accessed.
    ///
    /// - parameter scheduler: where the value, or the error, is delivered. Default: the main dispatch queue.
    /// - parameter value: runs as the function of ``read(_:)`` does.
    public func readPublisher<Output: Sendable>(
        receiveOn scheduler: some DatabaseScheduler = DatabasePublishers.main,
        value: @escaping @Sendable (Database) throws -> Output) -> DatabasePublishers.Read<Output>
    {
        let result = onSubscription { promise in
            self.asyncRead { db in promise.keep(Result { try value(db.get()) }) }
        }
        return DatabasePublishers.Read(upstream: AnyPublisher(result.receive(on: scheduler)))
    }
}

extension DatabaseWriter {
    /// Publishes the value of a write transaction, one for each subscription, which is when the database is accessed.
    ///
    /// - parameter scheduler: where the value, or the error, is delivered. Default: the main dispatch queue.
    /// - parameter updates: runs as the function of ``write(_:)`` does.
    public func writePublisher<Output: Sendable>(
        receiveOn scheduler: some DatabaseScheduler = DatabasePublishers.main,
        updates: @escaping @Sendable (Database) throws -> Output) -> DatabasePublishers.Write<Output>
    {
        let result = onSubscription { promise in
            self.asyncWrite(updates) { _, result in promise.keep(result) }
        }
        return DatabasePublishers.Write(upstream: AnyPublisher(result.receive(on: scheduler)))
    }

    /// Publishes what is read in the state that a write transaction leaves, while later writes may go on.
    public func writePublisher<Value: Sendable, Output: Sendable>(
        receiveOn scheduler: some DatabaseScheduler = DatabasePublishers.main,
        updates: @escaping @Sendable (Database) throws -> Value,
        thenRead value: @escaping @Sendable (Database, Value) throws -> Output) -> DatabasePublishers.Write<Output>
    {
        let result = onSubscription { promise in
            self.asyncWriteWithoutTransaction { db in
                switch Result(catching: { try db.committing(updates) }) {
                case .failure(let error):
                    promise.keep(.failure(error))
                case .success(let updated):
                    self.spawnConcurrentRead { db in promise.keep(Result { try value(db.get(), updated) }) }
                }
            }
        }
        return DatabasePublishers.Write(upstream: AnyPublisher(result.receive(on: scheduler)))
    }
}

/// Starts `work` at each subscription.
private func onSubscription<Output>(
    _ work: @escaping (Promise<Output>) -> Void) -> Deferred<Future<Output, any Error>>
{
    Deferred { Future { work(Promise(keep: $0)) } }
}

/// A future's promise. Sendable because futures keep them under a lock.
private struct Promise<Output>: @unchecked Sendable {
    let keep: (Result<Output, any Error>) -> Void
}
#endif

import Dispatch

extension DatabasePool {
    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.sync { try $0.isolated(value) }
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await awaitAccess({ try $0.isolated(value) }, schedule: readers.async)
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        readers.async { result in
            switch result {
            case .success(let db): db.isolated(orFailing: value)
            case .failure: value(result)
            }
        }
    }

    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.sync(value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await awaitAccess(value, schedule: readers.async)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        readers.async(value)
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        // The thread's own connection knows what the access around has done.
        if !readers.isAccessed, writer.isAccessed { return try value(writer.accessed) }
        return try readers.reentrantSync(value)
    }

    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncConcurrentRead(value)
    }

    /// Reads the state that the last transaction has left, while other writes go on.
    ///
    /// Returns as soon as that state is held, before `value` is done. `value` gets the error when the read could not begin.
    ///
    /// - precondition: inside of a write, and outside of any transaction; anything else is a fatal error.
    public func asyncConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        writer.requireWriteOutsideOfTransaction("asyncConcurrentRead")
        // Without SQLITE_ENABLE_SNAPSHOT, a state is named by holding it: no write may come in between.
        let isHeld = DispatchSemaphore(value: 0)
        readers.async { result in
            var hasBegun = false
            do {
                try result.get().isolatedNow(held: { hasBegun = true; isHeld.signal() }) { value(.success($0)) }
            } catch {
                // `value` doesn't throw: what comes later is the end of a transaction that has nothing to lose.
                if hasBegun { return }
                isHeld.signal()
                value(.failure(error))
            }
        }
        isHeld.wait()
    }
}

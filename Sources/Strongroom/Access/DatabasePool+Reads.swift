import Dispatch

extension DatabasePool {
    /// The rank of the calling thread. The one that has the writer owns the barrier, if there is one.
    private var rank: VisitorRank {
        guard writer.isAccessed else { return .ordinary }
        // Readers in use may be on their way to the target queue, which may be this thread's; the only one may be its
        // own.
        return readers.target == nil && !readers.isAccessed ? .owner : .ownerAtOnce
    }

    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.sync(rank) { try $0.withCurrentSnapshot(value) }
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await awaitAccess({ try $0.withCurrentSnapshot(value) }, schedule: readers.async)
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        readers.async({ try $0.passSnapshot(isCurrent: true, to: value) }, orElse: { value(.failure($0)) })
    }

    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try readers.sync(rank, value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await awaitAccess(value, schedule: readers.async)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        readers.async({ value(.success($0)) }, orElse: { value(.failure($0)) })
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        // The thread's own connection knows what the access around has done.
        if !readers.isAccessed, writer.isAccessed, !writer.isBarred { return try value(writer.accessed) }
        return try readers.reentrantSync(rank, value)
    }

    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncConcurrentRead(value)
    }

    /// Reads the state that the last transaction has left, while other writes go on.
    ///
    /// Returns as soon as that state is held, before `value` is done. `value` gets the error when the read could not
    /// begin. A barrier is no obstacle: it ends without waiting for the reads that begin in it.
    ///
    /// - precondition: inside of a write, and outside of any transaction; anything else is a fatal error.
    public func asyncConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        writer.requireWriteOutsideOfTransaction("asyncConcurrentRead")
        // Without SQLITE_ENABLE_SNAPSHOT, a state is named by holding it: no write may come in between.
        readers.asyncInCurrentSnapshot(rank, value)
    }
}

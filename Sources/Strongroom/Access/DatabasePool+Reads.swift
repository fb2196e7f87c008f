extension DatabasePool {
    /// The rank of the calling thread. The thread that has the writer owns the barrier, if there is one.
    private var rank: VisitorRank {
        guard writer.isAccessed else { return .ordinary }
        // Readers in use may wait for the target queue, which may be this thread's. The only reader may be this
        // thread's.
        return readers.target == nil && !readers.isAccessed ? .owner : .ownerAtOnce
    }

    /// Runs `value` with a reader, in a transaction that sees one snapshot and can't write.
    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try tracing.run(.read) { try readers.sync(rank) { try $0.withCurrentSnapshot(value) } }
    }

    /// Suspends the task instead of blocking the thread.
    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        guard let tracer = tracing.tracer else { return try await readers.read { try $0.withCurrentSnapshot(value) } }
        return try await tracing.run(.read, with: tracer) {
            try await readers.read { try $0.withCurrentSnapshot(value) }
        }
    }

    /// Runs `value` later with a reader, in a transaction that sees one snapshot and can't write.
    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        let value = tracing.later(.read, value)
        readers.async({ try $0.passSnapshot(isCurrent: true, to: value) }, orElse: { value(.failure($0)) })
    }

    /// Runs `value` with a reader, outside of any transaction.
    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try tracing.run(.read) { try readers.sync(rank, value) }
    }

    /// Suspends the task instead of blocking the thread.
    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        guard let tracer = tracing.tracer else { return try await readers.read(value) }
        return try await tracing.run(.read, with: tracer) { try await readers.read(value) }
    }

    /// Runs `value` later with a reader, outside of any transaction.
    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncUnsafeRead(value, thenReducing: { nil })
    }

    /// Also runs the work that `reduction` returns, when the reader is free.
    func asyncUnsafeRead(
        _ value: @escaping @Sendable (Result<Database, any Error>) -> Void,
        thenReducing reduction: @escaping @Sendable () -> Workers.Work?
    ) {
        let value = tracing.later(.read, value)
        readers.async(
            { value(.success($0)) },
            orElse: { error in
                value(.failure(error))
                if let reduce = reduction() { LimitedWork.reductions.run(reduce) }
            }, thenReducing: reduction)
    }

    /// Runs `value` with the connection of the calling thread's access, or with a reader.
    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        // The thread's own connection sees the changes of the access around.
        if !readers.isAccessed, writer.isAccessed, !writer.isBarred { return try value(writer.accessed) }
        if readers.isAccessed { return try readers.reentrantSync(rank, value) }
        return try tracing.run(.read) { try readers.sync(rank, value) }
    }

    /// Runs `value` with a reader, in the state that the last transaction has left, while later writes go on.
    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        asyncConcurrentRead(value)
    }

    /// Reads the state that the last transaction has left, while later writes go on.
    ///
    /// Returns as soon as the reader holds that state, before `value` has run. `value` gets the error if the read could
    /// not begin. Called inside of a barrier, the read does not wait for the barrier, nor the barrier for the read.
    ///
    /// - precondition: called inside of a write and outside of any transaction. Otherwise it is a fatal error.
    public func asyncConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        writer.requireWriteOutsideOfTransaction("asyncConcurrentRead")
        // Without SQLITE_ENABLE_SNAPSHOT, a state has no name: a reader holds it before the next write begins.
        readers.asyncInCurrentSnapshot(rank, tracing.later(.read, value))
    }
}

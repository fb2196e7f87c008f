/// A type-erased database writer.
public final class AnyDatabaseWriter: DatabaseWriter, ReaderWrapper {
    let base: any DatabaseWriter

    var reader: any DatabaseReader { base }

    /// Creates a writer that forwards its calls to `base`.
    public init(_ base: any DatabaseWriter) {
        self.base = base
    }
}

// MARK: - Writes

extension AnyDatabaseWriter {
    /// Writes with the wrapped writer, outside of any transaction.
    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try base.writeWithoutTransaction(updates)
    }

    /// Suspends the task instead of blocking the thread.
    public func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await base.writeWithoutTransaction(updates)
    }

    /// Writes with the wrapped writer later, outside of any transaction.
    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        base.asyncWriteWithoutTransaction(updates)
    }

    /// Writes with the wrapped writer, while no other access runs.
    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try base.barrierWriteWithoutTransaction(updates)
    }

    /// Suspends the task instead of blocking the thread.
    public func barrierWriteWithoutTransaction<T: Sendable>(
        _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await base.barrierWriteWithoutTransaction(updates)
    }

    /// Writes with the wrapped writer later, while no other access runs.
    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        base.asyncBarrierWriteWithoutTransaction(updates)
    }

    /// Writes with the wrapped writer, even inside of another write.
    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try base.unsafeReentrantWrite(updates)
    }

    /// Reads the state of the last transaction with the wrapped writer.
    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        base.spawnConcurrentRead(value)
    }

    /// Suspends the wrapped writer.
    public func suspend() { base.suspend() }

    /// Resumes the wrapped writer.
    public func resume() { base.resume() }

    /// Makes later reads of the wrapped writer open new connections.
    public func invalidateReadOnlyConnections() { base.invalidateReadOnlyConnections() }
}

/// A type-erased database reader.
public final class AnyDatabaseReader: ReaderWrapper {
    let reader: any DatabaseReader

    /// Creates a reader that forwards its calls to `base`.
    public init(_ base: any DatabaseReader) {
        reader = base
    }
}

/// A type that forwards the calls of a reader to another one.
protocol ReaderWrapper: DatabaseReader {
    var reader: any DatabaseReader { get }
}

extension ReaderWrapper {
    /// The configuration of the wrapped reader.
    public var configuration: Configuration { reader.configuration }

    /// The path of the wrapped reader's database.
    public var path: String { reader.path }

    /// Closes the wrapped reader.
    public func close() throws { try reader.close() }

    /// Interrupts the wrapped reader.
    public func interrupt() { reader.interrupt() }

    /// Reads from the wrapped reader.
    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try reader.read(value)
    }

    /// Suspends the task instead of blocking the thread.
    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await reader.read(value)
    }

    /// Reads from the wrapped reader later.
    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        reader.asyncRead(value)
    }

    /// Reads from the wrapped reader, outside of any transaction.
    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try reader.unsafeRead(value)
    }

    /// Suspends the task instead of blocking the thread.
    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await reader.unsafeRead(value)
    }

    /// Reads from the wrapped reader later, outside of any transaction.
    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        reader.asyncUnsafeRead(value)
    }

    /// Reads from the wrapped reader, even inside of another access.
    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try reader.unsafeReentrantRead(value)
    }
}

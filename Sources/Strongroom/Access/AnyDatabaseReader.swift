/// Any database reader, behind one type.
public final class AnyDatabaseReader: ReaderWrapper {
    let reader: any DatabaseReader

    /// Creates a reader that does what `base` does.
    public init(_ base: any DatabaseReader) {
        reader = base
    }
}

/// A type that does what another reader does.
protocol ReaderWrapper: DatabaseReader {
    var reader: any DatabaseReader { get }
}

extension ReaderWrapper {
    public var configuration: Configuration { reader.configuration }

    public var path: String { reader.path }

    public func close() throws { try reader.close() }

    public func interrupt() { reader.interrupt() }

    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try reader.read(value)
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await reader.read(value)
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        reader.asyncRead(value)
    }

    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T {
        try reader.unsafeRead(value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await reader.unsafeRead(value)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        reader.asyncUnsafeRead(value)
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try reader.unsafeReentrantRead(value)
    }
}

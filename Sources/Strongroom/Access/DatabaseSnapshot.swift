import Foundation

/// A reader of the state that a database had when ``DatabasePool/makeSnapshot()`` was called.
///
/// The write-ahead log can't begin anew while a snapshot lives, and grows. Release a snapshot that is no longer needed.
///
/// Source: <https://www.sqlite.org/wal.html#avoiding_excessively_large_wal_files>.
public final class DatabaseSnapshot: DatabaseSnapshotReader {
    /// The path of the database file.
    public let path: String

    let reader: SerializedConnection
    private let tracing: AccessTracing

    /// The configuration of the connection.
    public var configuration: Configuration { reader.configuration }

    init(
        path: String, label: String, configuration: Configuration, target: TargetQueue?,
        setup: (Database) throws -> Void
    ) throws {
        self.path = path
        var configuration = configuration
        // The transaction that holds the state lasts from one access to the next.
        configuration.allowsUnsafeTransactions = true
        configuration.isSnapshot = true
        tracing = AccessTracing(tracer: configuration.accessTracer, database: label)
        reader = try SerializedConnection(
            path: path,
            configuration: configuration,
            label: label,
            target: target,
            prepare: { db in
                try setup(db)
                try db.holdSnapshotUntilClosing()
            })
    }

    /// Closes the connection, after the accesses that came before.
    public func close() throws {
        // SQLite ends the transaction when it closes the connection. If a statement prevents closing, the transaction
        // lasts.
        try DeferredReleases.after { try reader.sync { try $0.close() } }
    }

    /// Interrupts the running statement.
    public func interrupt() {
        reader.interrupt()
    }

    /// Runs `block` in the state of the snapshot.
    public func read<T>(_ block: (Database) throws -> T) rethrows -> T {
        try tracing.run(.read) { try reader.sync(block) }
    }

    /// Suspends the task instead of blocking the thread.
    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        guard let tracer = tracing.tracer else { return try await awaitAccess(value, schedule: reader.async) }
        return try await tracing.run(.read, with: tracer) { try await awaitAccess(value, schedule: reader.async) }
    }

    /// Runs `value` later in the state of the snapshot.
    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        let value = tracing.later(.read, value)
        reader.async({ try $0.passConnection(to: value) }, orElse: { value(.failure($0)) })
    }

    /// Runs `value` in the state of the snapshot.
    public func unsafeRead<T>(_ value: (Database) throws -> T) rethrows -> T {
        try tracing.run(.read) { try reader.sync(value) }
    }

    /// Suspends the task instead of blocking the thread.
    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        guard let tracer = tracing.tracer else { return try await awaitAccess(value, schedule: reader.async) }
        return try await tracing.run(.read, with: tracer) { try await awaitAccess(value, schedule: reader.async) }
    }

    /// Runs `value` later in the state of the snapshot.
    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        let value = tracing.later(.read, value)
        reader.async({ try $0.passConnection(to: value) }, orElse: { value(.failure($0)) })
    }

    /// Runs `value` in the state of the snapshot, even inside of another access.
    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        if reader.isAccessed { return try value(reader.accessed) }
        return try tracing.run(.read) { try reader.sync(value) }
    }

    /// Runs `value` in the state of the snapshot, even inside of another access.
    public func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        if reader.isAccessed { return try value(reader.accessed) }
        return try tracing.run(.read) { try reader.sync(value) }
    }
}

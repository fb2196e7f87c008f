import Dispatch
import Foundation

/// Reads one state of a database: that of the moment when ``DatabasePool/makeSnapshot()`` was called.
///
/// The write-ahead log grows as long as a snapshot lives: let go of it.
public final class DatabaseSnapshot: DatabaseSnapshotReader {
    public let path: String

    private let reader: SerializedConnection

    public var configuration: Configuration { reader.configuration }

    init(
        path: String, label: String, configuration: Configuration, target: TargetQueue?,
        setup: (Database) throws -> Void) throws
    {
        self.path = path
        var configuration = configuration
        // The transaction that holds the state lasts from one access to the next.
        configuration.allowsUnsafeTransactions = true
        reader = try SerializedConnection(
            path: path,
            configuration: configuration,
            queue: DispatchQueue(label: label, qos: configuration.readQoS),
            target: target,
            prepare: { db in
                try setup(db)
                try db.holdSnapshotUntilClosing()
            })
    }

    public func close() throws {
        // SQLite ends the transaction when it closes the connection, and not when a statement keeps it from that.
        try DeferredReleases.after { try reader.sync { try $0.close() } }
    }

    public func interrupt() {
        reader.interrupt()
    }

    public func read<T>(_ block: (Database) throws -> T) rethrows -> T {
        try reader.sync(block)
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await awaitAccess(value, schedule: reader.async)
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        reader.async({ try $0.passConnection(to: value) }, orElse: { value(.failure($0)) })
    }

    public func unsafeRead<T>(_ value: (Database) throws -> T) rethrows -> T {
        try reader.sync(value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await awaitAccess(value, schedule: reader.async)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        reader.async({ try $0.passConnection(to: value) }, orElse: { value(.failure($0)) })
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try reader.reentrantSync(value)
    }

    public func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try reader.reentrantSync(value)
    }
}

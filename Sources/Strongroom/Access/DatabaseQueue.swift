import Dispatch
import Foundation

/// A database with one connection: all accesses, reads and writes, come one after the other.
public final class DatabaseQueue: DatabaseWriter {
    public let path: String

    private let writer: SerializedConnection

    public var configuration: Configuration { writer.configuration }

    /// Opens the database at `path`, and creates it when it does not exist.
    ///
    /// - throws: `SQLITE_NOTADB` when the key is wrong or the file is not a database, `SQLITE_CANTOPEN` when it can't be opened.
    public init(path: String, configuration: Configuration = Configuration()) throws {
        self.path = path
        writer = try SerializedConnection(
            path: path,
            configuration: configuration.sharingKeys(),
            defaultLabel: "Strongroom.DatabaseQueue",
            target: configuration.writeTargetQueue ?? configuration.targetQueue,
            qos: configuration.writeQoS)
    }

    /// Opens a new database in memory; queues of the same name in one process share it.
    public init(named name: String? = nil, configuration: Configuration = Configuration()) throws {
        path = name.map { Database.sharedMemoryURI(named: $0) } ?? ":memory:"
        var configuration = configuration.sharingKeys()
        configuration.readonly = false
        writer = try SerializedConnection(
            path: path,
            configuration: configuration,
            defaultLabel: "Strongroom.DatabaseQueue",
            target: configuration.writeTargetQueue ?? configuration.targetQueue,
            qos: configuration.writeQoS)
    }

    public func close() throws {
        try writer.sync { try $0.close() }
    }

    public func interrupt() {
        writer.interrupt()
    }

    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try writer.sync { try $0.isolated(value) }
    }

    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try writer.sync(updates)
    }

    /// Runs `updates` outside of any transaction, alone. The queue's name for ``writeWithoutTransaction(_:)``.
    public func inDatabase<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try writer.sync(updates)
    }
}

import Dispatch
import Foundation

/// A database with one connection: all accesses, reads and writes, come one after the other.
///
/// Open one queue per file, for as long as the program uses it.
public final class DatabaseQueue: DatabaseWriter {
    public let path: String

    let writer: SerializedConnection
    let externalChanges: ExternalChanges?
    private let suspensionObserver: SuspensionObserver?

    public var configuration: Configuration { writer.configuration }

    /// Opens the database at `path`, and creates it when it does not exist, unless the configuration is read-only.
    ///
    /// - throws: `SQLITE_NOTADB` when the key is wrong or the file is not a database, `SQLITE_CANTOPEN` when it can't
    ///   be opened.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        try self.init(opening: path, configuration)
    }

    /// Opens a new database in memory; queues of the same name in one process share it.
    public convenience init(named name: String? = nil, configuration: Configuration = Configuration()) throws {
        var configuration = configuration
        configuration.readonly = false
        try self.init(opening: name.map { SQLiteURI.sharedMemory(named: $0) } ?? ":memory:", configuration)
    }

    private init(opening path: String, _ configuration: Configuration) throws {
        let configuration = configuration.sharingKeys()
        self.path = path
        let writer = try configuration.explainingMissingLog(at: path) {
            try SerializedConnection(
                path: path,
                configuration: configuration,
                queue: DispatchQueue(
                    label: configuration.label ?? "Strongroom.DatabaseQueue",
                    qos: configuration.readonly ? configuration.readQoS : configuration.writeQoS),
                target: TargetQueue(configuration.writerTargetQueue),
                prepare: { try $0.setUpJournal(requiresWAL: false) })
        }
        self.writer = writer
        externalChanges = try ExternalChanges(of: writer)
        suspensionObserver = SuspensionObserver(of: writer)
    }

    public func close() throws {
        try DeferredReleases.after { try writer.sync { try $0.close() } }
        externalChanges?.stop()
    }

    public func interrupt() {
        writer.interrupt()
    }

    /// Gives back memory that the connection can do without, when the accesses that came before are done.
    public func releaseMemory() {
        writer.sync { $0.releaseMemory() }
    }

    public func suspend() {
        writer.suspend()
    }

    public func resume() {
        writer.resume()
    }
}

// MARK: - Reads

extension DatabaseQueue {
    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try writer.sync { try $0.isolated(value) }
    }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await awaitAccess({ try $0.isolated(value) }, schedule: writer.async)
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        writer.async({ try $0.passSnapshot(isCurrent: false, to: value) }, orElse: { value(.failure($0)) })
    }

    public func unsafeRead<T>(_ value: (Database) throws -> T) rethrows -> T {
        try writer.sync(value)
    }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await awaitAccess(value, schedule: writer.async)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        writer.async({ try $0.passConnection(to: value) }, orElse: { value(.failure($0)) })
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) rethrows -> T {
        try writer.reentrantSync(value)
    }

    /// Runs `value` at once: there is no other connection that it could run on.
    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        let db = writer.requireWriteOutsideOfTransaction("spawnConcurrentRead")
        do {
            try db.passSnapshot(isCurrent: false, to: value)
        } catch {
            value(.failure(error))
        }
    }
}

// MARK: - Writes

extension DatabaseQueue {
    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try writer.sync(updates)
    }

    public func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await awaitAccess(updates, schedule: writer.async)
    }

    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        writer.async(updates)
    }

    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try writer.sync {
            _ = try $0.openConnection
            return try updates($0)
        }
    }

    public func barrierWriteWithoutTransaction<T: Sendable>(
        _ updates: @Sendable (Database) throws -> T) async throws -> T
    {
        try await awaitAccess(updates, schedule: writer.async)
    }

    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void)
    {
        writer.async({ try $0.passConnection(to: updates) }, orElse: { updates(.failure($0)) })
    }

    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try writer.reentrantSync(updates)
    }

    /// Runs `updates` outside of any transaction, alone. The queue's name for `writeWithoutTransaction(_:)`.
    public func inDatabase<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try writer.sync(updates)
    }

    /// Runs `updates` in a transaction: committed or rolled back as they answer, rolled back when they throw.
    ///
    /// - parameter kind: by default ``Configuration/defaultTransactionKind``.
    public func inTransaction(
        _ kind: Database.TransactionKind? = nil,
        _ updates: (Database) throws -> Database.TransactionCompletion) throws
    {
        try writer.sync { db in
            try db.inTransaction(kind) { try updates(db) }
        }
    }
}

// MARK: - Copies

extension DatabaseQueue {
    /// A copy in memory of the database at `fromPath`, opened with the same key.
    public static func inMemoryCopy(
        fromPath path: String, configuration: Configuration = Configuration()) throws -> DatabaseQueue
    {
        try DatabaseQueue(named: nil, configuration: configuration).filled(fromPath: path, configuration)
    }

    /// A copy of the database at `fromPath`, opened with the same key, that goes away with its connection.
    ///
    /// It has no file that others could find: what does not fit in memory is on disk, encrypted.
    public static func temporaryCopy(
        fromPath path: String, configuration: Configuration = Configuration()) throws -> DatabaseQueue
    {
        var writable = configuration
        writable.readonly = false
        return try DatabaseQueue(opening: "", writable).filled(fromPath: path, configuration)
    }

    private func filled(fromPath path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        let isReadOnly = configuration.readonly
        var configuration = configuration
        configuration.readonly = true
        let source = try DatabaseQueue(path: path, configuration: configuration)
        try source.backup(to: self)
        try source.close()
        if isReadOnly { try writer.sync { try $0.execute(sql: "PRAGMA query_only = 1") } }
        return self
    }
}

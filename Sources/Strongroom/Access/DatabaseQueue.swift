import Foundation

/// A database with one connection, which runs all reads and writes one after the other.
///
/// Open one queue per file, and keep it open for as long as the program uses the file.
public final class DatabaseQueue: DatabaseWriter {
    /// The path of the database file. `:memory:` for a database in memory.
    public let path: String

    let writer: SerializedConnection
    let externalChanges: ExternalChanges?
    let tracing: AccessTracing
    let databaseLock: DatabaseLock

    /// The functions, collations and tokenizers that the connection gets again when it is unlocked.
    let setups: Mutex<ConnectionSetups>

    /// The configuration of the connection.
    public var configuration: Configuration { writer.configuration }

    /// Opens the database at `path`. Creates it if it doesn't exist, unless the configuration is read-only.
    ///
    /// - throws: `SQLITE_NOTADB` if the key is wrong or the file is not a database, `SQLITE_CANTOPEN` if the file can't
    ///   be opened.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        try self.init(opening: path, configuration)
    }

    /// Opens a new database in memory, also with a read-only configuration.
    ///
    /// - parameters:
    ///   - name: the name of the database, which queues in one process share. Nil, the default, for one that is not
    ///     shared.
    ///   - configuration: the configuration of the connection.
    ///
    /// Source: <https://www.sqlite.org/inmemorydb.html>.
    public convenience init(named name: String? = nil, configuration: Configuration = Configuration()) throws {
        var configuration = configuration
        configuration.readonly = false
        try self.init(opening: name.map { SQLiteURI.sharedMemory(named: $0) } ?? ":memory:", configuration)
    }

    private init(opening path: String, _ configuration: Configuration) throws {
        self.path = path
        let writer = try configuration.opening(at: path) {
            try SerializedConnection(
                path: path,
                configuration: $0,
                label: configuration.label ?? "Strongroom.DatabaseQueue",
                target: TargetQueue(configuration.writerTargetQueue),
                prepare: { try $0.setUpJournal(requiresWAL: false) })
        }
        self.writer = writer
        tracing = AccessTracing(
            tracer: configuration.accessTracer, database: configuration.label ?? "Strongroom.DatabaseQueue")
        externalChanges = try ExternalChanges(of: writer)
        let setups = Mutex(ConnectionSetups())
        self.setups = setups
        databaseLock = DatabaseLock(writer, nil, externalChanges) { db in
            try db.setUpJournal(requiresWAL: false)
            let all = setups.withLock { $0.missing(since: 0) }
            for setup in all { try setup(db) }
        }
    }

    /// Closes the connection, after the accesses that came before.
    public func close() throws {
        try close(calling: { _ in })
    }

    func close(calling willClose: (Database) -> Void) throws {
        try databaseLock.closeDatabase { try closeConnection(willClose) }
    }

    /// Returns false if the database was locked meanwhile.
    private func closeConnection(_ willClose: (Database) -> Void) throws -> Bool {
        try writer.sync(by: .inLineUnlessLocked) { db in
            if db.sqliteConnection != nil { willClose(db) }
            try db.close()
            return !writer.isLocked
        }
    }

    /// Interrupts the running statement.
    public func interrupt() {
        writer.interrupt()
    }

    /// Releases memory that the connection doesn't need, after the accesses that came before.
    public func releaseMemory() {
        writer.sync(by: .inLineUnlessLocked) { $0.releaseMemory() }
    }

    /// Suspends the connection: it takes no lock that keeps others out.
    public func suspend() {
        writer.suspend()
    }

    /// Ends a suspension.
    public func resume() {
        writer.resume()
    }
}

// MARK: - Reads

extension DatabaseQueue {
    /// Runs `value` in a transaction that can't write.
    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try tracing.run(.read) { try writer.sync { try $0.readingInQueue(value) } }
    }

    /// Suspends the task instead of blocking the thread.
    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        guard let tracer = tracing.tracer else {
            return try await awaitAccess({ try $0.readingInQueue(value) }, schedule: writer.async)
        }
        return try await tracing.run(.read, with: tracer) {
            try await awaitAccess({ try $0.readingInQueue(value) }, schedule: writer.async)
        }
    }

    /// Runs `value` later, in a transaction that can't write.
    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        let value = tracing.later(.read, value)
        writer.async(
            { db in
                db.figures.count(.queueReads)
                try db.passSnapshot(isCurrent: false, to: value)
            }, orElse: { value(.failure($0)) })
    }

    /// Runs `value` outside of any transaction. It can write.
    public func unsafeRead<T>(_ value: (Database) throws -> T) rethrows -> T {
        try tracing.run(.read) { try writer.sync(value) }
    }

    /// Suspends the task instead of blocking the thread.
    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        guard let tracer = tracing.tracer else { return try await awaitAccess(value, schedule: writer.async) }
        return try await tracing.run(.read, with: tracer) { try await awaitAccess(value, schedule: writer.async) }
    }

    /// Runs `value` later, outside of any transaction. It can write.
    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        let value = tracing.later(.read, value)
        writer.async({ try $0.passConnection(to: value) }, orElse: { value(.failure($0)) })
    }

    /// Runs `value` outside of any transaction, even inside of another access.
    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) rethrows -> T {
        if writer.isAccessed { return try value(writer.accessed) }
        return try tracing.run(.read) { try writer.sync(value) }
    }

    /// Runs `value` immediately: a queue has no other connection for it.
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
    /// Runs `updates` outside of any transaction.
    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try tracing.run(.write) { try writer.sync(updates) }
    }

    /// Suspends the task instead of blocking the thread.
    public func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        guard let tracer = tracing.tracer else { return try await awaitAccess(updates, schedule: writer.async) }
        return try await tracing.run(.write, with: tracer) { try await awaitAccess(updates, schedule: writer.async) }
    }

    /// Runs `updates` later, outside of any transaction.
    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        writer.async(tracing.later(.write, updates))
    }

    /// Runs `updates` outside of any transaction. Each access of a queue is a barrier.
    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try tracing.run(.barrier) {
            try writer.sync {
                _ = try $0.openConnection
                return try updates($0)
            }
        }
    }

    /// Suspends the task instead of blocking the thread.
    public func barrierWriteWithoutTransaction<T: Sendable>(
        _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        guard let tracer = tracing.tracer else { return try await awaitAccess(updates, schedule: writer.async) }
        return try await tracing.run(.barrier, with: tracer) { try await awaitAccess(updates, schedule: writer.async) }
    }

    /// Runs `updates` later, outside of any transaction.
    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        let updates = tracing.later(.barrier, updates)
        writer.async({ try $0.passConnection(to: updates) }, orElse: { updates(.failure($0)) })
    }

    /// Runs `updates` outside of any transaction, even inside of another access.
    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) rethrows -> T {
        if writer.isAccessed { return try updates(writer.accessed) }
        return try tracing.run(.write) { try writer.sync(updates) }
    }

    /// Runs `updates` outside of any transaction. Equivalent to `writeWithoutTransaction(_:)`.
    public func inDatabase<T>(_ updates: (Database) throws -> T) rethrows -> T {
        try tracing.run(.write) { try writer.sync(updates) }
    }

    /// Runs `updates` in a transaction. Commits or rolls back, as the block returns, and rolls back when it throws.
    ///
    /// Blocks until `updates` has run. Not reentrant.
    ///
    /// - parameters:
    ///   - kind: the kind of the transaction. Default: ``Configuration/defaultTransactionKind``.
    ///   - updates: the block, which returns `.commit` or `.rollback`.
    public func inTransaction(
        _ kind: Database.TransactionKind? = nil,
        _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws {
        try writeWithoutTransaction { db in
            try db.inTransaction(kind) { try updates(db) }
        }
    }
}

// MARK: - Copies

extension DatabaseQueue {
    /// Returns a copy in memory of the database at `fromPath`, which is opened with the key of `configuration`.
    ///
    /// The copy only allows reads if `configuration` is read-only.
    ///
    /// - throws: the errors of opening, and of ``Database/backup(to:pagesPerStep:progress:)``.
    public static func inMemoryCopy(
        fromPath path: String, configuration: Configuration = Configuration()
    ) throws -> DatabaseQueue {
        try DatabaseQueue(named: nil, configuration: configuration).filled(fromPath: path, configuration)
    }

    /// Returns a temporary copy of the database at `fromPath`, which is opened with the key of `configuration`.
    ///
    /// The copy has no name that other processes could open. Pages that don't fit in memory are on disk, encrypted if
    /// `configuration` has a key. SQLite deletes them when the connection is closed. The copy only allows reads if
    /// `configuration` is read-only.
    ///
    /// - throws: the errors of opening, and of ``Database/backup(to:pagesPerStep:progress:)``.
    public static func temporaryCopy(
        fromPath path: String, configuration: Configuration = Configuration()
    ) throws -> DatabaseQueue {
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

import Foundation

/// A database with one connection that writes and several that read at the same time.
///
/// The file is in WAL mode: a reader sees the state of the latest transaction, and does not wait for the writer. Open
/// one pool per file, and keep it open for as long as the program uses the file.
///
/// Source: <https://www.sqlite.org/wal.html>.
public final class DatabasePool: DatabaseWriter {
    /// The path of the database file.
    public let path: String

    // Released in this order: the last connection to close must be one that can empty and remove the log.
    let readers: ReaderPool
    let writer: SerializedConnection
    let label: String
    let externalChanges: ExternalChanges?
    let tracing: AccessTracing
    let databaseLock: DatabaseLock

    /// The busy timeout of the writer if the configuration has none, in milliseconds.
    ///
    /// A reader that finds the index of the write-ahead log in change takes the writer's lock for an instant and reads
    /// it again. Its thread may wait for a processor meanwhile.
    private static let minimumBusyTimeout: CInt = 100

    /// The configuration of the writer.
    public var configuration: Configuration { writer.configuration }

    /// Opens the database at `path`. Creates it if it doesn't exist, unless the configuration is read-only.
    ///
    /// Readers are opened when they are needed, up to ``Configuration/maximumReaderCount``.
    ///
    /// - throws: `SQLITE_NOTADB` if the key is wrong or the file is not a database, `SQLITE_CANTOPEN` if the file can't
    ///   be opened, `SQLITE_ERROR` if it can't be in WAL mode.
    public init(path: String, configuration: Configuration = Configuration()) throws {
        guard configuration.maximumReaderCount > 0 else {
            fatalError(
                """
                Configuration.maximumReaderCount is \(configuration.maximumReaderCount): a pool needs a reader.
                """)
        }
        let label = configuration.label ?? "Strongroom.DatabasePool"
        let target = TargetQueue(configuration.targetQueue)
        let writer = try configuration.opening(at: path) {
            try SerializedConnection(
                path: path,
                configuration: $0,
                label: label + ".writer",
                target: TargetQueue(configuration.writerTargetQueue) ?? target,
                minimumBusyTimeout: Self.minimumBusyTimeout,
                prepare: Self.prepareWriter)
        }
        self.path = path
        self.label = label
        self.writer = writer
        readers = ReaderPool(path: path, label: label, configuration: writer.configuration.readOnly, target: target)
        tracing = AccessTracing(tracer: configuration.accessTracer, database: label)
        externalChanges = try ExternalChanges(of: writer)
        databaseLock = DatabaseLock(writer, readers, externalChanges, prepare: Self.prepareWriter)
    }

    private static func prepareWriter(_ db: Database) throws {
        try db.setUpJournal(requiresWAL: true)
        try db.openLog()
    }

    /// Closes the writer and all readers, after the accesses that came before.
    public func close() throws {
        if readers.isAccessed { reentrancyError("a reader of \(path)") }
        try close(calling: { _ in })
    }

    func close(calling willClose: (Database) -> Void) throws {
        try databaseLock.closeDatabase { try closeAll(willClose) }
    }

    /// Returns false if the database was locked meanwhile.
    private func closeAll(_ willClose: (Database) -> Void) throws -> Bool {
        var outcome = ReaderPool.BarrierOutcome.closed
        var isLocked = false
        func lower() {
            if outcome == .raised { readers.lowerBarrier() }
        }
        try writer.sync(by: .inLineUnlessLocked, between: { outcome = readers.raiseBarrier() }, and: lower) { db in
            // Closed before: nothing is left to do.
            guard outcome == .raised else { return }
            willClose(db)
            isLocked = try !readers.close { try db.close() }
        }
        return !isLocked && outcome != .locked
    }

    /// Interrupts the running statements of all connections.
    public func interrupt() {
        writer.interrupt()
        for reader in readers.connections { reader.interrupt() }
    }

    /// Suspends all connections: they take no lock that keeps others out.
    public func suspend() {
        writer.suspend()
        readers.setSuspended(true)
    }

    /// Ends a suspension.
    public func resume() {
        readers.setSuspended(false)
        writer.resume()
    }
}

// MARK: - Connections

extension DatabasePool {
    /// Makes later reads open new connections. Running reads go on with theirs.
    public func invalidateReadOnlyConnections() {
        readers.invalidate()
    }

    /// Releases memory that the connections don't need, after the accesses that came before.
    ///
    /// Closes the readers, unless ``Configuration/persistentReadOnlyConnections`` is set. Blocks until it is done.
    public func releaseMemory() {
        if readers.isAccessed { reentrancyError("a reader of \(path)") }
        writer.sync(by: .inLineUnlessLocked) { $0.releaseMemory() }
        // A closed pool has no readers.
        guard readers.raiseBarrier() == .raised else { return }
        // After the barrier, which an object that is released may wait for.
        let release = readers.takeIdle()
        readers.lowerBarrier()
        release()
    }

    /// Releases memory that the connections don't need, later. Returns immediately.
    public func releaseMemoryEventually() {
        writer.async { $0.releaseMemory() }
        readers.asyncBarrier { self.readers.takeIdle()() }
    }

    /// Creates a reader of the state that the database has now.
    ///
    /// Inside of a write, it is the state that the last transaction has left. Snapshots don't count among the readers
    /// of the pool, and their number is not limited.
    ///
    /// - precondition: not called inside of a transaction of the writer, whose changes the snapshot would not see.
    ///   Otherwise it is a fatal error.
    /// - throws: the error that kept the connection from opening.
    public func makeSnapshot() throws -> DatabaseSnapshot {
        if writer.isAccessed, writer.accessed.isInsideTransaction {
            fatalError(
                """
                makeSnapshot() was called inside a transaction, whose changes the snapshot could not see. \
                Make the snapshot before or after the transaction, from writeWithoutTransaction.
                """)
        }
        return try databaseLock.duringWork {
            let snapshot = try DatabaseSnapshot(
                path: path,
                label: "\(label).snapshot.\(readers.nextSnapshotNumber())",
                configuration: configuration.readOnly,
                target: readers.target,
                setup: readers.setUpFully)
            databaseLock.add(snapshot.reader)
            return snapshot
        }
    }
}

extension Configuration {
    /// The configuration with read-only access.
    var readOnly: Configuration {
        var configuration = self
        configuration.readonly = true
        return configuration
    }
}

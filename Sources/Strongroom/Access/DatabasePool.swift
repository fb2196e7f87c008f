import Dispatch
import Foundation

/// A database with one connection that writes and several that read, at the same time.
///
/// The file is in WAL mode: readers see the state that the latest transaction left, and wait for no writer. Open one
/// pool per file, for as long as the program uses it.
///
/// Source: <https://www.sqlite.org/wal.html>.
public final class DatabasePool: DatabaseWriter {
    public let path: String

    // Given up in this order: the last connection to close must be one that can empty the log, and remove it.
    let readers: ReaderPool
    let writer: SerializedConnection
    let label: String
    let externalChanges: ExternalChanges?
    private let suspensionObserver: SuspensionObserver?

    /// The busy timeout of the writer where the configuration has none, in milliseconds.
    ///
    /// A reader that meets the index of the write-ahead log while it is being written takes the writer's lock for an
    /// instant to look again, and its thread may have to wait for a processor just then.
    private static let minimumBusyTimeout: CInt = 100

    public var configuration: Configuration { writer.configuration }

    /// Opens the database at `path`, and creates it when it does not exist, unless the configuration is read-only.
    ///
    /// Readers are opened when they are needed, up to ``Configuration/maximumReaderCount``.
    ///
    /// - throws: `SQLITE_NOTADB` when the key is wrong or the file is not a database, `SQLITE_CANTOPEN` when it can't
    ///   be opened, `SQLITE_ERROR` when it can't be in WAL mode.
    public init(path: String, configuration: Configuration = Configuration()) throws {
        guard configuration.maximumReaderCount > 0 else {
            fatalError("""
                Configuration.maximumReaderCount is \(configuration.maximumReaderCount): a pool needs a reader.
                """)
        }
        let configuration = configuration.sharingKeys()
        let label = configuration.label ?? "Strongroom.DatabasePool"
        let target = TargetQueue(configuration.targetQueue)
        let writer = try configuration.explainingMissingLog(at: path) {
            try SerializedConnection(
                path: path,
                configuration: configuration,
                queue: DispatchQueue(label: label + ".writer", qos: configuration.writeQoS),
                target: TargetQueue(configuration.writerTargetQueue) ?? target,
                minimumBusyTimeout: Self.minimumBusyTimeout,
                prepare: {
                    try $0.setUpJournal(requiresWAL: true)
                    try $0.openLog()
                })
        }
        self.path = path
        self.label = label
        self.writer = writer
        readers = ReaderPool(path: path, label: label, configuration: configuration.readOnly, target: target)
        externalChanges = try ExternalChanges(of: writer)
        suspensionObserver = SuspensionObserver(of: writer, readers: readers)
    }

    public func close() throws {
        if readers.isAccessed { reentrancyError("a reader of \(path)") }
        try DeferredReleases.after(closeAll)
        externalChanges?.stop()
    }

    private func closeAll() throws {
        var outcome = ReaderPool.BarrierOutcome.closed
        func lower() {
            if outcome == .raised { readers.lowerBarrier() }
        }
        try writer.sync(between: { outcome = readers.raiseBarrier() }, and: lower) { db in
            // Closed before: nothing is left to do.
            guard outcome == .raised else { return }
            try readers.close { try db.close() }
        }
    }

    public func interrupt() {
        writer.interrupt()
        for reader in readers.connections { reader.interrupt() }
    }

    public func suspend() {
        writer.suspend()
        readers.setSuspended(true)
    }

    public func resume() {
        readers.setSuspended(false)
        writer.resume()
    }
}

// MARK: - Connections

extension DatabasePool {
    /// Reads that follow open new connections; those that run go on with theirs.
    public func invalidateReadOnlyConnections() {
        readers.invalidate()
    }

    /// Gives back memory that the connections can do without, when all accesses that came before are done.
    ///
    /// Closes the readers, unless ``Configuration/persistentReadOnlyConnections``.
    public func releaseMemory() {
        if readers.isAccessed { reentrancyError("a reader of \(path)") }
        writer.sync { $0.releaseMemory() }
        // A closed pool has no readers.
        guard readers.raiseBarrier() == .raised else { return }
        readers.lowerBarrier()
        releaseReaders()
    }

    /// Gives back memory that the connections can do without, later: returns at once.
    public func releaseMemoryEventually() {
        writer.async { $0.releaseMemory() }
        readers.asyncBarrier { self.releaseReaders() }
    }

    private func releaseReaders() {
        configuration.persistentReadOnlyConnections ? readers.releaseMemory() : readers.invalidate()
    }

    /// A reader of the state that the database has now.
    ///
    /// Inside of a write it is the state that the last transaction has left. As many as you need: they don't count
    /// among the readers of the pool.
    ///
    /// - precondition: not inside a transaction of the writer, whose changes the snapshot would not see: a fatal
    ///   error.
    public func makeSnapshot() throws -> DatabaseSnapshot {
        if writer.isAccessed, writer.accessed.isInsideTransaction {
            fatalError("""
                makeSnapshot() was called inside a transaction, whose changes the snapshot could not see. \
                Make the snapshot before or after the transaction, from writeWithoutTransaction.
                """)
        }
        return try DatabaseSnapshot(
            path: path,
            label: "\(label).snapshot.\(readers.nextSnapshotNumber())",
            configuration: configuration.readOnly,
            target: readers.target,
            setup: readers.setUpFully)
    }
}

extension Configuration {
    /// The same, for a connection that reads only.
    var readOnly: Configuration {
        var configuration = self
        configuration.readonly = true
        return configuration
    }
}

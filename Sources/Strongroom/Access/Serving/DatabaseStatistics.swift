import Foundation

/// Figures of a queue or pool since it was opened. Each is the sum over all connections.
///
/// Connections always count: counting costs one store in memory for each event. The figures contain no names, no SQL
/// and no values.
public struct DatabaseStatistics: Sendable, Equatable {
    /// The accesses of one kind.
    public struct Accesses: Sendable, Equatable {
        /// The number of accesses that have begun.
        public var count = 0

        /// The number of accesses that waited for another access.
        public var waits = 0

        /// The sum of the times that accesses waited, in seconds.
        public var waitingTime: TimeInterval = 0

        /// The longest wait, in seconds.
        public var longestWait: TimeInterval = 0
    }

    /// The accesses that only read.
    public var reads = Accesses()

    /// The accesses that can write. All accesses of a queue wait in one line: all waits of a queue are counted here. So
    /// are its reads outside of a transaction, which can write.
    public var writes = Accesses()

    /// The waits of barriers for the readers of a pool, including those of the library, such as at closing. Their
    /// accesses are counted as writes, too.
    public var barriers = Accesses()

    /// The number of readers that are in use now.
    public var readersInUse = 0

    /// The number of readers that are open now.
    public var readersOpen = 0

    /// The number of accesses that wait now.
    public var accessesWaiting = 0

    /// The number of times that a prepared statement was found in a cache.
    public var statementsFromCache = 0

    /// The number of statements that were compiled.
    public var statementsCompiled = 0

    /// The number of transactions that have changed something.
    public var commits = 0

    /// The number of checkpoints of the write-ahead log that these connections have begun, including SQLite's own.
    public var checkpoints = 0

    /// The number of waits for the lock of another connection.
    public var busyWaits = 0

    /// The number of keys that were derived.
    public var derivations = 0

    /// The number of fetches of observations.
    public var observationFetches = 0

    /// The size of the write-ahead log, in bytes. 0 if there is none.
    public var logSize: Int64 = 0
}

extension DatabaseWriter {
    /// The figures of the database since it was opened. Any thread may read them at any time. Reading them does not
    /// wait for accesses.
    ///
    /// For a type other than ``DatabaseQueue``, ``DatabasePool`` and ``AnyDatabaseWriter``, all are zero.
    public var statistics: DatabaseStatistics {
        guard let served, let tally = served.writer.configuration.tally else { return DatabaseStatistics() }
        var statistics = DatabaseStatistics()
        statistics.add(tally)
        statistics.add(served)
        return statistics
    }
}

extension DatabaseStatistics {
    fileprivate mutating func add(_ tally: Tally) {
        let queueReads = tally.count(of: .queueReads)
        reads = Accesses(tally.count(of: .reads) + queueReads, tally.waits(of: .read))
        writes = Accesses(tally.count(of: .writes) - queueReads, tally.waits(of: .write))
        let barrierWaits = tally.waits(of: .barrier)
        barriers = Accesses(barrierWaits.count, barrierWaits)
        statementsFromCache = tally.count(of: .cachedStatements)
        statementsCompiled = tally.count(of: .compiledStatements)
        checkpoints = tally.count(of: .checkpoints)
        busyWaits = tally.count(of: .busyWaits)
        observationFetches = tally.observationFetches
    }

    fileprivate mutating func add(_ served: any ServedWriter) {
        let writer = served.writer
        commits = Int(clamping: served.databaseLock.commitCount)
        derivations = writer.configuration.keyring?.derivationCount ?? 0
        accessesWaiting = writer.waiting + (served.readerPool?.waiting.count ?? 0)
        if let counts = served.readerPool?.readerCounts { (readersInUse, readersOpen) = (counts.inUse, counts.open) }
        if let path = NamedFile.databasePath(of: served.path) {
            logSize = max(0, NamedFile.size(CompanionFile.log.path(of: path)))
        }
    }
}

extension DatabaseStatistics.Accesses {
    fileprivate init(_ count: Int, _ waits: Tally.Waits) {
        self.init(
            count: max(0, count), waits: waits.count, waitingTime: TimeInterval(waits.nanoseconds) / 1e9,
            longestWait: TimeInterval(waits.longest) / 1e9)
    }
}

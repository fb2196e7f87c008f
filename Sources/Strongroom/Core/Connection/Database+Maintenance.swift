extension Database {
    /// The extent of a checkpoint. <https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>
    public enum CheckpointMode: CInt, Sendable {
        /// Moves the frames that it can, without waiting.
        case passive = 0

        /// Waits for the writer, and for readers of older states, and moves all frames.
        case full = 1

        /// Like `full`, and then waits for all readers, so that the next writer restarts the log.
        case restart = 2

        /// Like `restart`, and then empties the log.
        case truncate = 3
    }

    /// Moves the write-ahead log into the database file.
    ///
    /// - parameters:
    ///   - kind: the extent of the checkpoint. Default: `.passive`.
    ///   - dbName: the name of the database. Nil for all attached databases. Default: `main`.
    /// - returns: the number of frames in the log, and the number of them that are in the file. -1 and -1 without a
    ///   log.
    /// - throws: `SQLITE_BUSY` when a connection that the mode waits for does not end, `SQLITE_LOCKED` inside a
    ///   transaction.
    ///
    /// <https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>
    @discardableResult
    public func checkpoint(
        _ kind: CheckpointMode = .passive, on dbName: String? = "main") throws
        -> (walFrameCount: Int, checkpointedFrameCount: Int)
    {
        requireAccess()
        try prepareToReadFile()
        try stops.refuseLocks()
        let log = try stops.waiting { try moveLog(kind, of: dbName) }
        return (Int(log.frames), Int(log.moved))
    }

    /// Releases as much memory as possible: cached pages and statements.
    ///
    /// <https://www.sqlite.org/c3ref/db_release_memory.html>
    public func releaseMemory() {
        requireAccess()
        removeCachedStatements()
        freeMemory()
    }

    /// A number that changes with the schema. <https://www.sqlite.org/pragma.html#pragma_schema_version>
    public func schemaVersion() throws -> Int32 {
        try Int32.fetchOne(self, sql: "PRAGMA main.schema_version") ?? 0
    }
}

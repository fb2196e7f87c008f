extension Database {
    /// The extent of a checkpoint. <https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>
    public enum CheckpointMode: CInt, Sendable {
        /// Nobody: moves what it can.
        case passive = 0

        /// The writer, and readers of older states: moves all.
        case full = 1

        /// As `full`, then all readers, so that the next writer starts the log anew.
        case restart = 2

        /// As `restart`, then empties the log.
        case truncate = 3
    }

    /// Moves the write-ahead log into the database file.
    ///
    /// - parameter dbName: `main` by default; all attached databases when nil.
    /// - returns: the frames in the log, and how many of them are in the file; -1 and -1 without a log.
    /// - throws: `SQLITE_BUSY` when someone that the mode waits for goes on, `SQLITE_LOCKED` inside a transaction.
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

    /// Frees as much memory as possible: cached pages and statements.
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

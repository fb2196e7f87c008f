import CSQLCipher

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
    public func checkpoint(_ kind: CheckpointMode = .passive, on dbName: String? = "main") throws
        -> (walFrameCount: Int, checkpointedFrameCount: Int)
    {
        requireAccess()
        try prepareToReadFile()
        try stops.refuseLocks()
        let result = try stops.waiting { try log.checkpoint(kind, of: dbName) }
        return (Int(result.frames), Int(result.moved))
    }

    /// The write-ahead log of the connection's databases.
    var log: WriteAheadLog { WriteAheadLog(database: self) }
}

/// The write-ahead log, as one connection sees it. <https://www.sqlite.org/wal.html>
struct WriteAheadLog {
    let database: Database

    /// True if the main database has a write-ahead log.
    var isUsed: Bool {
        get throws { try database.answer(to: "PRAGMA main.journal_mode") == "wal" }
    }

    /// Moves pages into the database file. Returns the number of frames in the log, and how many of them are in the
    /// file.
    /// <https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>
    func checkpoint(
        _ kind: Database.CheckpointMode, of schemaName: String? = "main"
    ) throws -> (frames: CInt, moved: CInt) {
        var frames: CInt = -1
        var moved: CInt = -1
        let connection = try RawConnection(database.openConnection)
        try database.check(connection.checkpoint(schemaName, mode: kind.rawValue, frames: &frames, moved: &moved))
        return (frames, moved)
    }

    /// Keeps the log and its index when the last connection closes. A database in memory has none.
    /// <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntlpersistwal>
    func makePersistent() throws {
        var isPersistent: CInt = 1
        let code = try RawConnection(database.openConnection).fileControl(
            "main", SQLITE_FCNTL_PERSIST_WAL, &isPersistent)
        if code != SQLITE_NOTFOUND { try database.check(code) }
    }

    /// Decides whether closing, and an `ATTACH` that fails, run a checkpoint. By default they do.
    /// <https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfignockptonclose>
    func setCheckpointsAtClose(_ isEnabled: Bool) {
        guard let connection = database.sqliteConnection else { return }
        _ = RawConnection(connection).configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !isEnabled)
    }
}

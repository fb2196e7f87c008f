import CStrongroom

// The files of connections: `strongroom_vfs.h` and `strongroom_log_state.h`.

extension ConnectionHandle {
    /// Sets the connection for which the calling thread opens database files. Nil if it is unknown.
    static func setOpening(_ connection: ConnectionHandle?) { strongroom_set_opening(connection?.pointer) }

    /// Returns true if reading the main database, or also an attached one, takes a lock that keeps others out, because
    /// it has no write-ahead log. Outside of transactions, checks the files of those that had none.
    func readsTakeLocks(attached: Bool) -> Bool { strongroom_reads_take_locks(pointer, attached) }

    /// The state of the main database's write-ahead log.
    enum LogState {
        /// There is no log, or it was not read yet.
        case absent
        /// A commit has begun whose frames are not all visible.
        case pending
        /// All commits are visible.
        case settled
    }

    /// Compares the log with its index in shared memory.
    func checkLog() -> LogState {
        switch strongroom_check_log(pointer) {
        case STRONGROOM_LOG_ABSENT: .absent
        case STRONGROOM_LOG_PENDING: .pending
        default: .settled
        }
    }
}

extension SQLite {
    /// True if the library has the WAL-reset bug. <https://www.sqlite.org/wal.html#walresetbug>
    static var hasWALResetBug: Bool { strongroom_library_has_wal_reset_bug() }
}

extension RawConnection {
    /// Returns true if the database was opened through the VFS of this library, or has no file.
    func isOurs(_ schema: String) -> Bool { strongroom_is_ours(pointer, schema) }
}

import CStrongroom

/// The logs of SQLite and SQLCipher: `strongroom_log.h`.
enum SQLiteLog {
    /// Calls a function with each line of SQLite's log. Returns `SQLITE_MISUSE` after SQLite's first use.
    static func connect(
        _ log: @escaping @convention(c) (UnsafeMutableRawPointer?, CInt, UnsafePointer<CChar>?) -> Void
    ) -> CInt {
        strongroom_config_log(log)
    }

    /// Calls a function with each line of SQLCipher's log, on a thread of its own. Returns a path for
    /// `PRAGMA cipher_log`.
    static func sink(_ line: @escaping @convention(c) (UnsafePointer<CChar>?) -> Void) -> String? {
        strongroom_log_sink(line).map { String(cString: $0) }
    }
}

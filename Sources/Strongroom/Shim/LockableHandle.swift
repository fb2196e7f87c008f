import CSQLCipher
import CStrongroom

/// A connection that is closed while its database is locked, and opened again with the same handle.
struct LockableHandle {
    let handle: ConnectionHandle

    /// Stops the running access, and those that come, until the connection is closed. Any thread may call it.
    func stop() { strongroom_connection_lock(handle.pointer) }

    /// Ends the stop. Any thread may call it.
    func endStop() { strongroom_connection_end_lock(handle.pointer) }

    /// The number of accesses so far. Any thread may read it.
    var accessCount: UInt64 { strongroom_accesses(handle.pointer) }

    /// True while a thread has access. Any thread may read it.
    var isAccessed: Bool { strongroom_is_accessed(handle.pointer) }

    /// Opens the connection again. Returns SQLite's message with the result code if it fails.
    func reopen(_ path: String, flags: CInt, vfs: String?) -> (code: CInt, message: String?) {
        var message: UnsafeMutablePointer<CChar>?
        let code = strongroom_connection_reopen(handle.pointer, path, flags, vfs, &message)
        defer { sqlite3_free(message) }
        return (code, message.map { String(cString: $0) })
    }
}

import CSQLCipher
import CStrongroom

// Opening and closing connections: `strongroom_opening.h`.

extension ConnectionHandle {
    /// Opens a connection. Returns SQLite's message with the result code if it fails.
    ///
    /// - parameter vfs: the VFS in `path`, if that is a URI with one.
    static func open(_ path: String, flags: CInt, vfs: String?) -> (
        code: CInt, connection: ConnectionHandle?, message: String?
    ) {
        var opened: UnsafeMutablePointer<strongroom_connection>?
        var message: UnsafeMutablePointer<CChar>?
        let code = strongroom_connection_open(path, flags, vfs, &opened, &message)
        defer { sqlite3_free(message) }
        return (code, opened.map { ConnectionHandle($0) }, message.map { String(cString: $0) })
    }

    /// True if there was no file of the main database before the connection was opened.
    var hasCreatedFile: Bool { pointer.pointee.has_created }

    /// Closes the connection. Returns `SQLITE_BUSY`, and does nothing, if statements are alive.
    func close() -> CInt { strongroom_connection_close(pointer) }

    /// Closes the connection even if statements are alive: SQLite frees it when its last statement is finalized.
    func abandon() { strongroom_connection_abandon(pointer) }

    /// Reads the schema for the first time after a key was set, when SQLCipher derives and copies the key. Returns a
    /// result code. After `SQLITE_NOMEM`, close or abandon the connection.
    func readFirst() -> CInt { strongroom_connection_first_read(pointer) }

    /// Derives and copies the key of a file that is empty. Returns a result code, as ``readFirst()`` does.
    func deriveKey(of schema: String) -> CInt { strongroom_connection_derive(pointer, schema) }

    /// Frees the handle itself, after it was closed or abandoned and after its last statement.
    func free() { strongroom_connection_free(pointer) }
}

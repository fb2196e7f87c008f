import CSQLCipher

/// A lock on a database file that no key is needed for, until the object is gone. It is SQLite's lock, taken through
/// SQLite, so that the locks of this process's other connections stay.
final class FileHold {
    private let handle: ConnectionHandle
    let connection: RawConnection

    /// - parameter exclusively: true to keep all other connections out: those in WAL mode while they are open, others
    ///   while they read or write. False to keep writers out, except for those in WAL mode.
    /// - throws: `SQLITE_BUSY`, `SQLITE_READONLY`, and the errors of opening.
    init(_ path: String, exclusively: Bool) throws {
        let flags = SQLITE_OPEN_NOMUTEX | (exclusively ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY)
        let (code, opened, message) = ConnectionHandle.open(path, flags: flags, vfs: nil)
        guard code == SQLITE_OK, let opened, let raw = opened.sqliteConnection else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
        }
        (handle, connection) = (opened, RawConnection(raw))
        let locked = connection.lockFile(exclusively: exclusively)
        guard locked == SQLITE_OK else { throw FileHold.refusal(ResultCode(rawValue: locked), path) }
    }

    deinit {
        handle.abandon()
        handle.free()
    }

    private static func refusal(_ code: ResultCode, _ path: String) -> DatabaseError {
        switch code.primaryResultCode {
        case .SQLITE_BUSY:
            DatabaseError(.SQLITE_BUSY, refusing: "another connection has \(path) open", advice: "close it first")
        case .SQLITE_READONLY:
            DatabaseError(
                .SQLITE_READONLY, refusing: "\(path) can't be locked, because this user may not write it",
                advice: "check its mode and its owner")
        default: DatabaseError(resultCode: code, message: "\(path) can't be locked: \(code.errorString ?? "")")
        }
    }
}

import Foundation

/// A kind of small file beside a database.
struct Sidecar {
    /// The noun in messages.
    let noun: String
    /// The greatest size in bytes.
    let largest: Int
    /// The reason for a file that is malformed, or that the user may not use.
    let unfit: DatabaseError.Reason

    /// Returns the bytes of a file, at most one more than the greatest size. Nil if there is no file.
    ///
    /// - parameter settled: true to wait for a process that is writing the file.
    func read(_ path: String, settled: Bool) throws -> [UInt8]? {
        var buffer: [UInt8] = [], count: CInt = 0
        for capacity in [4096, largest + 1] where count == buffer.count {
            buffer = [UInt8](repeating: 0, count: capacity)
            count = NamedFile.read(path, settled: settled, into: &buffer)
            // A file with a name that is too long doesn't exist.
            if [ENOENT, ENOTDIR, ENAMETOOLONG].contains(-count) { return nil }
            guard count >= 0 else { throw failure("read", path, error: -count) }
        }
        return Array(buffer.prefix(Int(count)))
    }

    func failure(_ verb: String, _ path: String, error: CInt) -> DatabaseError {
        let what = "can't \(verb) the \(noun) \(path): ", why = String(cString: strerror(error))
        switch error {
        case ENOSPC, EDQUOT: return DatabaseError(.SQLITE_FULL, refusing: what + why)
        case EBUSY: return DatabaseError(.SQLITE_BUSY, refusing: what + "another process is writing it")
        case EACCES, EPERM, EROFS:
            return DatabaseError(.SQLITE_IOERR, refusing: what + why, advice: "check its owner and mode", reason: unfit)
        case NamedFile.notAFile:
            return DatabaseError(
                .SQLITE_CANTOPEN,
                refusing: what + "it is not a regular file, but a symbolic link, a folder, a pipe or a device",
                advice: "move it away", reason: unfit)
        default: return DatabaseError(.SQLITE_IOERR, refusing: what + why)
        }
    }
}

import CStrongroom
import Foundation

/// A kind of small file beside a database: how it is read, and what its failures are called.
struct Sidecar {
    /// What messages call it.
    let noun: String
    /// Bytes.
    let largest: Int
    /// The reason of a file that can't be one, or may not be used.
    let unfit: DatabaseError.Reason

    /// The bytes of a file, one more than the largest at most; nil if there is none.
    ///
    /// - parameter settled: waits for whoever is writing the file at this moment.
    func read(_ path: String, settled: Bool) throws -> [UInt8]? {
        var buffer: [UInt8] = [], count: CInt = 0
        for capacity in [4096, largest + 1] where count == buffer.count {
            buffer = [UInt8](repeating: 0, count: capacity)
            count = strongroom_file_read(path, settled, &buffer, capacity)
            // A name that is too long is nobody's.
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
        case CInt(STRONGROOM_NOT_A_FILE):
            return DatabaseError(
                .SQLITE_CANTOPEN,
                refusing: what + "it is not a regular file, but a symbolic link, a folder, a pipe or a device",
                advice: "move it away", reason: unfit)
        default: return DatabaseError(.SQLITE_IOERR, refusing: what + why)
        }
    }
}

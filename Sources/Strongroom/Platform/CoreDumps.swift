import Foundation

/// Core dumps of this process.
///
/// A core dump does not contain the memory of a ``DatabaseKey`` and of derived keys. It can contain SQLCipher's own
/// copies: an open database has its derived key in ordinary memory, and cached pages in clear text.
public enum CoreDumps {
    /// Prevents core dumps of this process. Call it at the start of a program, before there are keys.
    ///
    /// The limit for core files becomes zero. On Linux the process also becomes not dumpable: other processes of the
    /// same user can't attach a debugger to it or read its memory. Child processes that run another program can be
    /// dumped again, within the limit.
    ///
    /// - throws: `SQLITE_ERROR` if the system refuses.
    ///
    /// Source: <https://man7.org/linux/man-pages/man2/prctl.2.html>.
    public static func prevent() throws {
        let error = SecretMemory.preventCoreDumps()
        guard error == 0 else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message: "core dumps can't be prevented: \(String(cString: strerror(error)))")
        }
    }
}

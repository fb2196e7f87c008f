import Foundation

/// The locks that other processes hold on a database. Asking opens and closes its files: not while this process has it
/// open. The bytes are those of SQLite's unix VFS.
///
/// <https://www.sqlite.org/lockingv3.html> <https://www.sqlite.org/walformat.html#wal_locks>
struct FileLocks {
    let path: String

    /// Somebody reads it, writes it, or keeps its log open.
    var isInUse: Bool { isLocked(path, from: 0x4000_0000, count: 512) || isLocked(path + "-shm", from: 120, count: 9) }

    /// Somebody is writing it.
    var isWritten: Bool { isLocked(path, from: 0x4000_0000, count: 2) || isLocked(path + "-shm", from: 120, count: 1) }

    /// Somebody reads it in a transaction.
    var isRead: Bool {
        hasLog ? isLocked(path + "-shm", from: 123, count: 5) : isLocked(path, from: 0x4000_0002, count: 510)
    }

    /// It is in WAL mode, and somebody has it open, or had and was killed.
    var hasLog: Bool { FileIdentity(path + "-shm") != nil }

    private func isLocked(_ file: String, from start: Int, count: Int) -> Bool {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(start)
        lock.l_len = off_t(count)
        return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }
}

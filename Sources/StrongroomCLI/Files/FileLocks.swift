import Foundation
import Strongroom

/// The locks that other processes hold on a database. Do not use it while this process has the database open, because
/// it opens and closes the files. The bytes are those of SQLite's unix VFS.
///
/// <https://www.sqlite.org/lockingv3.html> <https://www.sqlite.org/walformat.html#wal_locks>
struct FileLocks {
    let path: String

    private var logIndex: String { CompanionFile.logIndex.path(of: path) }

    /// True if another process reads or writes the database, or has its log open.
    var isInUse: Bool { isLocked(path, from: 0x4000_0000, count: 512) || isLocked(logIndex, from: 120, count: 9) }

    /// True if another process writes the database.
    var isWritten: Bool { isLocked(path, from: 0x4000_0000, count: 2) || isLocked(logIndex, from: 120, count: 1) }

    /// True if another process reads the database in a transaction.
    var isRead: Bool {
        hasLog ? isLocked(logIndex, from: 123, count: 5) : isLocked(path, from: 0x4000_0002, count: 510)
    }

    /// True if the database is in WAL mode and another process has it open, or was killed while it had.
    var hasLog: Bool { FileIdentity(logIndex) != nil }

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

extension Place {
    /// Refuses to replace a file that another program has open: it would continue to write into the old file.
    func requireUnused() throws {
        guard FileIdentity(path) != nil else { return }
        let processes = OpenElsewhere().processes(having: path)
        guard !processes.isEmpty || FileLocks(path: path).isInUse else { return }
        let names = processes.map { "\($0.name), process \($0.identifier)" }.joined(separator: "; ")
        throw Failure(
            .busy, file: name,
            "another program has it open\(names.isEmpty ? "" : " (\(names))"); nothing was changed",
            remedy: "Stop that program, then run this again")
    }
}

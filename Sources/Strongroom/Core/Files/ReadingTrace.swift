import Foundation

/// The way in which a read leaves the files of a database and their folder unchanged.
///
/// A read-only connection creates the missing log and index of a database in WAL mode, and can't remove them. A
/// connection that may write removes them when it is closed, but would also checkpoint a log that another process has
/// left. <https://www.sqlite.org/wal.html#read_only_databases>
enum ReadingTrace {
    /// Without a log: SQLite removes the one that it creates.
    case removed
    /// With a log that no connection uses: the index is in memory, and the log stays. Excludes all other connections.
    case alone
    /// With other connections, which keep their log, or with a rollback that is left to a connection with write access.
    case readOnly
    /// In WAL mode without a log, for a user who can't remove SQLite's files: without locks.
    case untouched

    /// Returns the ways to read a database. The next one is tried if one is busy, or would leave files.
    static func ways(ofReading path: String) -> [ReadingTrace] {
        if mayRollBack(CompanionFile.journal.path(of: path)) { return [.readOnly] }
        let log = NamedFile.size(CompanionFile.log.path(of: path))
        guard access(path, W_OK) == 0, access(folder(of: path), W_OK) == 0 else {
            return log > 0 || NamedFile.exists(CompanionFile.logIndex.path(of: path))
                ? [.readOnly] : [.readOnly, .untouched]
        }
        return log == -1 ? [.removed] : [.alone, .readOnly]
    }

    /// Returns false for a journal that is empty or begins with zero: its transaction has ended.
    /// <https://www.sqlite.org/fileformat.html#the_rollback_journal>
    static func mayRollBack(_ journal: String) -> Bool {
        guard NamedFile.size(journal) > 0 else { return false }
        let first = try? FileHandle(forReadingAtPath: journal)?.read(upToCount: 1)
        return first != Data([0])
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

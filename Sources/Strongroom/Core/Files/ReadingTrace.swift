import CSQLCipher
import CStrongroom
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
        if mayRollBack(path + "-journal") { return [.readOnly] }
        let log = strongroom_size_of_file(path + "-wal")
        guard access(path, W_OK) == 0, access(folder(of: path), W_OK) == 0 else {
            return log > 0 || strongroom_file_exists(path + "-shm") ? [.readOnly] : [.readOnly, .untouched]
        }
        return log == -1 ? [.removed] : [.alone, .readOnly]
    }

    /// Returns false for a journal that is empty or begins with zero: its transaction has ended.
    /// <https://www.sqlite.org/fileformat.html#the_rollback_journal>
    private static func mayRollBack(_ journal: String) -> Bool {
        guard strongroom_size_of_file(journal) > 0 else { return false }
        let first = try? FileHandle(forReadingAtPath: journal)?.read(upToCount: 1)
        return first != Data([0])
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension Configuration {
    var openingFlags: CInt {
        guard readonly else { return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE }
        return trace == .removed || trace == .alone ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    }

    /// Returns the name and the flags with which SQLite opens the database.
    func opening(_ path: String) -> (name: String, flags: CInt) {
        if SQLiteURI(path: path) != nil { return (path, openingFlags | SQLITE_OPEN_URI) }
        // https://www.sqlite.org/uri.html#uriimmutable
        if trace == .untouched {
            return (SQLiteURI.name(ofFile: path) + "?immutable=1", openingFlags | SQLITE_OPEN_URI)
        }
        // SQLCipher always reads names as URIs.
        return (path.hasPrefix("file:") ? "./" + path : path, openingFlags)
    }

    /// Throws if the database would be created and its name is too long for those of its sidecars.
    func requireCreatable(_ path: String) throws {
        guard encryption != nil, !readonly, !path.hasPrefix("file:") else { return }
        if !strongroom_file_exists(path) { try SaltFile.requireName(of: path) }
    }
}

extension Database {
    /// Sets the connection up, before the first read.
    func setUpTrace() throws {
        guard let trace = configuration.trace else { return }
        try runUnseen("PRAGMA query_only = 1")
        guard trace == .alone else { return }
        try runUnseen("PRAGMA locking_mode = EXCLUSIVE")
        log.setCheckpointsAtClose(false)
    }
}

/// The functions and pragmas with which SQL that only reads could write, or reach other files.
enum WritingSQL {
    /// The functions that write, load code, or change state that others rely on.
    static let functions: Set = ["load_extension", "sqlcipher_export", "writefile", "edit", "fts3_tokenizer"]

    /// Returns true if a pragma only returns a value, or only changes the connection.
    static func isReading(pragma name: String, value: String?) -> Bool {
        value == nil ? !acting.contains(name) : asking.contains(name)
    }

    /// The pragmas that act without a value.
    private static let acting: Set = ["optimize", "incremental_vacuum", "wal_checkpoint", "cipher_migrate"]

    /// The pragmas whose value selects what they return, or how this connection reads.
    private static let asking: Set = [
        "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
        "foreign_key_check",
        "integrity_check", "quick_check", "case_sensitive_like", "cache_size", "busy_timeout",
        "reverse_unordered_selects",
        "automatic_index", "analysis_limit", "threads", "mmap_size", "cache_spill", "cell_size_check",
    ]
}

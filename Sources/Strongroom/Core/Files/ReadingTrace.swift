import CSQLCipher
import CStrongroom
import Foundation

/// The way in which a reading connection leaves the files of a database and their folder as they were.
///
/// A read-only connection makes the log and the index that a database in WAL mode lacks, and can't remove them. One
/// that may write removes what it made when it closes, and would checkpoint a log that somebody else left.
/// <https://www.sqlite.org/wal.html#read_only_databases>
enum ReadingTrace {
    /// Without a log: SQLite removes the one that it makes.
    case removed
    /// Beside a log that nobody uses: the index is in memory, and the log stays. Keeps everyone else out.
    case alone
    /// Beside others, who keep their log; and where a rollback must be left to somebody who may write.
    case readOnly
    /// In WAL mode, with nothing beside it, for a user who can't remove what SQLite makes: without locks.
    case untouched

    /// The ways to read a database, to be tried in turn while one of them is busy, or would leave something behind.
    static func ways(ofReading path: String) -> [ReadingTrace] {
        if strongroom_size_of_file(path + "-journal") > 0 { return [.readOnly] }
        let log = strongroom_size_of_file(path + "-wal")
        guard access(path, W_OK) == 0, access(folder(of: path), W_OK) == 0 else {
            return log > 0 || strongroom_file_exists(path + "-shm") ? [.readOnly] : [.readOnly, .untouched]
        }
        return log == -1 ? [.removed] : [.alone, .readOnly]
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

    /// Returns the name and the flags that SQLite opens the database with.
    func opening(_ path: String) -> (name: String, flags: CInt) {
        if SQLiteURI(path: path) != nil { return (path, openingFlags | SQLITE_OPEN_URI) }
        // https://www.sqlite.org/uri.html#uriimmutable
        if trace == .untouched {
            return (SQLiteURI.name(ofFile: path) + "?immutable=1", openingFlags | SQLITE_OPEN_URI)
        }
        // SQLCipher takes names for URIs unasked.
        return (path.hasPrefix("file:") ? "./" + path : path, openingFlags)
    }

    /// A database that is created needs a name that leaves room for those of its companions.
    func requireCreatable(_ path: String) throws {
        guard encryption != nil, !readonly, !path.hasPrefix("file:") else { return }
        if !strongroom_file_exists(path) { try SaltFile.requireName(of: path) }
    }
}

extension Database {
    /// Before the first read.
    func setUpTrace() throws {
        guard let trace = configuration.trace else { return }
        try runUnseen("PRAGMA query_only = 1")
        guard trace == .alone else { return }
        try runUnseen("PRAGMA locking_mode = EXCLUSIVE")
        log.setCheckpointsAtClose(false)
    }
}

/// The functions and pragmas by which SQL that only reads could write, or reach other files.
enum WritingSQL {
    /// They write, load code, or change what others rely on.
    static let functions: Set = ["load_extension", "sqlcipher_export", "writefile", "edit", "fts3_tokenizer"]

    /// Returns true if a pragma asks, or changes the connection alone.
    static func isReading(pragma name: String, value: String?) -> Bool {
        value == nil ? !acting.contains(name) : asking.contains(name)
    }

    /// Without a value, they act.
    private static let acting: Set = ["optimize", "incremental_vacuum", "wal_checkpoint", "cipher_migrate"]

    /// With a value, they name what they ask for, or how this connection reads.
    private static let asking: Set = [
        "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
        "foreign_key_check",
        "integrity_check", "quick_check", "case_sensitive_like", "cache_size", "busy_timeout",
        "reverse_unordered_selects",
        "automatic_index", "analysis_limit", "threads", "mmap_size", "cache_spill", "cell_size_check",
    ]
}

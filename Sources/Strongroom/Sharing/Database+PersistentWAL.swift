import CSQLCipher
import CStrongroom

extension Database {
    /// Keeps the write-ahead log and its index when the last connection closes.
    func keepLog() throws {
        let code = strongroom_persist_wal(try openConnection, nil, 1, nil)
        // A database in memory has no log to keep.
        if code != SQLITE_NOTFOUND { try check(code) }
    }
}

import CStrongroom

extension Database {
    /// Keeps the write-ahead log and its index when the last connection closes.
    func keepLog() throws {
        let code = strongroom_persist_wal(try openConnection, nil, 1, nil)
        // A database in memory has no log to keep.
        if code != ResultCode.SQLITE_NOTFOUND.rawValue { try check(code) }
    }
}

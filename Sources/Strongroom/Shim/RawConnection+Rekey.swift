import CSQLCipher
import CStrongroom

// The re-encryption of all pages: `strongroom_rekey.h`. All functions with a `CInt` return a result code.

extension RawConnection {
    /// Syncs the database, so that no sync under a lock has to write what others have left to the system.
    func sync() -> CInt { strongroom_rekey_sync(pointer) }

    /// Locks the database, which is in WAL mode, against other writers.
    func beginRekey() -> CInt { strongroom_rekey_begin(pointer) }

    /// Releases that lock, when nothing has changed. `rollback` is a prepared `ROLLBACK` here and below: without
    /// memory, none could be prepared.
    func cancelRekey(_ rollback: SQLiteStatement) -> CInt { strongroom_rekey_cancel(pointer, rollback) }

    /// Called with the number of pages written so far. A result other than zero stops.
    typealias RekeyProgress = @convention(c) (UnsafeMutableRawPointer?, Int64) -> CInt

    /// Under that lock, encrypts every page with `key`, and releases the lock. After a failure it sets `oldKey` on the
    /// connection again, so that its next write does not mix keys. The last pages belong to the commit and can't be
    /// stopped. SQLCipher's own result code proves nothing: open the file again and verify it. Never with a rollback
    /// journal.
    func rekey(
        from oldKey: PageKey, to key: PageKey, _ progress: RekeyProgress?, _ context: UnsafeMutableRawPointer?,
        _ rollback: SQLiteStatement
    ) -> RekeyReport {
        var old = oldKey.key, new = key.key
        let report = strongroom_rekey(pointer, &old, &new, progress, context, rollback)
        return RekeyReport(result: report.result, isCommitted: report.committed, isLost: report.lost)
    }

    /// Commits one page over the frames that a failed rekey has left at the end of the write-ahead log: recovery after
    /// a crash would restore a commit whose sync failed. The page is only written if it is authentic in `format`.
    func forgetRekey(_ format: RawPageFormat, _ rollback: SQLiteStatement) -> CInt {
        strongroom_rekey_forget(pointer, format.pointer, rollback)
    }
}

/// A key in SQLCipher's form, and the format of its pages.
struct PageKey {
    fileprivate let key: strongroom_page_key

    init(spec: UnsafeRawBufferPointer, format: RawPageFormat) {
        key = strongroom_page_key(spec: spec.baseAddress, size: CInt(spec.count), format: format.pointer)
    }
}

/// The outcome of a rekey.
struct RekeyReport {
    /// The code of the first statement, write, sync or read that failed. `SQLITE_NOMEM` if none did and nothing was
    /// committed.
    let result: CInt

    /// True if the file has the new key.
    let isCommitted: Bool

    /// True if the connection couldn't prove that it writes with its old key: it writes nothing any more.
    let isLost: Bool
}

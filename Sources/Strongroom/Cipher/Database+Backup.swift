import CSQLCipher

/// The progress of a backup.
public struct DatabaseBackupProgress: Sendable {
    /// The pages that are yet to be copied.
    public let remainingPageCount: Int

    /// The pages of the source; they change when the source does.
    public let totalPageCount: Int

    /// A Boolean value that indicates whether the copy is whole.
    public let isCompleted: Bool

    /// The pages that were copied.
    public var completedPageCount: Int { totalPageCount - remainingPageCount }
}

extension Database {
    /// Copies the whole database over another one.
    ///
    /// Both databases are encrypted, with a key each, or neither is. Where their pages differ in size, or in the room
    /// for an HMAC, the rows are written into a temporary database first, encrypted with a key that nobody knows,
    /// whose pages are then copied. A new destination gets no more than the mode of the source; in the end a fresh
    /// connection opens it, which derives the key once more.
    ///
    /// - parameters:
    ///     - pagesPerStep: how many pages are copied at a time, all of them by default. Between two steps, other connections
    ///       can write: then the copy begins anew.
    ///     - progress: called after each step. When it throws, the backup ends with that error, and the destination is left
    ///       as it was; errors after the last step are ignored.
    /// An interruption, a cancellation or a suspension of either database ends the backup between two pages.
    ///
    /// - throws: `SQLITE_BUSY` and `SQLITE_LOCKED` when either database is being written, `SQLITE_READONLY`,
    ///   `SQLITE_FULL`.
    ///
    /// <https://www.sqlite.org/backup.html>
    public func backup(
        to destDb: Database,
        pagesPerStep: CInt = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil) throws
    {
        precondition(pagesPerStep != 0, "a backup of no page per step never ends: use a negative number for all pages")
        requireAccess()
        destDb.requireAccess()
        try keySetup.settlePendingKey()
        try destDb.keySetup.settlePendingKey()
        try stops.refuseReadLocks()
        try destDb.stops.refuseLocks()
        try destDb.limitMode(to: self)
        if hasPages(like: destDb) {
            try copyPages(to: destDb, pagesPerStep, progress)
        } else {
            try repaged(for: destDb, progress) { try $0.copyPages(to: destDb, pagesPerStep, progress) }
        }
        destDb.statements.removeAll()
        try destDb.requireOpensFromFiles()
        try destDb.contentWasReplaced()
    }

    private func copyPages(
        to destDb: Database, _ pagesPerStep: CInt, _ progress: ((DatabaseBackupProgress) throws -> Void)?) throws
    {
        let destination = try destDb.openConnection
        guard let backup = sqlite3_backup_init(destination, "main", try openConnection, "main") else {
            throw DatabaseError(sqlite3_extended_errcode(destination), on: destination)
        }
        do {
            try destDb.stops.waiting {
                try copy(backup, to: destDb, pagesPerStep) { state in
                    // https://www.sqlite.org/c3ref/backup_finish.html: the destination must not be used before the
                    // end.
                    try destDb.barred(in: "the progress function of a backup into it") { try progress?(state) }
                }
            }
        } catch {
            // The step's failure comes again.
            _ = destDb.stops.rollingBack { sqlite3_backup_finish(backup) }
            throw error
        }
        try destDb.check(sqlite3_backup_finish(backup))
    }

    /// At once means: in one transaction. Pages go a few at a time all the same, so that both databases can be
    /// stopped.
    private func copy(
        _ backup: OpaquePointer, to destDb: Database, _ pagesPerStep: CInt,
        _ progress: (DatabaseBackupProgress) throws -> Void) throws
    {
        guard pagesPerStep < 0, isAutocommit else { return try copyInSteps(backup, to: destDb, pagesPerStep, progress) }
        try runUnseen("BEGIN")
        let copied = Result {
            try runUnseen("SELECT 1 FROM sqlite_master LIMIT 1")
            try copyInSteps(backup, to: destDb, pagesPerStep, progress)
        }
        // Nothing was written that could fail to be committed.
        try stops.undoing { try runUnseen("COMMIT") }
        try copied.get()
    }

    private func copyInSteps(
        _ backup: OpaquePointer, to destDb: Database, _ pagesPerStep: CInt,
        _ progress: (DatabaseBackupProgress) throws -> Void) throws
    {
        let small: CInt = 64
        while true {
            let code = sqlite3_backup_step(backup, pagesPerStep < 0 ? small : pagesPerStep)
            guard code == SQLITE_OK || code == SQLITE_DONE else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code))
            }
            let state = DatabaseBackupProgress(
                remainingPageCount: Int(sqlite3_backup_remaining(backup)),
                totalPageCount: Int(sqlite3_backup_pagecount(backup)),
                isCompleted: code == SQLITE_DONE)
            if state.isCompleted {
                // All is copied: an error can't take it back.
                try? progress(state)
                return
            }
            try stops.check()
            try destDb.stops.check()
            if pagesPerStep > 0 { try progress(state) }
        }
    }
}

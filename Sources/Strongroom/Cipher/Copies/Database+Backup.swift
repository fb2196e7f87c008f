import CSQLCipher

/// The progress of a backup.
public struct DatabaseBackupProgress: Sendable {
    /// The number of pages that remain to be copied.
    public let remainingPageCount: Int

    /// The number of pages of the source, which changes when the source does.
    public let totalPageCount: Int

    /// A Boolean value that indicates whether the copy is complete.
    public let isCompleted: Bool

    /// The number of copied pages.
    public var completedPageCount: Int { totalPageCount - remainingPageCount }
}

extension Database {
    /// Copies the whole database over another one.
    ///
    /// Either both databases are encrypted, each with its key, or neither is. If their pages differ in size or in the
    /// reserve for an HMAC, or SQLite has never written some of them, the rows are first written into a temporary
    /// database with a random key, whose pages are then copied. A new destination gets at most the mode of the source.
    /// At the end, a new connection opens the destination from its files alone, with the key that `destDb` has derived.
    ///
    /// An interruption, a cancellation or a suspension of either database ends the backup between two pages.
    ///
    /// - parameters:
    ///   - destDb: the destination.
    ///   - pagesPerStep: the number of pages that are copied at a time. Default: -1, for all. Between two steps other
    ///     connections can write. The copy then begins again.
    ///   - progress: called after each step. An error that it throws ends the backup, and the destination is unchanged.
    ///     Errors after the last step are ignored.
    /// - throws: `SQLITE_BUSY` and `SQLITE_LOCKED` when either database is being written, `SQLITE_READONLY`,
    ///   `SQLITE_FULL`.
    ///
    /// Source: <https://www.sqlite.org/backup.html>.
    public func backup(
        to destDb: Database,
        pagesPerStep: CInt = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        precondition(pagesPerStep != 0, "a backup of no page per step never ends: use a negative number for all pages")
        requireAccess()
        destDb.requireAccess()
        try keySetup.settlePendingKey()
        try destDb.keySetup.settlePendingKey()
        try stops.refuseReadLocks()
        try destDb.stops.refuseLocks()
        try destDb.limitMode(to: self)
        try destDb.withoutObservers { try destDb.writeUnwrittenPages() }
        if try hasPages(like: destDb) && !hasUnwrittenPages {
            try copyPages(to: destDb, pagesPerStep, progress)
        } else {
            try repaged(for: destDb, progress) { try $0.copyPages(to: destDb, pagesPerStep, progress) }
        }
        destDb.statements.removeAll()
        try destDb.requireOpensFromFiles()
        try destDb.contentWasReplaced()
    }

    private func copyPages(
        to destDb: Database, _ pagesPerStep: CInt, _ progress: ((DatabaseBackupProgress) throws -> Void)?
    ) throws {
        let destination = try destDb.openConnection
        guard let backup = try RawBackup(from: openConnection, to: destination) else {
            throw DatabaseError(RawConnection(destination).extendedErrorCode, on: destination)
        }
        do {
            try destDb.stops.waiting {
                try copy(backup, to: destDb, pagesPerStep) { state in
                    // https://www.sqlite.org/c3ref/backup_finish.html: the destination must not be used before the
                    // backup has ended.
                    try destDb.barred(in: "the progress function of a backup into it") { try progress?(state) }
                }
            }
        } catch {
            // The error of the step is returned again.
            _ = destDb.stops.rollingBack { backup.finish() }
            throw error
        }
        try destDb.check(backup.finish())
    }

    /// Copies all pages in one transaction. They are copied in small steps, so that both databases can be stopped.
    private func copy(
        _ backup: RawBackup, to destDb: Database, _ pagesPerStep: CInt,
        _ progress: (DatabaseBackupProgress) throws -> Void
    ) throws {
        guard pagesPerStep < 0, isAutocommit else { return try copyInSteps(backup, to: destDb, pagesPerStep, progress) }
        try runUnseen("BEGIN")
        let copied = Result {
            try runUnseen("SELECT 1 FROM sqlite_master LIMIT 1")
            try copyInSteps(backup, to: destDb, pagesPerStep, progress)
        }
        // A read has nothing to lose if its commit fails.
        do { try stops.undoing { try runUnseen("COMMIT") } } catch { rollbackAfterError() }
        try copied.get()
    }

    private func copyInSteps(
        _ backup: RawBackup, to destDb: Database, _ pagesPerStep: CInt,
        _ progress: (DatabaseBackupProgress) throws -> Void
    ) throws {
        let small: CInt = 64
        while true {
            let code = backup.step(pagesPerStep < 0 ? small : pagesPerStep)
            guard code == SQLITE_OK || code == SQLITE_DONE else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code))
            }
            let state = DatabaseBackupProgress(
                remainingPageCount: backup.remainingPageCount,
                totalPageCount: backup.totalPageCount,
                isCompleted: code == SQLITE_DONE)
            if state.isCompleted {
                // The copy is complete: an error can't undo it.
                try? progress(state)
                return
            }
            try stops.check()
            try destDb.stops.check()
            if pagesPerStep > 0 { try progress(state) }
        }
    }
}

import Foundation

/// The check of a backup before it is restored.
public enum RestoreCheck: Sendable {
    /// The backup is opened with the encryption, and each page is authenticated. The write-ahead log of the backup is
    /// moved into the restored file.
    case opening(Encryption)
    /// The backup is in clear text. Its structure is checked.
    case clearText
    /// The files are restored without a check.
    case none
}

/// The outcome for the database that a restore replaces.
public enum FormerDatabase: Sendable {
    /// The former database stays beside the restored one, with all its files, under a name with the date.
    case kept
    /// The former database is removed when the restored one has its name.
    case discarded
}

extension DatabaseFile {
    /// Restores a backup: a database file with the sidecars beside it. It may be a copy that this library made, a copy
    /// of an unused database by `cp`, or a former database that an earlier restore has kept.
    ///
    /// The backup is copied into a folder beside the destination, and checked there. Only then does the copy take the
    /// place of the database, as a unit with its sidecars: at every instant, also when the process is killed, an
    /// opening finds the former database or the restored one, as a whole. An opening after a kill finishes the restore.
    /// The restored files have the owner and the mode of the former database, or the mode of the backup if there was
    /// none.
    ///
    /// No connection may have the database open. The restore detects connections in WAL mode, and connections in other
    /// journal modes while they read or write. It does not detect an idle connection without a log, which refuses to
    /// write afterwards.
    ///
    /// The cancellation of the calling task stops the restore before the replacement begins.
    ///
    /// - parameters:
    ///   - backup: the path of the backup, which is only read.
    ///   - path: the path of the database, which need not exist.
    ///   - check: the check of the backup.
    ///   - former: what becomes of the present database. Default: it is kept.
    ///   - progress: called as pages are copied and checked. An error that it throws stops the restore.
    /// - returns: the path that the former database has now. Nil if there was none, or if it was discarded.
    /// - throws: `SQLITE_BUSY` when a connection uses the database, or the backup changes; `SQLITE_FULL`; the errors of
    ///   opening, about the backup; `SQLITE_CORRUPT` for a damaged backup; the reason `notRestorable` if the file is
    ///   not a backup, or the place is unfit. After these, the database is unchanged. An error with the reason
    ///   `replacementPending` is about the replacement: the next opening finishes the restore.
    @discardableResult
    public static func restore(
        from backup: String, to path: String, check: RestoreCheck, former: FormerDatabase = .kept,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws -> String? {
        let files = BackupFiles(path: realPath(backup))
        try Replacement.settle(files.path)
        let destination = RestoreDestination(path: realPath(path), name: path)
        try files.requireRestorable(to: destination.path, as: backup)
        return try destination.fill(former, size: files.size, like: files.path) { copy in
            try files.copy(to: copy, progress: progress)
            do {
                switch check {
                case .opening(let encryption): try verify(restored: copy, encryption, progress)
                case .clearText: try verify(restored: copy, nil, progress)
                case .none: break
                }
            } catch let error as DatabaseError {
                throw error.naming(backup, insteadOf: copy)
            }
        }
    }

    /// Makes a database with `fill`, under another name and with the files beside it, and puts it in the place of the
    /// one at `path`, as ``restore(from:to:check:former:progress:)`` does.
    ///
    /// - parameter size: about the size of all files in bytes.
    package static func place(
        at path: String, former: FormerDatabase, size: Int64 = 0, _ fill: (_ copy: String) throws -> Void
    ) throws -> String? {
        try RestoreDestination(path: realPath(path), name: path).fill(former, size: size, like: nil, fill)
    }

    private static func verify(
        restored copy: String, _ encryption: Encryption?, _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws {
        try withDatabase(copy, encryption) { database in
            let watch = try CopyProgress(of: database, progress)
            try database.stopping(by: watch) { try verify(database, [], watch) }
            try watch.complete()
            // What is in a log becomes a part of the file: it is restored without one.
            if try database.log.isUsed { _ = try database.log.checkpoint(.truncate) }
        }
    }
}

extension BackupFiles {
    /// Throws if the backup can't be one of the database at `destination`.
    ///
    /// - parameter name: the path of the backup as it was given.
    fileprivate func requireRestorable(to destination: String, as name: String) throws {
        guard NamedFile.isRegular(path) else { throw DatabaseError.unfitForRestore("there is no backup \(name)") }
        guard ReplacedFile.number(path) != ReplacedFile.number(destination) else {
            throw DatabaseError.unfitForRestore("the backup \(name) is the database itself")
        }
        if let other = CompanionFile.allCases.first(where: { $0.path(of: destination) == path }) {
            throw DatabaseError.unfitForRestore("\(name) is the \(other.rawValue) file of the database")
        }
        switch try DatabaseFile.inspect(path: path).kind {
        case .notDatabase: throw DatabaseError.notDatabase(name, "it is text, or too short")
        case .empty: throw DatabaseError.notDatabase(name, "it is empty")
        default: break
        }
    }

    fileprivate func copy(to copy: String, progress: ((EncryptionProgress) throws -> Void)?) throws {
        let pageSize: Int64 = 4096, total = Int(size / pageSize)
        try self.copy(to: copy) { bytes in
            try Task.checkCancellation()
            let count = max(0, min(Int(bytes / pageSize), total - 1))
            try progress?(EncryptionProgress(completedPageCount: count, totalPageCount: total))
        }
    }
}

extension DatabaseError {
    static func unfitForRestore(_ what: String, advice: String? = nil) -> DatabaseError {
        DatabaseError(.SQLITE_CANTOPEN, refusing: what, advice: advice, reason: .notRestorable)
    }

    /// Returns the error with another path in its words.
    func naming(_ name: String, insteadOf path: String) -> DatabaseError {
        func renamed(_ text: String?) -> String? { text?.replacingOccurrences(of: path, with: name) }
        let details = details.map {
            Details(
                reason: $0.reason, formatVersion: $0.formatVersion, damagedPage: $0.damagedPage,
                isConnectionUsable: $0.isConnectionUsable, explanation: renamed($0.explanation),
                advice: renamed($0.advice))
        }
        return DatabaseError(extendedResultCode, renamed(message), details, sql: sql)
    }
}

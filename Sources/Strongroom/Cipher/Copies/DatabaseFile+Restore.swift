import Foundation

/// The check of a backup before it is restored.
public enum RestoreCheck: Sendable {
    /// The backup is opened with the encryption, and each page is authenticated. A transaction in its log becomes a part
    /// of it.
    case opening(Encryption)
    /// The backup is in clear text. Its structure is checked.
    case clearText
    /// None: the files are taken as they are.
    case none
}

/// What becomes of a database in whose place a backup is restored.
public enum FormerDatabase: Sendable {
    /// It stands beside the restored one, with all its files, under a name with the date.
    case kept
    /// It is removed when the restored one has its name.
    case discarded
}

extension DatabaseFile {
    /// Restores a backup: a file and the files beside it, as any copy of this library, `cp` of an unused database, or a
    /// former database that an earlier restore has put aside.
    ///
    /// The backup is copied into a folder beside the destination, and checked there. Before that, nothing is touched.
    /// Then it takes the place of the database as a unit with its sidecars: at every instant, also when the process is
    /// killed, an opening finds the former database or the restored one, as a whole. An opening after a kill finishes
    /// the restore. The restored files have the owner and the mode of the former database, or the mode of the backup if
    /// there was none.
    ///
    /// No connection may have the database open. Those in WAL mode, and those of others that read or write, are
    /// noticed. An idle connection without a log is not: it refuses to write afterwards.
    ///
    /// The cancellation of the calling task stops the restore while nothing has been touched.
    ///
    /// - parameters:
    ///   - backup: the path of the backup, which is only read.
    ///   - path: the path of the database. There need not be one.
    ///   - check: the check of the backup.
    ///   - former: what becomes of the present database. Default: it is kept.
    ///   - progress: called as pages are copied and checked. An error that it throws stops the restore.
    /// - returns: the path that the former database has now. Nil if there was none, or if it was discarded.
    /// - throws: `SQLITE_BUSY` when a connection uses the database, or the backup changes; `SQLITE_FULL`; the errors of
    ///   opening, about the backup; `SQLITE_CORRUPT` for a damaged backup. Nothing was touched then. An error with the
    ///   reason `replacementPending` comes after that: the next opening finishes the restore.
    @discardableResult
    public static func restore(
        from backup: String, to path: String, check: RestoreCheck, former: FormerDatabase = .kept,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws -> String? {
        let restore = Restore(source: realPath(backup), destination: realPath(path), names: (backup, path))
        return try restore.run(check, former, progress)
    }
}

/// A restore of one backup.
private struct Restore {
    let source: String
    let destination: String
    /// The paths as they were given, for messages.
    let names: (backup: String, database: String)

    private var isNew: Bool { !NamedFile.exists(destination) }

    func run(
        _ check: RestoreCheck, _ former: FormerDatabase, _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws -> String? {
        for path in [source, destination] { try Replacement.settle(path) }
        CopyStaging.removeLeftOvers(beside: destination)
        let suffix = try former == .kept && !isNew ? freeSuffix() : nil
        try requireSensibleFiles()
        if !isNew { _ = try FileHold(destination, exclusively: true) }
        let staging = try CopyStaging(beside: destination)
        do {
            try fill(staging.path, check, progress)
            try publish(staging, suffix)
        } catch let error as DatabaseError where error.reason == .replacementPending {
            staging.leave()
            throw error
        } catch {
            staging.remove()
            throw error
        }
        staging.remove()
        return suffix.map { names.database + $0 }
    }

    private func publish(_ staging: CopyStaging, _ suffix: String?) throws {
        let files = [staging.path] + CompanionFile.allCases.filter(\.isRestored).map { $0.path(of: staging.path) }
        for file in files where NamedFile.exists(file) {
            let error = StagedCopy.takeMode(file, of: isNew ? source : destination)
            guard error == 0 || isNew else {
                throw CopyStaging.failure("give a file the owner of \(destination)", error)
            }
        }
        let hold = try isNew ? nil : FileHold(destination, exclusively: true)
        try withExtendedLifetime(hold) {
            try Replacement(of: destination, by: staging.path, suffix: suffix).run()
        }
    }

    // MARK: - Before

    private func requireSensibleFiles() throws {
        guard NamedFile.isRegular(source) else { throw refusal("there is no backup \(names.backup)", .fileGone) }
        let numbers = [source, destination].map(ReplacedFile.number)
        guard numbers[0] != numbers[1] else { throw refusal("the backup is the database itself") }
        guard isNew || numbers[1] > 0 else { throw refusal("\(names.database) is not a file") }
        if let other = CompanionFile.allCases.first(where: { $0.path(of: destination) == source }) {
            throw refusal("the backup is the \(other.rawValue) file of the database")
        }
        switch try DatabaseFile.inspect(path: source).kind {
        case .notDatabase: throw DatabaseError.notDatabase(names.backup, "it is text, or too short")
        case .empty: throw DatabaseError.notDatabase(names.backup, "it is empty")
        default: break
        }
        if !isNew, try DatabaseFile.inspect(path: destination).kind == .notDatabase {
            throw DatabaseError.notDatabase(names.database, "it is text, or too short; no backup replaces it")
        }
        try requireReplaceable()
        let needed = BackupFiles(path: source).size, free = NamedFile.room(NamedFile.folder(of: destination)).free
        guard free > needed else {
            throw DatabaseError(
                .SQLITE_FULL, refusing: "the restore needs \(needed) bytes beside \(names.database), \(free) are free",
                advice: "make room")
        }
    }

    private func requireReplaceable() throws {
        for companion in CompanionFile.allCases where companion.isReplaced {
            let path = companion.path(of: destination), isThere = ReplacedFile.number(path) != 0
            guard ReplacedFile.number(path) >= 0 else { throw refusal("\(path) is not a file") }
            // What is left of a database that was moved away may belong to it.
            guard isThere, isNew else { continue }
            throw DatabaseError(
                .SQLITE_CANTOPEN, refusing: "\(path) belongs to a database that is not there",
                advice: "move it away, or put its database back", reason: .fileExists)
        }
        guard ReplacedFile.canGiveOwner(of: destination) else {
            throw refusal(
                "\(names.database) belongs to another user, who would lose it", "run this as that user, or as root")
        }
    }

    /// Returns what the names of the former files get: the time, and a number if another one has it already.
    private func freeSuffix() throws -> String {
        let time = Date().formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted))
        for number in 1... {
            let suffix = ".former-" + time + (number == 1 ? "" : "-\(number)")
            let all = [destination + suffix] + CompanionFile.allCases.map { $0.path(of: destination + suffix) }
            guard all.allSatisfy({ NamedFile.name(of: $0).utf8.count <= Int(NAME_MAX) }) else {
                throw DatabaseError(
                    .SQLITE_CANTOPEN,
                    refusing: "the name of \(names.database) leaves no room for that of its former files",
                    advice: "discard the former database, or give it a shorter name", reason: .nameTooLong)
            }
            if !all.contains(where: NamedFile.exists) { return suffix }
        }
        fatalError("unreachable: the loop has no end")
    }

    private func refusal(_ what: String, _ advice: String? = nil, _ reason: DatabaseError.Reason? = nil)
        -> DatabaseError
    {
        DatabaseError(.SQLITE_CANTOPEN, refusing: what, advice: advice, reason: reason)
    }

    private func refusal(_ what: String, _ reason: DatabaseError.Reason) -> DatabaseError {
        refusal(what, nil, reason)
    }

    // MARK: - The copy

    private func fill(
        _ copy: String, _ check: RestoreCheck, _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws {
        let pageSize: Int64 = 4096, files = BackupFiles(path: source), total = Int(files.size / pageSize)
        try files.copy(to: copy) { bytes in
            try Task.checkCancellation()
            try progress?(
                EncryptionProgress(completedPageCount: min(Int(bytes / pageSize), total - 1), totalPageCount: total))
        }
        do {
            switch check {
            case .opening(let encryption): try verify(copy, encryption, progress)
            case .clearText: try verify(copy, nil, progress)
            case .none: break
            }
        } catch let error as DatabaseError {
            throw error.naming(names.backup, insteadOf: copy)
        }
    }

    private func verify(
        _ copy: String, _ encryption: Encryption?, _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws {
        try DatabaseFile.withDatabase(copy, encryption) { database in
            let watch = try CopyProgress(of: database, progress)
            try database.stopping(by: watch) { try DatabaseFile.verify(database, [:], watch) }
            try watch.complete()
            // What is in a log becomes a part of the file: it is restored without one.
            if try database.log.isUsed { _ = try database.log.checkpoint(.truncate) }
        }
    }
}

extension DatabaseError {
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

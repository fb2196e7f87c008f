import Foundation

/// The replacement of a database and of all files beside it by a finished database with its own, as a unit.
///
/// The next database is in a folder beside the present one. Until the record stands beside the database, nothing has
/// changed. From then on, each opening by this library and each next replacement finishes it: the former files get
/// their other names, the next ones get theirs, and the record is removed. No file of the former database is beside the
/// next one under its name at any moment. Where the former or the next database has a log or a journal, there is no
/// database with the name for a moment, for programs that do not know of the record.
struct Replacement {
    /// The path of the database, with symbolic links resolved.
    let database: String
    let record: ReplacementRecord

    private var recordPath: String { CompanionFile.replacement.path(of: database) }

    /// The folder with the next database.
    var folder: String { NamedFile.folder(of: database) + "/" + record.folder }

    /// The next database until it has its name.
    private var next: String { folder + "/copy" }

    /// The former database when it has its other name.
    private var aside: String { record.suffix.map { database + $0 } ?? folder + "/copy-former" }

    private static let companions = CompanionFile.allCases.filter(\.isReplaced)

    private func number(_ path: String) -> Int64 { ReplacedFile.number(path) }

    private var isFormerThere: Bool { record.former != 0 && number(database) == record.former }

    private var isNextThere: Bool { number(database) == record.next }

    // MARK: - Running

    /// Creates the replacement of `database` by the finished database `copy` in a folder of its own. The calling
    /// process holds the lock of that folder.
    ///
    /// - parameter suffix: what the names of the former files get. Nil to remove them.
    init(of database: String, by copy: String, suffix: String?) {
        let folder = NamedFile.folder(of: copy), former = ReplacedFile.number(database)
        let probe = former == 0 ? copy : database
        let linked = ReplacedFile.link(probe, to: folder + "/copy-probe")
        _ = ReplacedFile.unlink(folder + "/copy-probe")
        self.database = database
        record = ReplacementRecord(
            folder: NamedFile.name(of: folder), suffix: suffix, former: former, next: ReplacedFile.number(copy),
            companions: Self.companions.filter { NamedFile.exists($0.path(of: copy)) && $0 != .logIndex },
            hasLinks: !ReplacedFile.cannotLink(linked))
    }

    /// Replaces the database. The calling process has it locked.
    ///
    /// - throws: after an error, all names are as before, unless its reason is `replacementPending`: then the next
    ///   opening finishes.
    func run() throws {
        try announce()
        do {
            try place()
        } catch {
            guard (try? undo()) == true else { throw pending(error) }
            throw error
        }
        // What follows changes nothing about the database.
        _ = NamedFile.remove(recordPath)
    }

    /// Writes the record. Before, the folder gets the mark that keeps it while the record is there.
    private func announce() throws {
        let name = Array(NamedFile.name(of: recordPath).utf8), staged = folder + "/copy-record"
        for (path, text) in [(folder + "/" + StagedCopy.mark, name), (staged, record.text)] {
            try check(
                NamedFile.extend(path, like: next, expecting: [], keeping: 0, by: text), "write the record in", folder)
        }
        try check(NamedFile.move(staged, to: recordPath), "write", recordPath)
    }

    // MARK: - Steps, each of which may have been done before

    private func place() throws {
        if isFormerThere {
            if record.hasLinks { try nameFormer() }
            if !record.hasLinks {
                try check(ReplacedFile.rename(database, to: aside), "rename", database)
            } else if hasPagesElsewhere {
                try check(ReplacedFile.unlink(database), "remove the name of", database)
            }
            try sync()
        }
        for companion in Self.companions where !isOfNext(companion) { try takeAway(companion.path(of: database)) }
        try sync()
        for companion in record.companions where !isOfNext(companion) { try bringIn(companion) }
        try sync()
        if !isNextThere { try check(ReplacedFile.rename(next, to: database), "name", database) }
        try sync()
    }

    /// True if pages of either database are in a file beside it, which SQLite would apply to the other one.
    private var hasPagesElsewhere: Bool {
        [CompanionFile.log, .journal].contains {
            NamedFile.exists($0.path(of: database)) || record.companions.contains($0)
        }
    }

    /// Returns true if the file beside the database is that of the next one.
    private func isOfNext(_ companion: CompanionFile) -> Bool {
        let present = number(companion.path(of: database)), own = number(companion.path(of: next))
        return record.companions.contains(companion) && present != 0 && (own == 0 || own == present)
    }

    /// Gives the former files their other names. They keep theirs.
    private func nameFormer() throws {
        for companion in Self.companions where !isOfNext(companion) {
            try nameAside(companion.path(of: database), companion.path(of: aside))
        }
        try nameAside(database, aside)
        try sync()
    }

    private func nameAside(_ path: String, _ other: String) throws {
        guard number(path) != 0, number(other) != number(path) else { return }
        try check(ReplacedFile.link(path, to: other), "give another name to", path)
    }

    /// Takes away the name of a former file, which has its other one, or gets it now.
    private func takeAway(_ path: String) throws {
        guard number(path) != 0 else { return }
        let other = aside + path.dropFirst(database.count)
        guard number(other) != number(path) else { return try check(ReplacedFile.unlink(path), "remove", path) }
        guard number(other) == 0 else { throw conflict(path) }
        try check(ReplacedFile.rename(path, to: other), "rename", path)
    }

    private func bringIn(_ companion: CompanionFile) throws {
        let path = companion.path(of: next), name = companion.path(of: database)
        try check(
            record.hasLinks ? ReplacedFile.link(path, to: name) : ReplacedFile.rename(path, to: name), "name", name)
    }

    private func sync() throws { try check(ReplacedFile.syncFolder(of: database), "write to the disk", database) }

    // MARK: - Undoing

    /// Gives the former files back their names, if the former database still has its own. Returns true if everything is
    /// as before.
    private func undo() throws -> Bool {
        guard isFormerThere || record.former == 0 && number(database) == 0 else { return false }
        for companion in Self.companions {
            let name = companion.path(of: database), other = companion.path(of: aside)
            if isOfNext(companion) { try check(ReplacedFile.unlink(name), "remove", name) }
            guard number(other) != 0 else { continue }
            if number(name) == 0 { try check(ReplacedFile.rename(other, to: name), "rename", other) }
            if number(name) == number(other) { try check(ReplacedFile.unlink(other), "remove", other) }
        }
        if record.former != 0, number(aside) == record.former { try check(ReplacedFile.unlink(aside), "remove", aside) }
        try sync()
        return NamedFile.remove(recordPath) == 0
    }
}

// MARK: - Replacements of killed processes

extension Replacement {
    /// Finishes the replacement of a database whose process was killed, or undoes it. Does nothing without a record.
    ///
    /// - parameter path: the path of the database, as SQLite resolves it.
    /// - throws: `SQLITE_BUSY` while the process runs, for longer than five seconds. Errors with the reason
    ///   `replacementPending` if this user can't finish it.
    static func settle(_ path: String) throws {
        guard NamedFile.exists(CompanionFile.replacement.path(of: path)) else { return }
        for _ in 0..<500 {
            guard let replacement = try Replacement(announcedFor: path) else { return }
            let descriptor = StagedCopy.holdFolder(replacement.folder)
            if descriptor == -EBUSY {
                usleep(10_000)
                continue
            }
            defer { if descriptor >= 0 { StagedCopy.leaveFolder(descriptor) } }
            // Its process may have finished it meanwhile.
            guard try Replacement(announcedFor: path)?.record == replacement.record else { continue }
            do {
                try replacement.settle(hasFolder: descriptor >= 0)
            } catch {
                throw replacement.pending(error)
            }
            return
        }
        throw DatabaseError(
            .SQLITE_BUSY, refusing: "\(path) is being replaced by another process", advice: "try again later")
    }

    /// Reads the record beside a database. Nil if there is none.
    private init?(announcedFor database: String) throws {
        let path = CompanionFile.replacement.path(of: database)
        guard let text = try Replacement.sidecar.read(path, settled: true) else { return nil }
        guard let record = ReplacementRecord(text: text) else {
            throw DatabaseError(
                .SQLITE_CORRUPT, refusing: "the record \(path) of a replacement can't be read",
                advice: "move it away if no restore of \(database) was interrupted", reason: .replacementPending)
        }
        (self.database, self.record) = (database, record)
    }

    private static let sidecar = Sidecar(noun: "record", largest: 4096, unfit: .replacementPending)

    private func settle(hasFolder: Bool) throws {
        if !isNextThere {
            guard hasFolder else {
                throw DatabaseError(
                    .SQLITE_CANTOPEN, refusing: "\(folder) can't be opened",
                    advice: "open the database as the user who ran the restore")
            }
            guard try finish() else { return removeFolder() }
        }
        try check(NamedFile.remove(recordPath), "remove", recordPath)
        removeFolder()
    }

    /// Returns false if the replacement was undone, because the former database is in use.
    private func finish() throws -> Bool {
        let present = number(database)
        guard present != 0 else {
            try place()
            return true
        }
        // An empty file is one that a program has made, which found none.
        guard isFormerThere || NamedFile.size(database) == 0 else { throw conflict(database) }
        do {
            try withExtendedLifetime(FileHold(database, exclusively: true)) { try place() }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            guard try undo() else { throw error }
            return false
        }
        return true
    }

    /// Removes the folder, which no process needs any longer.
    private func removeFolder() {
        let descriptor = StagedCopy.holdFolder(folder)
        if descriptor >= 0 { StagedCopy.removeFolder(folder, descriptor) }
    }
}

// MARK: - Errors

extension Replacement {
    private func check(_ error: CInt, _ verb: String, _ path: String) throws {
        guard error != 0 else { return }
        let code: ResultCode = [ENOSPC, EDQUOT].contains(error) ? .SQLITE_FULL : .SQLITE_IOERR
        throw DatabaseError(
            resultCode: code, message: "can't \(verb) \(path): \(String(cString: strerror(error)))")
    }

    private func conflict(_ path: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_CANTOPEN, refusing: "\(path) was made while the replacement was interrupted",
            advice: "move it away; opening \(database) then finishes")
    }

    /// Returns the error for a replacement that is neither finished nor undone.
    private func pending(_ error: any Error) -> DatabaseError {
        let cause = error as? DatabaseError
        return DatabaseError(
            cause?.resultCode ?? .SQLITE_IOERR, .replacementPending,
            "the replacement of \(database) is not finished: \(cause?.failureReason ?? "\(error)")",
            advice: cause?.recoverySuggestion ?? "the next opening of \(database) finishes it")
    }
}

extension NamedFile {
    /// Returns the path of the file that SQLite opens for a name. Nil for a database in memory or a temporary one.
    static func databasePath(of name: String) -> String? {
        let path = SQLiteURI(path: name)?.path ?? name
        guard !path.isEmpty, path != ":memory:" else { return nil }
        return realPath(path) ?? path
    }
}

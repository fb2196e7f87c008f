import Foundation

/// The replacement of a database and of all files beside it by a finished database with its own, as a unit.
///
/// The next database is in a folder beside the present one. Until the record stands beside the database, nothing has
/// changed. From then on, each opening by this library and each next replacement finishes it, in the order of
/// ``place()``: the former files get their other names, the next ones get theirs, and the record is removed.
///
/// For programs that do not know of the record, the name always leads to a database with its own log, except where the
/// former or the next one has a log or a journal: then it leads to none for a moment.
struct Replacement {
    /// The path of the database, with symbolic links resolved.
    let database: String
    let record: ReplacementRecord

    fileprivate var recordPath: String { CompanionFile.replacement.path(of: database) }

    /// The folder with the next database.
    fileprivate var folder: String { NamedFile.folder(of: database) + "/" + record.folder }

    /// The next database until it has its name.
    private var next: String { folder + "/copy" }

    /// The former database when it has its other name.
    private var aside: String { record.suffix.map { database + $0 } ?? folder + "/copy-former" }

    /// The file that says that all former files have their other names, so that one without its former name has lost it
    /// to this replacement.
    private var named: String { folder + "/copy-named" }

    /// The file that says that no former file but the database has its former name.
    private var cleared: String { folder + "/copy-cleared" }

    private static let companions = CompanionFile.allCases.filter(\.isReplaced)

    /// True if the next database has its name.
    fileprivate var isPlaced: Bool {
        !NamedFile.exists(next) || ReplacedFile.number(next) == ReplacedFile.number(database)
    }

    /// True if the name leads to the former database.
    fileprivate var isFormerThere: Bool {
        record.hasFormer && !isPlaced && NamedFile.exists(database) && (record.keepsName || !NamedFile.exists(aside))
    }

    // MARK: - Running

    /// Creates the replacement of `database` by the finished database `copy` in a folder of its own. The calling
    /// process holds the lock of that folder.
    ///
    /// - parameter suffix: what the names of the former files get. Nil to remove them.
    init(of database: String, by copy: String, suffix: String?) {
        let folder = NamedFile.folder(of: copy), hasFormer = NamedFile.exists(database)
        // Not of the database, which would keep the second name after a kill.
        let linked = ReplacedFile.link(copy, to: folder + "/copy-probe")
        _ = ReplacedFile.unlink(folder + "/copy-probe")
        let companions = Self.companions.filter { $0.isRestored && NamedFile.exists($0.path(of: copy)) }
        let hasPagesElsewhere = [CompanionFile.log, .journal].contains {
            companions.contains($0) || NamedFile.exists($0.path(of: database))
        }
        let hasLinks = !ReplacedFile.cannotLink(linked)
        self.database = database
        record = ReplacementRecord(
            folder: NamedFile.name(of: folder), suffix: suffix, hasFormer: hasFormer,
            keepsName: hasFormer && hasLinks && !hasPagesElsewhere, hasLinks: hasLinks, companions: companions)
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
        // If it stays, the next opening removes it.
        _ = NamedFile.remove(recordPath)
    }

    /// Writes the record. Before, the folder gets the mark that keeps it while the record is there.
    private func announce() throws {
        let name = Array(NamedFile.name(of: recordPath).utf8), staged = folder + "/copy-record"
        try write(name, to: folder + "/" + StagedCopy.mark)
        try write(record.text, to: staged)
        try check(NamedFile.move(staged, to: recordPath), "write", recordPath)
    }

    private func write(_ text: [UInt8], to path: String) throws {
        let error = NamedFile.extend(path, like: next, expecting: [], keeping: 0, by: text)
        // It was written before.
        guard error != EAGAIN else { return }
        try check(error, "write in", folder)
    }

    // MARK: - Steps, each of which may have been done before

    fileprivate func place() throws {
        if !NamedFile.exists(cleared) {
            if isFormerThere, !NamedFile.exists(named) {
                try nameFormer()
                try write([1], to: named)
            }
            for companion in Self.companions { try takeAway(companion) }
            try sync()
            try write([1], to: cleared)
        }
        for companion in Self.companions where !record.companions.contains(companion) { try takeAway(companion) }
        for companion in record.companions { try bringIn(companion) }
        try sync()
        try check(ReplacedFile.rename(next, to: database), "name", database)
        try sync()
    }

    /// Gives the former files their other names.
    private func nameFormer() throws {
        if record.hasLinks {
            for companion in Self.companions { try mirror(companion.path(of: database), companion.path(of: aside)) }
            try sync()
        }
        if record.keepsName {
            try mirror(database, aside)
        } else {
            try check(ReplacedFile.rename(database, to: aside), "rename", database)
        }
        try sync()
    }

    /// Gives a file its other name beside the one that it has. A program may have changed it since the last time.
    private func mirror(_ path: String, _ other: String) throws {
        let number = ReplacedFile.number(path), present = ReplacedFile.number(other)
        guard number != present else { return }
        if present != 0 { try check(ReplacedFile.unlink(other), "remove", other) }
        if number != 0 { try check(ReplacedFile.link(path, to: other), "give another name to", path) }
    }

    /// Takes away the name of a former file, which has its other one, or gets it now.
    private func takeAway(_ companion: CompanionFile) throws {
        let path = companion.path(of: database), other = companion.path(of: aside)
        guard NamedFile.exists(path) else { return }
        // With the former database under its other name only, it is of a program that found none.
        let isStray = record.hasLinks && !record.keepsName
        if record.keepsName { try mirror(path, other) }
        if NamedFile.exists(other) {
            try check(ReplacedFile.unlink(path), "remove", path)
        } else {
            try check(
                ReplacedFile.rename(path, to: isStray ? companion.path(of: folder + "/copy-stray") : other), "rename",
                path)
        }
    }

    /// Gives a file of the next database its name.
    private func bringIn(_ companion: CompanionFile) throws {
        let path = companion.path(of: next), name = companion.path(of: database)
        guard NamedFile.exists(path), !NamedFile.exists(name) else { return }
        try check(
            record.hasLinks ? ReplacedFile.link(path, to: name) : ReplacedFile.rename(path, to: name), "name", name)
    }

    private func sync() throws {
        for path in [next, database] {
            try check(ReplacedFile.syncFolder(of: path), "write to the disk the folder of", path)
        }
    }

    // MARK: - Undoing

    /// Gives the former files back their names, if the former database still has its own. Returns true if everything is
    /// as before.
    fileprivate func undo() throws -> Bool {
        guard isFormerThere, !NamedFile.exists(cleared) else { return false }
        for companion in Self.companions {
            let name = companion.path(of: database), other = companion.path(of: aside)
            guard NamedFile.exists(other) else { continue }
            let error = NamedFile.exists(name) ? ReplacedFile.unlink(other) : ReplacedFile.rename(other, to: name)
            try check(error, "remove", other)
        }
        if record.keepsName { try check(ReplacedFile.unlink(aside), "remove", aside) }
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
            var isOver = false
            defer { replacement.release(descriptor, removing: isOver) }
            // Its process may have finished it meanwhile.
            guard try Replacement(announcedFor: path)?.record == replacement.record else { continue }
            do {
                try replacement.settle(descriptor)
            } catch {
                throw replacement.pending(error)
            }
            isOver = true
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

    /// - parameter descriptor: the lock of the folder, or a negated errno.
    private func settle(_ descriptor: CInt) throws {
        guard descriptor >= 0 || descriptor == -ENOENT && NamedFile.exists(database) else {
            throw DatabaseError(
                .SQLITE_CANTOPEN, refusing: "\(folder) can't be opened: \(String(cString: strerror(-descriptor)))",
                advice: "open the database as the user who ran the restore")
        }
        // Without its folder, it has ended.
        if descriptor >= 0, !isPlaced, try !finish() { return }
        try check(NamedFile.remove(recordPath), "remove", recordPath)
    }

    /// Returns false if the replacement was undone, because the former database is in use.
    private func finish() throws -> Bool {
        guard NamedFile.exists(database) else {
            try place()
            return true
        }
        if !isFormerThere, NamedFile.size(database) > 0 {
            // A power failure may leave the file under both names. An empty file is of a program that found none.
            guard try hasContentOfNext() else { throw conflict(database) }
            return true
        }
        do {
            try withExtendedLifetime(FileHold(database, exclusively: true)) { try place() }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            guard try undo() else { throw error }
            return false
        }
        return true
    }

    /// Returns true if the database has the bytes of the next one.
    private func hasContentOfNext() throws -> Bool {
        guard let file = UnlockedFile(next), file.size == NamedFile.size(database) else { return false }
        let hold = try FileHold(database, exclusively: false), size = 1 << 16
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * size, alignment: 16)
        defer { buffer.deallocate() }
        for at in stride(from: 0, to: file.size, by: size) {
            let count = min(size, Int(file.size - at))
            let own = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            let other = UnsafeMutableRawBufferPointer(rebasing: buffer[size..<(size + count)])
            let code = ResultCode(rawValue: hold.connection.readFile(of: "main", at: at, into: own))
            guard code == .SQLITE_OK, file.read(at: at, into: other) else { return false }
            guard own.elementsEqual(other) else { return false }
        }
        return true
    }

    /// Unlocks the folder, or removes it when no process needs it any longer.
    private func release(_ descriptor: CInt, removing: Bool) {
        guard descriptor >= 0 else { return }
        if removing { StagedCopy.removeFolder(folder, descriptor) } else { StagedCopy.leaveFolder(descriptor) }
    }
}

// MARK: - Errors

extension Replacement {
    fileprivate func check(_ error: CInt, _ verb: String, _ path: String) throws {
        guard error != 0 else { return }
        let code: ResultCode = [ENOSPC, EDQUOT].contains(error) ? .SQLITE_FULL : .SQLITE_IOERR
        throw DatabaseError(
            resultCode: code, message: "can't \(verb) \(path): \(String(cString: strerror(error)))")
    }

    fileprivate func conflict(_ path: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_CANTOPEN, refusing: "\(path) was made while the replacement was interrupted",
            advice: "move it away; opening \(database) then finishes")
    }

    /// Returns the error for a replacement that is neither finished nor undone.
    fileprivate func pending(_ error: any Error) -> DatabaseError {
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

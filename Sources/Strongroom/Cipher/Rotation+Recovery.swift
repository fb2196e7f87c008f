import CStrongroom
import Logging

// A rotation uses a new salt. Until the database contains it, it is in a file beside the database, and opening tries
// it.

extension Rotation {
    // MARK: - Opening

    /// Returns the salts and headers that the database may have instead of those in it, most likely first: those of a
    /// change that was killed, or whose pages are still in the write-ahead log, and former ones, for a restored backup.
    func otherSalts(than location: SaltLocation) throws -> [SaltFile] {
        var others: [SaltFile] = []
        if let next = try SaltFile.read(.rotation, of: database.filePath) { others.append(next) }
        if location.header > 0, location.place == .database { others += try database.saltSearch.formerSalts() }
        others += headersOfJournal(location)
        return others.filter { $0.salt != location.salt || $0.header != location.header }
    }

    /// The headers that the first page in a rollback journal may have: where a change of the header was cut off, what
    /// the file shows may be a part of either page.
    private func headersOfJournal(_ location: SaltLocation) -> [SaltFile] {
        guard strongroom_size_of_file(database.filePath + "-journal") > 0 else { return [] }
        let beside = (try? SaltFile.readAll(.permanent, of: database.filePath)) ?? []
        return beside.filter { $0.salt == location.salt } + [SaltFile(salt: location.salt, header: 0)]
    }

    /// Returns true if another connection of this access has derived the key for one of `others`, and it fits. This
    /// saves a derivation for the salt in the file.
    func resumeKnownKey(_ settings: CipherSettings, _ others: [SaltFile]) throws -> Bool {
        for other in others {
            guard let derived = cipher.keyring.knownKey(for: cipher.key!, salt: other.salt, settings: settings)
            else { continue }
            try database.keySetup.attach(derived, header: other.header)
            if try canRead() { return true }
        }
        return false
    }

    /// Tries `others` if the key doesn't fit the salt in the file, and without them the salt in the log.
    func followOtherSalts(_ others: [SaltFile], searchesLog: Bool) throws {
        let searchesLog = searchesLog && strongroom_size_of_file(database.filePath + "-wal") > 0
        guard let shown = cipher.derived, !others.isEmpty || searchesLog, try !canRead() else { return }
        let header = cipher.header
        for other in others {
            let derived = try database.keySetup.derivedKey(salt: other.salt, settings: shown.settings)
            try database.keySetup.attach(derived, header: other.header)
            if try canRead() { return }
        }
        // With the key for the salt in the file, a later step reports the error.
        try database.keySetup.attach(shown, header: header)
        guard searchesLog, let salt = saltInLog, salt != shown.salt else { return }
        try database.keySetup.attach(database.keySetup.derivedKey(salt: salt, settings: shown.settings), header: 0)
        guard try canRead() else { return try database.keySetup.attach(shown, header: header) }
        // The copy came without it. With it, each connection finds the salt, and the rotation can be finished.
        if !database.configuration.readonly {
            try SaltFile(salt: salt, header: 0).write(.rotation, of: database.filePath)
        }
    }

    /// The salt in the newest committed page 1 of the write-ahead log. After a rotation whose log was not moved into
    /// the file, it is the valid one.
    private var saltInLog: Salt? {
        var newest: Salt?
        _ = database.keyProof.hasFirstPageElsewhere { page in
            newest = try? Salt(page.prefix(Salt.count))
            return false
        }
        return newest
    }

    func canRead() throws -> Bool {
        guard try database.keyProof.keyFits() else { return false }
        try database.requireNoTrace()
        cipher.openGate()
        let code = strongroom_connection_first_read(database.connection)
        switch ResultCode(rawValue: code).primaryResultCode {
        case .SQLITE_OK: return true
        case .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CORRUPT: return false
        default: throw DatabaseError(code, on: database.sqliteConnection)
        }
    }

    // MARK: - Finishing

    /// Moves the salt and the header of a committed change into the database, or removes those of a change that was not
    /// committed. Does nothing while another connection writes, or reads the former pages. Each opening with a working
    /// key calls it.
    ///
    /// - parameter waits: true to wait for readers and writers as long as the busy mode allows.
    /// - returns: true if nothing is left of the former key.
    @discardableResult
    func finishRotation(waits: Bool = false) throws -> Bool {
        guard let derived = cipher.derived, let next = try SaltFile.read(.rotation, of: database.filePath)
        else { return true }
        let present = SaltFile(salt: derived.salt, header: cipher.header), hasCommitted = next == present
        guard try hasCommitted ? emptyLog(waits: waits) : forgetFailure(derived, waits: waits) else { return false }
        // Under the write lock no other connection rotates.
        let rollback = try database.rollbackStatement
        guard try isDone(strongroom_rekey_begin(database.openConnection), waits: waits) else { return false }
        defer { _ = strongroom_rekey_cancel(database.sqliteConnection, rollback) }
        guard try SaltFile.read(.rotation, of: database.filePath) == next else { return false }
        if hasCommitted {
            if cipher.header == 0, try database.fileHeader().salt != derived.salt { return false }
            let isBeside = try cipher.saltOrigin != .caller || SaltFile.read(.permanent, of: database.filePath) != nil
            if cipher.header > 0, isBeside { try present.write(.permanent, of: database.filePath) }
        }
        try settleKeyFiles(hasCommitted: hasCommitted, salt: present.salt)
        try SaltFile.remove(.rotation, of: database.filePath)
        return true
    }

    func finishKeyRotation() throws -> RotationOutcome {
        try database.stops.refuseLocks()
        return try finishRotation(waits: true) ? .complete : .formerKeyRemains
    }

    /// Finishes a rotation that has just been committed. A failure does not undo it: the next opening of the database
    /// tries again.
    func outcomeOfFinishing() -> RotationOutcome {
        do {
            return try finishRotation(waits: true) ? .complete : .formerKeyRemains
        } catch {
            Logger(label: "Strongroom").warning(
                "the key of \(database.path) was changed, and the rotation could not be finished: \(error)")
            return .unfinished
        }
    }

    /// Returns false when another connection holds a lock. Throws other failures, except at opening, which does not
    /// wait.
    private func isDone(_ code: CInt, waits: Bool) throws -> Bool {
        if waits, !ResultCode(rawValue: code).isLock { try database.check(code) }
        return code == ResultCode.SQLITE_OK.rawValue
    }

    /// Makes sure that nothing needs the salt of a failed change before it is removed.
    private func forgetFailure(_ derived: DerivedKey, waits: Bool) throws -> Bool {
        let format = try PageFormat(derived, header: cipher.header), rollback = try database.rollbackStatement
        return try isDone(
            database.withoutObservers {
                format.withFormat { strongroom_rekey_forget(database.sqliteConnection, $0, rollback) }
            },
            waits: waits)
    }

    /// Moves all pages of the write-ahead log into the file and empties it, unless another connection uses it. Then
    /// none of the replaced pages is left.
    private func emptyLog(waits: Bool) throws -> Bool {
        guard try database.log.isUsed else { return true }
        guard waits else {
            return try database.withoutWaiting { (try? database.log.checkpoint(.truncate)) != nil }
        }
        do {
            _ = try database.log.checkpoint(.truncate)
            return true
        } catch let error as DatabaseError where error.resultCode.isLock {
            return false
        }
    }
}

extension ResultCode {
    /// True if a lock of another connection, of this process or another one, caused the error.
    fileprivate var isLock: Bool { [.SQLITE_BUSY, .SQLITE_LOCKED].contains(primaryResultCode) }
}

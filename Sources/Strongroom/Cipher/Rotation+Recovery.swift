import CStrongroom

// A rotation brings in a new salt. Until the database carries it, it stands beside the file, and opening tries it.

extension Database {
    // MARK: - Opening

    /// Salts and headers that the database may have instead of those that it shows, likeliest first: of a change that was killed, or whose
    /// pages are still in the write-ahead log; and of the time before a change, in a backup that was put back.
    func otherSalts(than location: SaltLocation) throws -> [SaltFile] {
        var others: [SaltFile] = []
        if let next = try SaltFile.read(.rotation, of: filePath) { others.append(next) }
        if location.header > 0, location.place == .database { others += try formerSalts() }
        return others.filter { $0.salt != location.salt || $0.header != location.header }
    }

    /// True when another connection of this access already derived the key for one of `others`, and it fits: deriving it for the salt in the
    /// file would be in vain.
    func resumeKnownKey(_ settings: CipherSettings, _ others: [SaltFile]) throws -> Bool {
        for other in others {
            guard let derived = cipher.keyring.knownKey(for: cipher.key!, salt: other.salt, settings: settings) else { continue }
            try attach(derived, header: other.header)
            if try canRead() { return true }
        }
        return false
    }

    /// Tries `others` and, without their help, what the log says, where the key doesn't fit the salt that the file shows.
    func followOtherSalts(_ others: [SaltFile], looksIntoLog: Bool) throws {
        let looksIntoLog = looksIntoLog && strongroom_size_of_file(filePath + "-wal") > 0
        guard let shown = cipher.derived, !others.isEmpty || looksIntoLog, try !canRead() else { return }
        let header = cipher.header
        for other in others {
            try attach(derivedKey(salt: other.salt, settings: shown.settings), header: other.header)
            if try canRead() { return }
        }
        // Of the key that the file shows, what follows says what is wrong.
        try attach(shown, header: header)
        guard looksIntoLog, let salt = saltInLog, salt != shown.salt else { return }
        try attach(derivedKey(salt: salt, settings: shown.settings), header: 0)
        guard try canRead() else { return try attach(shown, header: header) }
        // The copy came without it; with it, everybody finds the salt, and the rotation is finished.
        if !configuration.readonly { try SaltFile(salt: salt, header: 0).write(.rotation, of: filePath) }
    }

    /// The salt in the newest committed page 1 of the write-ahead log: after a rotation whose log was not moved into the file, it is the one.
    private var saltInLog: Salt? {
        var newest: Salt?
        _ = hasFirstPageElsewhere { page in
            newest = try? Salt(page.prefix(Salt.count))
            return false
        }
        return newest
    }

    func canRead() throws -> Bool {
        guard try keyFits() else { return false }
        try requireNoTrace()
        cipher.openGate()
        let code = strongroom_connection_first_read(connection)
        switch ResultCode(rawValue: code).primaryResultCode {
        case .SQLITE_OK: return true
        case .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CORRUPT: return false
        default: throw DatabaseError(code, on: sqliteConnection)
        }
    }

    // MARK: - Finishing

    /// Brings the salt and the header of a committed change home, or removes those of a change that never was; leaves all as it is while
    /// another connection writes, or reads what the change replaced. Whoever opens with a working key does this.
    ///
    /// - parameter waits: as long as the busy mode says, for readers and writers.
    /// - returns: whether nothing is left of the former key.
    @discardableResult
    func finishRotation(waits: Bool = false) throws -> Bool {
        guard let derived = cipher.derived, let next = try SaltFile.read(.rotation, of: filePath) else { return true }
        let present = SaltFile(salt: derived.salt, header: cipher.header), hasCommitted = next == present
        guard try hasCommitted ? emptyLog(waits: waits) : forgetFailure(derived) else { return false }
        // Under the write lock nobody else rotates.
        let rollback = try rollbackStatement
        guard strongroom_rekey_begin(try openConnection) == 0 else { return false }
        defer { _ = strongroom_rekey_cancel(sqliteConnection, rollback) }
        guard try SaltFile.read(.rotation, of: filePath) == next else { return false }
        if hasCommitted {
            if cipher.header == 0, try fileHeader().salt != derived.salt { return false }
            let isBeside = try cipher.saltOrigin != .caller || SaltFile.read(.permanent, of: filePath) != nil
            if cipher.header > 0, isBeside { try present.write(.permanent, of: filePath) }
        }
        try settleKeyFiles(hasCommitted: hasCommitted, salt: present.salt)
        try SaltFile.remove(.rotation, of: filePath)
        return true
    }

    func finishKeyRotation() throws -> RotationOutcome {
        try stops.refuseLocks()
        return try finishRotation(waits: true) ? .complete : .formerKeyRemains
    }

    /// Before the salt of a change that failed goes, nothing may be left that needs it.
    private func forgetFailure(_ derived: DerivedKey) throws -> Bool {
        let format = try PageFormat(derived, header: cipher.header), rollback = try rollbackStatement
        return try withoutObservers { format.withFormat { strongroom_rekey_forget(sqliteConnection, $0, rollback) } } == 0
    }

    /// Moves all pages of the write-ahead log into the file and empties it, if nobody is in the way: of the pages that were replaced, none
    /// is left then.
    private func emptyLog(waits: Bool) throws -> Bool {
        guard try isWAL else { return true }
        guard !waits else { return (try? moveLog(.truncate, of: "main")) != nil }
        // What `PRAGMA busy_timeout` has set stands in the place of the configuration's.
        let timeout = try answer(to: "PRAGMA busy_timeout") ?? "0"
        try setBusyHandler(nil, context: nil)
        let isEmpty = (try? moveLog(.truncate, of: "main")) != nil
        if timeout == "0" { try setUpBusyMode() } else { try runCipherPragma("busy_timeout = \(timeout)") }
        return isEmpty
    }

    var rollbackStatement: SQLiteStatement {
        get throws { try transactionStatements.statement(for: .rollback, of: self).sqliteStatement }
    }

    /// Runs transactions that aren't the application's, and that nobody may veto.
    func withoutObservers<T>(_ body: () throws -> T) throws -> T {
        let connection = try openConnection
        guard transactions.isInstalled else { return try body() }
        transactions.uninstall(from: connection)
        defer { transactions.install(on: connection) }
        return try body()
    }

    var isWAL: Bool {
        get throws { try answer(to: "PRAGMA main.journal_mode") == "wal" }
    }

    var pageCount: Int {
        get throws { try answer(to: "PRAGMA main.page_count").flatMap { Int($0) } ?? 0 }
    }
}

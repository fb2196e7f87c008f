/// The recovery of a database whose key, salt or header was being changed when its process was killed, or whose pages
/// of before are still read.
///
/// A rotation uses a new salt. Until the database contains it, it is in a file beside the database, and opening tries
/// it. Opening and rotation both use this type, and it knows neither.
struct Recovery {
    let database: Database

    var cipher: CipherState { database.cipher }

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
        guard NamedFile.size(CompanionFile.journal.path(of: database.filePath)) > 0 else { return [] }
        let beside = (try? SaltFile.readAll(.permanent, of: database.filePath)) ?? []
        return beside.filter { $0.salt == location.salt } + [SaltFile(salt: location.salt, header: 0)]
    }

    /// Returns true if another connection of this access has derived the key for one of `others`, and it fits. This
    /// saves a derivation for the salt in the file.
    func resumeKnownKey(_ settings: CipherSettings, _ others: [SaltFile]) throws -> Bool {
        for other in others {
            guard let derived = cipher.keyring.knownKey(for: cipher.key!, salt: other.salt, settings: settings)
            else { continue }
            try database.formatControl.attach(derived, header: other.header)
            if try canRead() { return true }
        }
        return false
    }

    /// Tries `others` if the key doesn't fit the salt in the file, and without them the salt in the log.
    func followOtherSalts(_ others: [SaltFile], searchesLog: Bool) throws {
        let searchesLog = searchesLog && NamedFile.size(CompanionFile.log.path(of: database.filePath)) > 0
        guard let shown = cipher.derived, !others.isEmpty || searchesLog, try !canRead() else { return }
        let header = cipher.header
        for other in others {
            let derived = try cipher.derivedKey(salt: other.salt, settings: shown.settings)
            try database.formatControl.attach(derived, header: other.header)
            if try canRead() { return }
        }
        // With the key for the salt in the file, a later step reports the error.
        try database.formatControl.attach(shown, header: header)
        // A log of another salt beside a file that the key fits is one of another database.
        guard searchesLog, let salt = saltInLog, salt != shown.salt, try !fitsFile(shown) else { return }
        try database.formatControl.attach(cipher.derivedKey(salt: salt, settings: shown.settings), header: 0)
        guard try canRead() else { return try database.formatControl.attach(shown, header: header) }
        // The copy came without it. With it, each connection finds the salt, and the rotation can be finished.
        if !database.configuration.readonly {
            try SaltFile(salt: salt, header: 0).write(.rotation, of: database.filePath)
        }
    }

    /// Returns true if the key fits page 1 of the file, whatever the log has.
    private func fitsFile(_ derived: DerivedKey) throws -> Bool {
        let format = try PageFormat(derived, header: 0)
        let pages = try PageReader(database, pageSize: format.pageSize, fileSize: database.fileSize())
        return try format.authenticates && pages.isAuthentic(1, format)
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

    /// The parts of the newest committed page 1 in the write-ahead log that change with its key.
    var traceOfLog: [UInt8] {
        var newest: [UInt8] = []
        _ = database.keyProof.hasFirstPageElsewhere { page in
            newest = Array(page.prefix(Salt.count)) + Array(page.suffix(Salt.count))
            return false
        }
        return newest
    }

    func canRead() throws -> Bool {
        guard try database.keyProof.keyFits() else { return false }
        try database.requireNoTrace()
        cipher.openGate()
        let code = database.connection.readFirst()
        switch ResultCode(rawValue: code).primaryResultCode {
        case .SQLITE_OK: return true
        case .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CORRUPT: return false
        default: throw DatabaseError(code, on: database.sqliteConnection)
        }
    }
}

extension Database {
    /// The recovery of the connection's database.
    var recovery: Recovery { Recovery(database: self) }
}

/// The place of a database's salt: in its first 16 bytes, beside it, or given by the caller.
struct SaltLocation {
    var salt: Salt
    /// The number of unencrypted bytes at the start of the file.
    var header: Int
    var place = SaltOrigin.database
}

/// The search for the salt of a connection's database, and the choice of one for a new database.
struct SaltSearch {
    let database: Database

    private var cipher: CipherState { database.cipher }

    private var configuration: Configuration { database.configuration }

    // MARK: - Looking for the salt

    func locateSalt(requestedHeader requested: PlaintextHeader?) throws -> SaltLocation {
        if let requested { try PlaintextHeader.validate(size: requested.size) }
        let provided = try providedSalt(requested)
        let header = try database.fileHeader()
        if database.hasNoPage(ofSize: header.fileSize) { return try saltForCreation(requested, provided: provided) }
        if header.isClear { throw DatabaseError.clearText(database.path) }
        if header.hasPlaintextHeader { return try saltOfPlaintextHeader(requested, provided: provided) }
        guard let salt = header.salt
        else { throw DatabaseError.notDatabase(database.path, "it has only \(header.fileSize) bytes") }
        if requested != nil { throw DatabaseError.lateHeader(database.path) }
        return provided ?? SaltLocation(salt: salt, header: 0)
    }

    private func providedSalt(_ requested: PlaintextHeader?) throws -> SaltLocation? {
        let size = requested?.size ?? 0
        if let bytes = requested?.salt.provided {
            return SaltLocation(salt: try Salt(bytes), header: size, place: .caller)
        }
        return cipher.key?.source.salt.map { SaltLocation(salt: $0, header: size, place: .key) }
    }

    private func saltOfPlaintextHeader(_ requested: PlaintextHeader?, provided: SaltLocation?) throws -> SaltLocation {
        if var provided {
            // A key contains no size, but the salt file may.
            if requested == nil { provided.header = try SaltFile.read(.permanent, of: database.filePath)?.header ?? 32 }
            return provided
        }
        guard let file = try SaltFile.read(.permanent, of: database.filePath) else {
            throw DatabaseError.missingSalt(database.path, beside: SaltFile.path(.permanent, of: database.filePath))
        }
        return SaltLocation(salt: file.salt, header: file.header)
    }

    /// Compares the first `end` bytes of a plaintext header with the settings. SQLCipher does not authenticate them,
    /// and SQLite relies on them.
    func requirePlausibleHeader(upTo end: Int) throws {
        guard let derived = cipher.derived, cipher.header > 0 else { return }
        let header = try database.fileHeader()
        guard header.hasPlaintextHeader, !database.hasNoPage(ofSize: header.fileSize) else { return }
        // A former salt may have a shorter header.
        let clear = cipher.isSaltProvided ? cipher.header : try formerSalts().map(\.header).reduce(cipher.header, min)
        guard let problem = header.contradiction(to: derived.settings, upTo: min(end, clear)) else { return }
        throw DatabaseError.contradictoryHeader(database.path, problem)
    }

    // MARK: - Former salts

    /// Returns the former salts of the database, or of another one with its name, newest first. Each costs a derivation
    /// if the key is wrong.
    func formerSalts() throws -> ArraySlice<SaltFile> {
        var known: Set<SaltFile> = []
        let salts = try SaltFile.readAll(.permanent, of: database.filePath)
        return salts.filter { known.insert($0).inserted }.dropFirst().prefix(SaltFile.rememberedCount)
    }

    // MARK: - Creation

    /// Returns the salt for a new database. All processes that find the database empty get the same salt, so that
    /// several can create it at the same time.
    private func saltForCreation(_ requested: PlaintextHeader?, provided: SaltLocation?) throws -> SaltLocation {
        let size = requested?.size ?? 0
        if configuration.readonly { try requireNoLog() }
        if !configuration.readonly { beginCreation() }
        if let provided { return provided }
        let own = cipher.creation.salt
        if configuration.readonly { return try SaltLocation(salt: own ?? .random(), header: size) }
        if size > 0 { try SaltFile.requireWritable(.permanent, of: database.filePath) }
        try SaltFile.requireName(of: database.filePath)
        cipher.creation.isAnnounced = true
        // The slot file has announced its salt. Whichever creation writes the first page wins.
        let salt =
            try own ?? SaltFile(salt: .random(), header: size).agree(.creation, of: database.filePath).salt
        guard try database.hasNoPage() else {
            // It was created meanwhile, and its creator may have removed its salt file before this one was written.
            return try locateSalt(requestedHeader: requested)
        }
        if size > 0 { try SaltFile(salt: salt, header: size).write(.permanent, of: database.filePath) }
        return SaltLocation(salt: salt, header: size)
    }

    /// Remembers the files that are not there: another creation may make them before this one ends.
    func beginCreation() {
        guard cipher.creation.absent == nil else { return }
        let files: [CompanionFile] = [.keys, .salt]
        cipher.creation.absent = Set(files.filter { !NamedFile.exists($0.path(of: database.filePath)) })
    }

    /// Throws if an empty database has a log: SQLite would remove it, even for a connection that only reads.
    private func requireNoLog() throws {
        guard NamedFile.exists(CompanionFile.log.path(of: database.filePath)) else { return }
        throw DatabaseError(
            .SQLITE_CORRUPT, .damaged, "\(database.path) is empty, although it has a write-ahead log",
            advice: "restore it from a backup, or remove \(CompanionFile.log.path(of: database.path))")
    }

    /// Returns true if the file has another salt or header than before, and the key was set again: another process has
    /// created the database, or the first read has rolled back a change of header that was killed.
    func followChangedFile() throws -> Bool {
        guard let derived = cipher.derived, !cipher.isSaltProvided,
            let location = try? locateSalt(requestedHeader: nil),
            location.salt != derived.salt || location.header != cipher.header
        else { return false }
        let followed = try cipher.derivedKey(salt: location.salt, settings: derived.settings)
        try database.formatControl.attach(followed, header: location.header)
        try database.keyProof.proveKey()
        return true
    }
}

extension Database {
    /// The search for the salt of the database.
    var saltSearch: SaltSearch { SaltSearch(database: self) }
}

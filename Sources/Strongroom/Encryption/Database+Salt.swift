import CStrongroom

// Where the salt of a database is: in its first 16 bytes, beside it, or with the caller.

struct SaltLocation {
    var salt: Salt
    /// Bytes of the file that aren't encrypted.
    var header: Int
    var isProvided = false
}

extension Database {
    // MARK: - The file, through the connection

    func fileSize() throws -> Int64 {
        var size: Int64 = 0
        try check(strongroom_database_size(openConnection, "main", &size))
        return size
    }

    /// Through the connection's own file: opening and closing another one would drop the locks of this process.
    func fileHeader() throws -> FileHeader {
        let size = try fileSize()
        var bytes = [UInt8](repeating: 0, count: Int(min(size, Int64(FileHeader.count))))
        if !bytes.isEmpty {
            try check(strongroom_database_read(openConnection, "main", &bytes, CInt(bytes.count), 0))
        }
        return FileHeader(bytes: bytes, fileSize: size)
    }

    // MARK: - Looking for the salt

    func locateSalt(requestedHeader requested: PlaintextHeader?) throws -> SaltLocation {
        if let requested { try PlaintextHeader.validate(size: requested.size) }
        let provided = try providedSalt(requested)
        let header = try fileHeader()
        if header.fileSize == 0 { return try saltForCreation(requested, provided: provided) }
        if header.isClear { throw DatabaseError.clearText(path) }
        if header.hasPlaintextHeader { return try saltOfPlaintextHeader(requested, provided: provided) }
        guard let salt = header.salt else { throw DatabaseError.notDatabase(path, "it has only \(header.fileSize) bytes") }
        if requested != nil { throw DatabaseError.lateHeader(path) }
        return SaltLocation(salt: provided ?? salt, header: 0, isProvided: provided != nil)
    }

    private func providedSalt(_ requested: PlaintextHeader?) throws -> Salt? {
        if case .provided(let bytes)? = requested?.salt { return try Salt(bytes) }
        return cipher.key?.source.salt
    }

    private func saltOfPlaintextHeader(_ requested: PlaintextHeader?, provided: Salt?) throws -> SaltLocation {
        if let provided { return SaltLocation(salt: provided, header: requested?.size ?? 32, isProvided: true) }
        guard let file = try SaltFile.read(.permanent, of: filePath) else {
            throw DatabaseError.missingSalt(path, beside: SaltFile.path(.permanent, of: filePath))
        }
        return SaltLocation(salt: file.salt, header: file.header)
    }

    /// Compares the first `end` bytes of a readable header with what the settings determine: SQLCipher authenticates
    /// none of them, and SQLite believes them all.
    func requirePlausibleHeader(upTo end: Int) throws {
        guard let derived = cipher.derived, cipher.header > 0 else { return }
        let header = try fileHeader()
        guard header.hasPlaintextHeader else { return }
        // One of the former salts may come with a shorter header.
        let clear = cipher.isSaltProvided ? cipher.header : try formerSalts().map(\.header).reduce(cipher.header, min)
        guard let problem = header.contradiction(to: derived.settings, upTo: min(end, clear)) else { return }
        throw DatabaseError.contradictoryHeader(path, problem)
    }

    // MARK: - Former salts

    /// True when the database has one of the former salts beside it, and the key fits: it was restored from an older
    /// copy, or moved away while another one was created under its name, or a change of its header was killed. That
    /// salt counts again, then.
    func followFormerSalt() throws -> Bool {
        guard let derived = cipher.derived, cipher.header > 0, !cipher.isSaltProvided else { return false }
        let header = cipher.header
        for former in try formerSalts() where former != SaltFile(salt: derived.salt, header: header) {
            try attach(derivedKey(salt: former.salt, settings: derived.settings), header: former.header)
            guard try canRead() else { continue }
            // Where this user may not write it, each opening finds it again.
            if !configuration.readonly { try? former.write(.permanent, of: filePath) }
            return true
        }
        try attach(derived, header: header)
        return false
    }

    /// Each costs a derivation where the key is wrong.
    private func formerSalts() throws -> ArraySlice<SaltFile> {
        var known: Set<SaltFile> = []
        let salts = try SaltFile.readAll(.permanent, of: filePath)
        return salts.filter { known.insert($0).inserted }.prefix(SaltFile.rememberedCount)
    }

    // MARK: - Creation

    /// Refuses a name before SQLite makes a file of it.
    static func requireCreatable(_ path: String, _ configuration: Configuration) throws {
        guard configuration.encryption != nil, !configuration.readonly, !path.hasPrefix("file:") else { return }
        if !strongroom_file_exists(path) { try SaltFile.requireName(of: path) }
    }

    /// Everyone who finds the database empty takes the same salt, so that two processes can create it at once.
    private func saltForCreation(_ requested: PlaintextHeader?, provided: Salt?) throws -> SaltLocation {
        let size = requested?.size ?? 0
        if configuration.readonly { try requireNoLog() }
        if let provided { return SaltLocation(salt: provided, header: size, isProvided: true) }
        let random = try Salt.random()
        if configuration.readonly { return SaltLocation(salt: random, header: size) }
        if size > 0 { try SaltFile.requireWritable(.permanent, of: filePath) }
        try SaltFile.requireName(of: filePath)
        cipher.isCreating = true
        let agreed = try SaltFile(salt: random, header: size).agree(.creation, of: filePath)
        let header = try fileHeader()
        if header.fileSize > 0 {
            // It was created meanwhile, and the one who did so may have removed the agreement before we made ours.
            return try locateSalt(requestedHeader: requested)
        }
        if size > 0 { try SaltFile(salt: agreed.salt, header: size).write(.permanent, of: filePath) }
        return SaltLocation(salt: agreed.salt, header: size)
    }

    /// Of an empty database SQLite removes the write-ahead log, even for those who only read.
    private func requireNoLog() throws {
        guard strongroom_file_exists(filePath + "-wal") else { return }
        throw DatabaseError(
            .SQLITE_CORRUPT, .damaged, "\(path) is empty, although it has a write-ahead log",
            advice: "restore it from a backup, or remove \(path)-wal")
    }

    /// Writes the salt beside the file before the file can lose it.
    func prepareForPlaintextHeader(size: Int) throws {
        try PlaintextHeader.validate(size: size)
        guard let derived = cipher.derived, isFileStored else { return }
        if !cipher.isSaltProvided { try SaltFile(salt: derived.salt, header: size).write(.permanent, of: filePath) }
        cipher.header = size
    }

    /// True when the file has another salt or header than it had when we looked, and the key was set again: another
    /// process created the database, or the first read rolled back a change of header that was killed.
    func followChangedFile() throws -> Bool {
        guard let derived = cipher.derived, !cipher.isSaltProvided, let location = try? locateSalt(requestedHeader: nil),
              location.salt != derived.salt || location.header != cipher.header
        else { return false }
        try attach(derivedKey(salt: location.salt, settings: derived.settings), header: location.header)
        return try canRead()
    }

    // MARK: - Left-overs

    /// Removes what creation and rotation needed, once the database can do without.
    func removeLeftOvers() throws {
        guard cipher.derived != nil, !configuration.readonly, isFileStored, try fileSize() > 0 else { return }
        try SaltFile.remove(.creation, of: filePath)
        cipher.isCreating = false
        try SaltFile.removeUnfinished(.rotation, of: filePath)
        try finishRotation()
    }

    /// After the first transaction that this connection committed to an empty file, and at closing: a program may end
    /// without it.
    ///
    /// The agreement stays where the database doesn't open without it; the next opening looks again.
    func endCreation() {
        guard cipher.isCreating, let size = try? fileSize(), size > 0 else { return }
        cipher.isCreating = false
        guard (try? opensFromFiles()) == true else { return }
        try? SaltFile.remove(.creation, of: filePath)
    }

    /// Whether a fresh connection, which knows the key and the settings, finds the salt and the header by itself, and
    /// reads.
    private func opensFromFiles() throws -> Bool {
        guard let key = cipher.key, let derived = cipher.derived else { return true }
        let file = SaltFile(salt: derived.salt, header: cipher.header)
        if cipher.header > 0, !cipher.isSaltProvided { try file.write(.permanent, of: filePath) }
        let salt = cipher.isSaltProvided ? PlaintextHeader.SaltPlace.provided(derived.salt.bytes) : .sidecar
        let header = cipher.header > 0 ? PlaintextHeader(size: cipher.header, salt: salt) : nil
        let location = try locateSalt(requestedHeader: header)
        guard SaltFile(salt: location.salt, header: location.header) == file else { return false }
        var plain = Configuration()
        plain.readonly = true
        let fresh = try Database(path: filePath, description: description + ".verification", configuration: plain)
        do {
            return try fresh.withSoleAccess { try $0.opens(with: key, cipher.keyring, derived.settings, header) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            return true
        }
    }

    private func opens(
        with key: DatabaseKey, _ keyring: Keyring, _ settings: CipherSettings, _ header: PlaintextHeader?
    ) throws -> Bool {
        (cipher.key, cipher.keyring) = (key, keyring)
        try check(compiler.install(on: openConnection))
        try establishKey(settings, requestedHeader: header)
        return try canRead()
    }
}

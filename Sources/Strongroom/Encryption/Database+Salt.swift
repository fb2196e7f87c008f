import CStrongroom

// Where the salt of a database is: in its first 16 bytes, beside it, or with the caller.

struct SaltLocation {
    var salt: Salt
    /// Bytes of the file that aren't encrypted.
    var header: Int
    var place = SaltPlace.database
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
        return provided ?? SaltLocation(salt: salt, header: 0)
    }

    private func providedSalt(_ requested: PlaintextHeader?) throws -> SaltLocation? {
        let size = requested?.size ?? 0
        if case .provided(let bytes)? = requested?.salt { return SaltLocation(salt: try Salt(bytes), header: size, place: .caller) }
        return cipher.key?.source.salt.map { SaltLocation(salt: $0, header: size, place: .key) }
    }

    private func saltOfPlaintextHeader(_ requested: PlaintextHeader?, provided: SaltLocation?) throws -> SaltLocation {
        if var provided {
            // A key carries no size: the salt file may.
            if requested == nil { provided.header = try SaltFile.read(.permanent, of: filePath)?.header ?? 32 }
            return provided
        }
        guard let file = try SaltFile.read(.permanent, of: filePath) else {
            throw DatabaseError.missingSalt(path, beside: SaltFile.path(.permanent, of: filePath))
        }
        return SaltLocation(salt: file.salt, header: file.header)
    }

    // MARK: - Creation

    /// Everyone who finds the database empty takes the same salt, so that two processes can create it at once.
    private func saltForCreation(_ requested: PlaintextHeader?, provided: SaltLocation?) throws -> SaltLocation {
        let size = requested?.size ?? 0
        if let provided { return provided }
        let random = try Salt.random()
        if configuration.readonly { return SaltLocation(salt: random, header: size) }
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

    /// Writes the salt beside the file before the file can lose it.
    func prepareForPlaintextHeader(size: Int) throws {
        try PlaintextHeader.validate(size: size)
        guard let derived = cipher.derived, isFileStored else { return }
        if !cipher.isSaltProvided { try SaltFile(salt: derived.salt, header: size).write(.permanent, of: filePath) }
        cipher.header = size
    }

    /// True when the file has another salt or header than it had when we looked, and the key was set again: another process created
    /// the database, or the first read rolled back a change of header that was killed.
    func followChangedFile() throws -> Bool {
        guard let derived = cipher.derived, !cipher.isSaltProvided, let location = try? locateSalt(requestedHeader: nil),
              location.salt != derived.salt || location.header != cipher.header
        else { return false }
        try attach(derivedKey(salt: location.salt, settings: derived.settings), header: location.header)
        return true
    }

    // MARK: - Left-overs

    /// Removes what creation and rotation needed, once the database can do without.
    func removeLeftOvers() throws {
        guard cipher.derived != nil, !configuration.readonly, isFileStored, try fileSize() > 0 else { return }
        try SaltFile.remove(.creation, of: filePath)
        cipher.isCreating = false
        try finishRotation()
    }

    /// At closing, when the database that this connection found empty has got its first page. The next opening would do the same.
    func removeCreationSalt() {
        guard cipher.isCreating, let size = try? fileSize(), size > 0 else { return }
        try? SaltFile.remove(.creation, of: filePath)
    }
}

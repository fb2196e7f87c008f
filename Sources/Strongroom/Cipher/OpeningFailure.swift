import CStrongroom

// The causes of a failed opening, and their remedies.

extension DatabaseError {
    /// A Boolean value that indicates whether the key doesn't fit the database, or the file isn't a database. Without
    /// the right key, the two can't be distinguished.
    ///
    /// True for `SQLITE_NOTADB` if the ``reason`` is one that another key can cure: ``Reason/wrongKey``,
    /// ``Reason/mistypedRecoveryCode`` and ``Reason/encryptedWithoutKey``, but not clear text, an older format, or a
    /// missing or wrong salt.
    public var isWrongKeyError: Bool {
        guard resultCode == .SQLITE_NOTADB else { return false }
        switch reason {
        case nil, .wrongKey, .encryptedWithoutKey, .mistypedRecoveryCode: return true
        default: return false
        }
    }

    static func clearText(_ path: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_NOTADB, .notEncrypted, "\(path) is not encrypted",
            advice: "open it without a key, or encrypt it with DatabaseFile.encrypt(path:to:encryption:)")
    }

    static func notDatabase(_ path: String, _ why: String) -> DatabaseError {
        DatabaseError(.SQLITE_NOTADB, .notDatabase, "\(path) is not a database: \(why)")
    }

    static func otherFormat(_ path: String, version: Int) -> DatabaseError {
        DatabaseError(
            .SQLITE_NOTADB, version < 4 ? .olderFormat : .newerFormat, "\(path) has the SQLCipher \(version) format",
            advice: "migrate it with DatabaseFile.migrate(path:to:from:), or set CipherSettings.sqlcipher\(version)",
            formatVersion: version)
    }

    static func missingSalt(_ path: String, beside file: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_NOTADB, .missingSalt,
            "the salt of \(path) is missing: its header is plaintext and there is no \(file)",
            advice: "restore that file, or give the salt with PlaintextHeader(salt: .provided(…))")
    }

    static func contradictoryHeader(_ path: String, _ problem: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_NOTADB, .contradictoryHeader, "the plaintext header of \(path) doesn't fit: \(problem)",
            advice: "open the database with the settings that it was created with, or restore it from a backup")
    }

    static func lateHeader(_ path: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_NOTADB, .missingPlaintextHeader, "\(path) is encrypted from its first byte",
            advice: """
                open it without a plaintext header, or add one with \
                DatabaseFile.setPlaintextHeader(_:path:encryption:)
                """)
    }
}

extension Database {
    /// Runs the end of opening. Its errors name the problem of the file or the key.
    func explainingFailures(_ body: () throws -> Void) throws {
        do {
            try keepingLog(body)
        } catch let error as DatabaseError where error.isUnexplained {
            throw try OpeningFailure(database: self).explanation(of: error)
        }
    }

    /// Runs `body` so that a connection that fails to open leaves the write-ahead log as it is.
    private func keepingLog(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            log.setCheckpointsAtClose(false)
            throw error
        }
    }
}

/// The search for the reason why a database does not open.
private struct OpeningFailure {
    let database: Database

    private var path: String { database.path }
    private var cipher: CipherState { database.cipher }

    /// Returns the error to throw for SQLite's.
    func explanation(of error: DatabaseError) throws -> DatabaseError {
        let header = try database.fileHeader()
        guard header.fileSize > 0 else { return error }
        guard let derived = cipher.derived else { return withoutKey(error, header) }
        if header.isClear { return .clearText(path) }
        if header.looksLikeText { return .notDatabase(path, "it begins with text") }
        if header.fileSize < 512 { return .notDatabase(path, "it has only \(header.fileSize) bytes") }
        if header.hasPlaintextHeader, header.pageSize == nil {
            return DatabaseError(
                .SQLITE_CORRUPT, .damaged, "the header of \(path) contains no valid page size", damagedPage: 1)
        }
        let pages = PageReader(database, pageSize: derived.settings.pageSize, fileSize: header.fileSize)
        let format = try PageFormat(derived, header: cipher.header)
        if let damage = try self.damage(error, pages, format) { return damage }
        if let other = try otherFormat(header, derived) { return other }
        let salt = cipher.isSaltProvided ? " or wrong salt" : ""
        return DatabaseError(.SQLITE_NOTADB, .wrongKey, "wrong key\(salt), or not a database: \(path)")
    }

    private func withoutKey(_ error: DatabaseError, _ header: FileHeader) -> DatabaseError {
        if header.isClear { return error }
        if header.looksLikeText { return .notDatabase(path, "it begins with text") }
        if header.fileSize < 512 { return .notDatabase(path, "it has only \(header.fileSize) bytes") }
        return DatabaseError(
            .SQLITE_NOTADB, .encryptedWithoutKey, "\(path) is encrypted, or not a database",
            advice: "set Configuration.encryption, or call usePassphrase(_:) in prepareDatabase")
    }

    /// Returns the error for a damaged file and the right key, which some page proves.
    private func damage(
        _ error: DatabaseError, _ pages: PageReader, _ format: PageFormat) throws -> DatabaseError?
    {
        if try pages.isAuthentic(1, format) {
            // SQLITE_NOTADB means that the write-ahead log has pages of another key. A plaintext header hides that.
            guard error.resultCode != .SQLITE_NOTADB, !database.keyProof.hasOtherKeyInLog(than: format)
            else { return nil }
            return DatabaseError(.SQLITE_CORRUPT, .damaged, "\(path) is damaged or truncated: the key fits page 1")
        }
        if format.authenticates, try pages.sample().contains(where: { try pages.isAuthentic($0, format) }) {
            return DatabaseError(
                .SQLITE_CORRUPT, .damaged, "page 1 of \(path) is damaged: the key fits other pages", damagedPage: 1)
        }
        if cipher.isSaltProvided, try pages.withPage(1, { format.decrypts(firstPage: $0) }) ?? false {
            return DatabaseError(.SQLITE_NOTADB, .wrongSalt, "wrong salt for \(path): the key fits")
        }
        return nil
    }

    /// Tries other formats on page 1.
    private func otherFormat(_ header: FileHeader, _ derived: DerivedKey) throws -> DatabaseError? {
        guard let salt = header.salt, cipher.header == 0 else { return nil }
        for (version, settings) in CipherSettings.formats where settings != derived.settings {
            let candidate = try PageFormat(
                Keyring().derivedKey(for: cipher.key!, salt: salt, settings: settings), header: 0)
            let pages = PageReader(database, pageSize: settings.pageSize, fileSize: header.fileSize)
            if try pages.isAuthentic(1, candidate) { return .otherFormat(path, version: version) }
        }
        return nil
    }
}

extension DatabaseError {
    /// True if SQLite doesn't accept a file, and reports only the code.
    fileprivate var isUnexplained: Bool {
        let isVague = [.SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CORRUPT, .SQLITE_IOERR].contains(resultCode)
        return isVague && details?.explanation == nil && message == extendedResultCode.errorString
    }
}

/// A reader of raw pages of the main file, through its connection.
struct PageReader {
    let database: Database
    let pageSize: Int
    let count: Int

    init(_ database: Database, pageSize: Int, fileSize: Int64) {
        self.database = database
        self.pageSize = pageSize
        count = Int(fileSize / Int64(pageSize))
    }

    /// Calls `body` with a page. Nil beyond the end.
    func withPage<R>(_ number: Int, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
        guard (1...max(count, 1)).contains(number), count > 0 else { return nil }
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize, alignment: 8)
        defer { page.deallocate() }
        let offset = Int64(number - 1) * Int64(pageSize)
        try database.check(
            strongroom_database_read(database.openConnection, "main", page.baseAddress, CInt(pageSize), offset))
        return try body(UnsafeRawBufferPointer(page))
    }

    func isAuthentic(_ number: Int, _ format: PageFormat) throws -> Bool {
        try withPage(number) { page in
            // A page of zeros proves nothing.
            page.contains { $0 != 0 } && format.isAuthentic(page, number: number)
        } ?? false
    }

    /// Returns the numbers of a few pages from the whole file, without the first.
    func sample() -> [Int] {
        guard count > 1 else { return [] }
        let step = max(1, (count - 1) / 8)
        return Array(stride(from: 2, through: count, by: step))
    }
}

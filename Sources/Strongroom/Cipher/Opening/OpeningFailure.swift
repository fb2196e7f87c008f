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
        // The disk may work again by now.
        if error.isOfDisk { return error }
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
        return DatabaseError(
            .SQLITE_NOTADB, .wrongKey, "wrong key\(salt), or not a database: \(path)", advice: adviceOnSlots)
    }

    /// The name of the slot file that is missing, if the database has slots: its pages don't tell.
    private var adviceOnSlots: String? {
        let files = SlotFiles(database: database.filePath)
        guard cipher.key?.source.form == .passphrase, !files.exists(.current), !files.exists(.rotation) else {
            return nil
        }
        return "a database with key slots has a slot file, and there is no \(files.path(.current)): restore it"
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
        _ error: DatabaseError, _ pages: PageReader, _ format: PageFormat
    ) throws -> DatabaseError? {
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

    /// Tries other formats on page 1, each with its usual page size and with the one that was given.
    private func otherFormat(_ header: FileHeader, _ derived: DerivedKey) throws -> DatabaseError? {
        guard let salt = header.salt, cipher.header == 0 else { return nil }
        for (version, usual) in CipherSettings.formats {
            var given = usual
            given.pageSize = derived.settings.pageSize
            let candidates = Set([usual, given]).subtracting([derived.settings])
            guard !candidates.isEmpty else { continue }
            // The page size has no part in the derivation.
            let key = try Keyring().derivedKey(for: cipher.key!, salt: salt, settings: usual).key
            for settings in candidates {
                let format = try PageFormat(DerivedKey(key: key, salt: salt, settings: settings), header: 0)
                let pages = PageReader(database, pageSize: settings.pageSize, fileSize: header.fileSize)
                if try pages.isAuthentic(1, format) { return .otherFormat(path, version: version) }
            }
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

    /// True if the disk has failed. SQLCipher's own failures have no extended code, and a file that ends early is
    /// damaged.
    fileprivate var isOfDisk: Bool {
        resultCode == .SQLITE_IOERR && ![.SQLITE_IOERR, .SQLITE_IOERR_SHORT_READ].contains(extendedResultCode)
    }
}

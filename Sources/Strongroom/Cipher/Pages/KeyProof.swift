import Foundation

/// The proof of a connection's key on page 1, before SQLite reads. SQLite would recover a log and roll back a journal
/// under any key, but a wrong key must not change a file.
struct KeyProof {
    let database: Database

    private var cipher: CipherState { database.cipher }

    /// Returns true if the key fits page 1, in the file or where recovery would take it from. True if it can't be
    /// determined.
    func keyFits() throws -> Bool {
        guard let derived = cipher.derived, database.isFileStored else { return true }
        let format = try PageFormat(derived, header: cipher.header)
        // With a plaintext header and without an HMAC, page 1 proves nothing.
        guard format.authenticates || cipher.header == 0 else { return true }
        // Another connection may be writing the page: only a page that does not change belongs to another key.
        for attempt in 0..<5 {
            if attempt > 0 { usleep(1000) }
            let size = try database.fileSize()
            let pages = PageReader(database, pageSize: format.pageSize, fileSize: size)
            if try pages.isAuthentic(1, format) || database.hasNoPage(ofSize: size) { return true }
            if hasFirstPageElsewhere({ $0.count == format.pageSize && format.isAuthentic($0, number: 1) }) {
                return true
            }
        }
        return false
    }

    /// Throws the errors of the first read, without reading.
    func requireFittingKey() throws {
        if cipher.gate == nil, try cipher.isKeyed || isReadableWithoutKey() { return }
        throw DatabaseError(resultCode: .SQLITE_NOTADB)
    }

    /// Returns true if the file is in clear text, or its key is not this library's.
    private func isReadableWithoutKey() throws -> Bool {
        guard database.isFileStored else { return true }
        let header = try database.fileHeader()
        if header.startsLikeSQLite && !header.hasPlaintextHeader { return true }
        if database.hasNoPage(ofSize: header.fileSize) { return true }
        // The program may have set a key itself, through the C interface.
        return try database.answer(to: "PRAGMA cipher_provider") != nil
            || hasFirstPageElsewhere { $0.starts(with: FileHeader.magic) }
    }

    /// Calls `fits` with each committed page 1 of the write-ahead log and with that of the rollback journal, until it
    /// returns true.
    func hasFirstPageElsewhere(_ fits: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        withoutActuallyEscaping(fits) { fits in
            let check = FirstPageCheck(fits)
            return withExtendedLifetime(check) {
                FirstPage.isElsewhere(
                    database.filePath,
                    { context, page, size in
                        let check = Unmanaged<FirstPageCheck>.fromOpaque(context!).takeUnretainedValue()
                        return check.fits(UnsafeRawBufferPointer(start: page, count: Int(size)))
                    }, Unmanaged.passUnretained(check).toOpaque())
            }
        }
    }

    /// Returns true if the newest committed page 1 in the write-ahead log has another key.
    func hasOtherKeyInLog(than format: PageFormat) -> Bool {
        guard format.authenticates else { return false }
        var isOther = false
        _ = hasFirstPageElsewhere { page in
            isOther = page.count != format.pageSize || !format.isAuthentic(page, number: 1)
            return false
        }
        return isOther
    }

    /// Returns true if another connection has changed the key.
    func wasKeyChanged() throws -> Bool {
        guard let derived = cipher.derived else { return false }
        return try hasOtherKeyInLog(than: PageFormat(derived, header: cipher.header)) || !keyFits()
    }

    /// Returns the error for pages of another key. SQLite reports them as no database, or as damage, lack of memory or
    /// a read-only file.
    func explanationOfChangedKey(_ code: CInt) -> DatabaseError? {
        let code = ResultCode(rawValue: code)
        // After a page 1 that can't be decrypted, SQLCipher 4.7 to 4.12 fail with SQLITE_NOMEM, and 4.19 refuses writes
        // with SQLITE_READONLY.
        let isVague =
            cipher.header > 0 && [.SQLITE_ERROR, .SQLITE_CORRUPT].contains(code.primaryResultCode)
            || [.SQLITE_NOTADB, .SQLITE_NOMEM, .SQLITE_READONLY].contains(code)
        guard cipher.phase.stage == .open, database.isFileStored, isVague,
            database.lastErrorMessage == code.errorString, (try? wasKeyChanged()) == true
        else { return nil }
        return DatabaseError(
            .SQLITE_NOTADB, .wrongKey, "the key of \(database.path) has been changed",
            advice: "open the database again with the new key")
    }

    // MARK: - The gate

    /// Closes the gate if the given key doesn't fit the file.
    func proveKey() throws {
        cipher.openGate()
        if try !keyFits() { cipher.closeGate(of: database.sqliteConnection) }
    }
}

extension Database {
    /// The proof of the connection's key.
    var keyProof: KeyProof { KeyProof(database: self) }
}

private final class FirstPageCheck {
    let fits: (UnsafeRawBufferPointer) -> Bool

    init(_ fits: @escaping (UnsafeRawBufferPointer) -> Bool) {
        self.fits = fits
    }
}

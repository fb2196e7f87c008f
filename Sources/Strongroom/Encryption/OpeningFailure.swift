import CStrongroom

// What a failed opening means, in words that name the remedy.

extension DatabaseError {
    /// Whether the key doesn't fit the database, or the file isn't a database: without the right key, nobody can tell.
    ///
    /// True for `SQLITE_NOTADB` except where something else was found out: clear text, an older format, a missing salt.
    public var isWrongKeyError: Bool {
        resultCode == .SQLITE_NOTADB && !(message ?? "").contains(DatabaseError.keyIsNotAtFault)
    }

    /// Ends the message of each `SQLITE_NOTADB` that another key would not cure.
    private static let keyIsNotAtFault = "(another key won't help)"

    private static func notKeysFault(_ message: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_NOTADB, message: "\(message) \(keyIsNotAtFault)")
    }

    static func clearText(_ path: String) -> DatabaseError {
        notKeysFault("\(path) is not encrypted: open it without a key, or encrypt it with DatabaseFile.encrypt(path:to:encryption:)")
    }

    static func notDatabase(_ path: String, _ reason: String) -> DatabaseError {
        notKeysFault("\(path) is not a database: \(reason)")
    }

    static func olderFormat(_ path: String, name: String, spelling: String) -> DatabaseError {
        notKeysFault("\(path) has the \(name) format; migrate it with DatabaseFile.migrate(path:to:from:), or set CipherSettings\(spelling)")
    }

    static func missingSalt(_ path: String, beside file: String) -> DatabaseError {
        notKeysFault("""
            the salt of \(path) is missing: its header is plaintext and there is no \(file); restore that file, or give the salt \
            with PlaintextHeader(salt: .provided(…))
            """)
    }

    static func implausibleHeader(_ path: String, _ problem: String) -> DatabaseError {
        notKeysFault("""
            the readable header of \(path) doesn't fit: \(problem); open the database with the settings that it was created with, or \
            restore it from a backup
            """)
    }

    static func lateHeader(_ path: String) -> DatabaseError {
        notKeysFault("""
            \(path) is encrypted from its first byte: open it without a plaintext header, or turn one on with DatabaseFile.setPlaintextHeader(_:path:encryption:)
            """)
    }
}

extension Database {
    /// Runs the end of opening; its failures say what is wrong with the file or the key.
    func explainingFailures(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError where error.message == nil || DatabaseError.vague.contains(error.message!) {
            throw try explanation(of: error)
        }
    }

    private func explanation(of error: DatabaseError) throws -> DatabaseError {
        let header = try fileHeader()
        guard header.fileSize > 0 else { return error }
        guard let derived = cipher.derived else { return explanationWithoutKey(error, header) }
        if header.isClear { return .clearText(path) }
        if header.looksLikeText { return .notDatabase(path, "it begins like a text") }
        if header.fileSize < 512 { return .notDatabase(path, "it has only \(header.fileSize) bytes") }
        let pages = PageReader(self, pageSize: derived.settings.pageSize, fileSize: header.fileSize)
        let format = try PageFormat(derived, header: cipher.header)
        if let damage = try explanationOfDamage(error, pages, format) { return damage }
        if let older = try explanationOfFormat(header, derived) { return older }
        let salt = cipher.isSaltProvided ? " or wrong salt" : ""
        return DatabaseError(resultCode: .SQLITE_NOTADB, message: "wrong key\(salt), or not a database: \(path)")
    }

    private func explanationWithoutKey(_ error: DatabaseError, _ header: FileHeader) -> DatabaseError {
        if header.isClear { return error }
        if header.looksLikeText { return .notDatabase(path, "it begins like a text") }
        if header.fileSize < 512 { return .notDatabase(path, "it has only \(header.fileSize) bytes") }
        return DatabaseError(resultCode: .SQLITE_NOTADB, message: """
            \(path) is encrypted, or not a database: set Configuration.encryption, or call usePassphrase(_:) in prepareDatabase
            """)
    }

    /// The right key, which some page proves, on a file that is damaged.
    private func explanationOfDamage(_ error: DatabaseError, _ pages: PageReader, _ format: PageFormat) throws -> DatabaseError? {
        if try pages.isAuthentic(1, format) {
            // With NOTADB, the write-ahead log already holds the pages of another key.
            guard error.resultCode != .SQLITE_NOTADB else { return nil }
            return DatabaseError(resultCode: .SQLITE_CORRUPT, message: "\(path) is damaged or truncated: the key fits page 1")
        }
        if format.authenticates, try pages.sample().contains(where: { try pages.isAuthentic($0, format) }) {
            return DatabaseError(resultCode: .SQLITE_CORRUPT, message: "page 1 of \(path) is damaged: the key fits other pages")
        }
        if cipher.isSaltProvided, try pages.withPage(1, { format.decrypts(firstPage: $0) }) ?? false {
            return DatabaseError(resultCode: .SQLITE_NOTADB, message: "wrong salt for \(path): the key fits")
        }
        return nil
    }

    /// Tries older formats on page 1.
    private func explanationOfFormat(_ header: FileHeader, _ derived: DerivedKey) throws -> DatabaseError? {
        guard let salt = header.salt, cipher.header == 0 else { return nil }
        let newer = [("SQLCipher 4", ".sqlcipher4", CipherSettings.sqlcipher4)]
        for (name, spelling, settings) in CipherSettings.olderFormats + newer where settings != derived.settings {
            let candidate = try PageFormat(Keyring().derivedKey(for: cipher.key!, salt: salt, settings: settings), header: 0)
            let pages = PageReader(self, pageSize: settings.pageSize, fileSize: header.fileSize)
            if try pages.isAuthentic(1, candidate) { return .olderFormat(path, name: name, spelling: spelling) }
        }
        return nil
    }
}

extension DatabaseError {
    /// What SQLite says when it makes nothing of a file.
    fileprivate static let vague: Set<String> = [
        "file is not a database", "SQL logic error", "database disk image is malformed", "disk I/O error",
    ]
}

/// Reads raw pages of the main file through its connection.
struct PageReader {
    let database: Database
    let pageSize: Int
    let count: Int

    init(_ database: Database, pageSize: Int, fileSize: Int64) {
        self.database = database
        self.pageSize = pageSize
        count = Int(fileSize / Int64(pageSize))
    }

    /// Nil past the end.
    func withPage<R>(_ number: Int, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
        guard (1...max(count, 1)).contains(number), count > 0 else { return nil }
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize, alignment: 8)
        defer { page.deallocate() }
        let offset = Int64(number - 1) * Int64(pageSize)
        try database.check(strongroom_database_read(database.openConnection, "main", page.baseAddress, CInt(pageSize), offset))
        return try body(UnsafeRawBufferPointer(page))
    }

    func isAuthentic(_ number: Int, _ format: PageFormat) throws -> Bool {
        try withPage(number) { page in
            // A page of zeros proves nothing.
            page.contains { $0 != 0 } && format.isAuthentic(page, number: number)
        } ?? false
    }

    /// A few pages from all over the file, except the first.
    func sample() -> [Int] {
        guard count > 1 else { return [] }
        let step = max(1, (count - 1) / 8)
        return Array(stride(from: 2, through: count, by: step))
    }
}

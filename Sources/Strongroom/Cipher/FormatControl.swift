import CStrongroom

// The format is said to each connection. What can't be said to one, such as the mask of HMAC keys, belongs to the
// process, and is held at SQLCipher 4's while keys are set and derived.

/// The format that SQLCipher is told for a connection, and the defaults of the process that stand behind it.
struct FormatControl {
    let database: Database

    private var cipher: CipherState { database.cipher }

    /// Sets a key, and says the whole format: nothing of it comes from SQLCipher's defaults.
    ///
    /// - parameter schema: the quoted name.
    func setKey(
        _ key: UnsafeRawBufferPointer, format settings: CipherSettings, header: Int, schema: String, name: String
    ) throws {
        try database.check(strongroom_key(database.openConnection, name, key.baseAddress, CInt(key.count)))
        // What is so already isn't said: after a first read, SQLCipher has forgotten what it would derive the key
        // from again.
        try database.untraced {
            for (pragma, value) in settings.pragmas(header: header) {
                let pragma = "\(schema).\(pragma)"
                if try database.answer(to: "PRAGMA " + pragma) != value { try database.runCipherPragma("\(pragma) = \(value)") }
            }
        }
    }

    /// Makes SQLCipher derive the HMAC key of an empty file now, and not at the first commit, when other code may have
    /// changed the mask.
    func deriveBeforeFirstPage() throws {
        if cipher.derived != nil { try deriveBeforeFirstPage(of: "main") }
    }

    func deriveBeforeFirstPage(of schema: String) throws {
        guard database.path(of: schema) != nil, try database.fileHeader(of: schema).fileSize == 0 else { return }
        try database.runUnseen("PRAGMA \(quoted(schema)).cipher_integrity_check")
    }

    /// From the key on until the database is set up, keys that are set and derived get SQLCipher 4's defaults,
    /// whatever other code in the process has made of them.
    func holdDefaults() throws {
        guard !cipher.holdsDefaults, !cipher.isSetUp else { return }
        try FormatControl.holdDefaults()
        cipher.holdsDefaults = true
    }

    func releaseDefaults() {
        guard cipher.holdsDefaults else { return }
        cipher.holdsDefaults = false
        strongroom_defaults_release()
    }

    /// Runs `body` with these defaults.
    func holdingDefaults<T>(_ body: () throws -> T) throws -> T {
        try FormatControl.holdDefaults()
        defer { strongroom_defaults_release() }
        return try body()
    }

    private static func holdDefaults() throws {
        let code = ResultCode(rawValue: strongroom_defaults_hold())
        guard code == .SQLITE_OK else {
            throw DatabaseError(resultCode: code, message: "SQLCipher's defaults can't be set, and no key without them")
        }
    }

    // MARK: - Statements that open databases, or make some

    /// Prepares for a `VACUUM` or `ATTACH`: SQLCipher sets a key for the database that it opens.
    func holdFormat(for statement: Statement) throws {
        if maySetKey(statement) { try FormatControl.holdDefaults() }
        // A wrong key closes the database again, and must not change its files.
        if statement.compilation.attaches { database.log.setCheckpointsAtClose(false) }
        guard let source = statement.compilation.vacuumedSchema.flatMap(database.path(of:)) else { return }
        // A copy gets no more than the mode of the original. Nobody reads it in between: SQLite takes an empty file
        // as it is.
        database.authorizer.willCopy = { filename in _ = strongroom_copy_create(SQLiteURI.path(of: filename), source) }
    }

    /// Returns why what was attached is not attached anymore.
    func releaseFormat(after statement: Statement) -> DatabaseError? {
        database.authorizer.willCopy = nil
        var refusal: DatabaseError?
        if statement.compilation.attaches, let schema = database.latestSchemaName {
            refusal = refuseForeignVFS(of: schema)
            if refusal == nil { try? deriveBeforeFirstPage(of: schema) }
        }
        if statement.compilation.attaches { database.log.setCheckpointsAtClose(true) }
        if maySetKey(statement) { strongroom_defaults_release() }
        return refusal
    }

    /// Detaches a database whose URI names another VFS: nobody would know its locks, or fence its log.
    private func refuseForeignVFS(of schema: String) -> DatabaseError? {
        guard let sqliteConnection = database.sqliteConnection, !strongroom_is_ours(sqliteConnection, schema) else { return nil }
        do {
            try database.runUnseen("DETACH DATABASE \(quoted(schema))")
        } catch {
            return error as? DatabaseError
        }
        return DatabaseError(
            refusing: "a database can't be attached through a VFS of its own",
            advice: "name the VFS in the URI of the main database")
    }

    /// A clear database has no key to hand on.
    private func maySetKey(_ statement: Statement) -> Bool {
        statement.compilation.attaches || cipher.isKeyed
    }
}

extension Database {
    /// The format that SQLCipher is told.
    var formatControl: FormatControl { FormatControl(database: self) }
}

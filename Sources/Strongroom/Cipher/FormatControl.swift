import CStrongroom

// The format is set on each connection. Settings that only exist for the whole process, such as the mask of HMAC keys,
// are held at SQLCipher 4's defaults while keys are set and derived.

/// The format that is set on a connection, and the defaults of the process behind it.
struct FormatControl {
    let database: Database

    private var cipher: CipherState { database.cipher }

    /// Sets a key and the whole format, so that nothing comes from SQLCipher's defaults.
    ///
    /// - parameter schema: the quoted name of the schema.
    func setKey(
        _ key: UnsafeRawBufferPointer, format settings: CipherSettings, header: Int, schema: String, name: String
    ) throws {
        try database.check(strongroom_key(database.openConnection, name, key.baseAddress, CInt(key.count)))
        // Settings that SQLCipher already has are not set again: after a first read, that would make it derive the key
        // again from material that it has discarded.
        try database.untraced {
            for (pragma, value) in settings.pragmas(header: header) {
                let pragma = "\(schema).\(pragma)"
                if try database.answer(to: "PRAGMA " + pragma) != value {
                    try database.runCipherPragma("\(pragma) = \(value)")
                }
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
        do {
            try database.check(strongroom_connection_derive(database.connection, schema))
        } catch let error as DatabaseError {
            // SQLCipher would free a secret twice if the database were detached: the next statement throws.
            if database.connection.pointee.unfreeable { database.pragmaPolicy.refuseAll(with: error) }
            throw error
        }
    }

    /// Holds SQLCipher 4's defaults from the key until the database is set up, so that keys are set and derived with
    /// them, whatever other code in the process has set.
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

    /// Runs `body` with SQLCipher 4's defaults.
    func holdingDefaults<T>(_ body: () throws -> T) throws -> T {
        try FormatControl.holdDefaults()
        defer { strongroom_defaults_release() }
        return try body()
    }

    private static func holdDefaults() throws {
        let code = ResultCode(rawValue: strongroom_defaults_hold())
        guard code == .SQLITE_OK else {
            throw DatabaseError(
                resultCode: code, message: "SQLCipher's defaults can't be set, and the key can't be set without them")
        }
    }

    // MARK: - Statements that open or create databases

    /// Prepares for a `VACUUM` or `ATTACH`, where SQLCipher sets a key for the database that it opens.
    func holdFormat(for statement: Statement) throws {
        if maySetKey(statement) {
            // SQLCipher 4.6.1 frees a secret twice if it has no memory to copy the key.
            guard strongroom_can_take_key() else {
                throw DatabaseError(resultCode: .SQLITE_NOMEM, message: "there is no memory for the key of a database")
            }
            try FormatControl.holdDefaults()
        }
        // With a wrong key the database is closed again, which must not change its files.
        if statement.compilation.attaches { database.log.setCheckpointsAtClose(false) }
        guard let source = statement.compilation.vacuumedSchema.flatMap(database.path(of:)) else { return }
        // A copy gets at most the mode of the original, before it has content: SQLite uses an empty file as it is.
        database.authorizer.willCopy = { filename in _ = strongroom_copy_create(SQLiteURI.path(of: filename), source) }
    }

    /// Returns the reason why the attached database was detached again. Nil if it is attached.
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

    /// Detaches a database whose URI names another VFS: its locks would be unknown, and its log not fenced.
    private func refuseForeignVFS(of schema: String) -> DatabaseError? {
        guard let sqliteConnection = database.sqliteConnection, !strongroom_is_ours(sqliteConnection, schema)
        else { return nil }
        do {
            try database.runUnseen("DETACH DATABASE \(quoted(schema))")
        } catch {
            return error as? DatabaseError
        }
        return DatabaseError(
            refusing: "a database can't be attached through a VFS of its own",
            advice: "name the VFS in the URI of the main database")
    }

    /// Returns false for a clear database, which has no key to pass on.
    private func maySetKey(_ statement: Statement) -> Bool {
        statement.compilation.attaches || cipher.isKeyed
    }
}

extension Database {
    /// The format control of the connection.
    var formatControl: FormatControl { FormatControl(database: self) }
}

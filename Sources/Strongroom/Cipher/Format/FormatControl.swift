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
        try database.check(RawConnection(database.openConnection).setKey(key, of: name))
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

    /// Sets the derived key of the main database.
    func attach(_ derived: DerivedKey, header: Int) throws {
        try attach(derived, header: header, schema: "main", key: "main")
        cipher.attach(derived, header: header)
    }

    /// Sets a derived key on an attached database.
    ///
    /// - parameter schema: the quoted name of the schema.
    func attach(_ derived: DerivedKey, header: Int, schema: String, key name: String) throws {
        try derived.withSpec {
            try setKey($0, format: derived.settings, header: header, schema: schema, name: name)
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
            try database.check(database.connection.deriveKey(of: schema))
        } catch let error as DatabaseError {
            // SQLCipher would free a secret twice if the database were detached: the next statement throws.
            if database.connection.isUnfreeable { database.pragmaPolicy.refuseAll(with: error) }
            throw error
        }
    }

    /// Holds SQLCipher 4's defaults from the key until the database is set up, so that keys are set and derived with
    /// them, whatever other code in the process has set.
    func holdDefaults() throws {
        guard cipher.phase.lacksDefaults else { return }
        try FormatControl.holdDefaults()
        cipher.phase.defaultsWereHeld()
    }

    /// Ends the set-up, and with it the holding of the defaults.
    func endSetUp() {
        if cipher.phase.endSetUp() { CipherDefaults.release() }
    }

    /// Releases the defaults after a set-up that has failed.
    func releaseDefaults() {
        if cipher.phase.abandonSetUp() { CipherDefaults.release() }
    }

    /// Runs `body` with SQLCipher 4's defaults.
    func holdingDefaults<T>(_ body: () throws -> T) throws -> T {
        try FormatControl.holdDefaults()
        defer { CipherDefaults.release() }
        return try body()
    }

    private static func holdDefaults() throws {
        let code = ResultCode(rawValue: CipherDefaults.hold())
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
            guard CipherDefaults.makeRoomForKey() else {
                throw DatabaseError(resultCode: .SQLITE_NOMEM, message: "there is no memory for the key of a database")
            }
            try FormatControl.holdDefaults()
        }
        // With a wrong key the database is closed again, which must not change its files.
        if statement.compilation.attaches { database.log.setCheckpointsAtClose(false) }
        guard let source = statement.compilation.vacuumedSchema.flatMap(database.path(of:)) else { return }
        // A copy gets at most the mode of the original, before it has content: SQLite uses an empty file as it is.
        database.authorizer.willCopy = { filename in _ = StagedCopy.create(SQLiteURI.path(of: filename), of: source) }
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
        if maySetKey(statement) { CipherDefaults.release() }
        return refusal
    }

    /// Detaches a database whose URI names another VFS: its locks would be unknown, and its log not fenced.
    private func refuseForeignVFS(of schema: String) -> DatabaseError? {
        guard let sqliteConnection = database.sqliteConnection, !RawConnection(sqliteConnection).isOurs(schema)
        else { return nil }
        do {
            try database.runUnseen("DETACH DATABASE \(schema.quotedDatabaseIdentifier)")
        } catch {
            return error as? DatabaseError
        }
        return DatabaseError(
            refusing: "a database can't be attached through a VFS of its own",
            advice: "name the VFS in the URI of the main database")
    }

    /// Refuses the statement `VACUUM INTO` if no key would open the copy, or no key would be needed.
    ///
    /// The copy gets the key of the main database, whichever database it copies, and all or parts of SQLCipher's
    /// default format.
    func requireReadableCopy(of schemaName: String) throws {
        if !cipher.isKeyed, cipher.keepsTemporaryDataInMemory, schemaName != "main" {
            throw DatabaseError(
                refusing: "VACUUM INTO may write an attached database in clear text, as the main one is",
                advice: "open it by itself and use vacuum(into:)")
        }
        // In memory, the key is random and unknown.
        guard cipher.isKeyed, cipher.derived?.settings.hasStandardPages != true else { return }
        throw DatabaseError(refusing: "VACUUM INTO would write a copy that no key opens", advice: "use vacuum(into:)")
    }

    /// Returns false for an unencrypted database, which has no key to pass on.
    private func maySetKey(_ statement: Statement) -> Bool {
        statement.compilation.attaches || cipher.isKeyed
    }
}

extension Database {
    /// The format control of the connection.
    var formatControl: FormatControl { FormatControl(database: self) }
}

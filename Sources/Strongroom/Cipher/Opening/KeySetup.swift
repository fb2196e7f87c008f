import Foundation

extension Database {
    /// Sets the passphrase of the database. Call it in ``Configuration/prepareDatabase(_:)``, before other statements.
    /// ``Configuration/encryption`` is the declarative equivalent.
    ///
    /// The passphrase is derived once for all connections of a queue or pool, after the pragmas that set the
    /// derivation: `kdf_iter`, `cipher_compatibility`, `cipher_plaintext_header_size` and their kin.
    ///
    /// - throws: `SQLITE_MISUSE` for an empty passphrase, for a malformed `x'…'`, and if the connection has another key
    ///   already. The first read, at the end of opening, detects a wrong passphrase.
    ///   <https://www.zetetic.net/sqlcipher/sqlcipher-api/#sqlite3_key>
    public func usePassphrase(_ passphrase: String) throws {
        try keySetup.use(.passphrase(passphrase))
    }

    /// Sets the passphrase of the database, as bytes. See ``usePassphrase(_:)-(String)``.
    public func usePassphrase(_ passphrase: Data) throws {
        try keySetup.use(.passphrase(passphrase))
    }

    /// Leaves the first 32 bytes of a new database unencrypted, with the salt in a file beside it. Call it in
    /// ``Configuration/prepareDatabase(_:)``, after the passphrase. It has no effect on existing databases.
    ///
    /// - throws: `SQLITE_MISUSE` without a key, and when the database is open.
    ///   <https://www.zetetic.net/sqlcipher/sqlcipher-api/#cipher_plaintext_header_size>
    public func usePlaintextHeader() throws {
        guard cipher.isKeyed else {
            throw DatabaseError(refusing: "usePlaintextHeader() needs a key", advice: "call usePassphrase(_:) first")
        }
        guard try !isFileStored || hasNoPage() else { return }
        guard cipher.phase.isPending || pragmaPolicy.canChangeFormat
        else { throw DatabaseError.lateFormat(FormatPragma.headerSize.rawValue) }
        try runCipherPragma("cipher_plaintext_header_size = 32")
        cipher.requested.pragmas.insert(.headerSize)
        cipher.phase.formatWasGiven()
    }
}

extension Database {
    /// The set-up of the connection's key.
    var keySetup: KeySetup { KeySetup(database: self) }
}

/// The steps from a key to a connection that can read, for ``Configuration/encryption`` and for `usePassphrase`.
struct KeySetup {
    let database: Database

    var cipher: CipherState { database.cipher }

    var configuration: Configuration { database.configuration }

    // MARK: - Opening

    /// Prepares the connection for its key, before `prepareDatabase`.
    func setUpEncryption() throws {
        if let keyring = configuration.keyring { cipher.keyring = keyring }
        database.authorizer.verdict = { [unowned database] in database.pragmaPolicy.verdict(on: $0) }
        // Sorters and temporary tables would write clear text to the disk.
        try database.runUnseen("PRAGMA temp_store = MEMORY")
        if configuration.wipesFreedMemory { try wipeFreedMemory() }
        if let encryption = configuration.encryption {
            try requireUsable(encryption.key)
            try useConfiguredKey(encryption)
        }
    }

    /// Makes SQLCipher wipe what SQLite frees in this process.
    private func wipeFreedMemory() throws {
        try database.runUnseen("PRAGMA cipher_memory_security = ON")
        guard try database.untraced({ try database.answer(to: "PRAGMA cipher_memory_security") }) != "1" else { return }
        throw DatabaseError(
            refusing: "the SQLite library in this process can't wipe the memory that it frees",
            advice: "link SQLCipher with its own allocator, or do not set Configuration.wipesFreedMemory",
            reason: .unfitLibrary)
    }

    /// Reads the database for the first time, after `prepareDatabase`. Opening fails here if the key is wrong.
    func verifyEncryption() throws {
        try settlePendingKey()
        try database.saltSearch.requirePlausibleHeader(upTo: FileHeader.pageFormatEnd)
        try readFirst()
        try database.saltSearch.requirePlausibleHeader(upTo: FileHeader.count)
        if cipher.isKeyed { try database.pragmaPolicy.requireTemporaryDataInMemory() }
        try database.formatControl.deriveBeforeFirstPage()
        try database.recovery.removeLeftOvers()
        database.formatControl.endSetUp()
    }

    private func readFirst() throws {
        do {
            try database.keyProof.requireFittingKey()
            try database.foreignLog.require()
            try database.requireNoTrace()
            if try !takeKey() { try database.readSchema() }
        } catch let error as DatabaseError where [.SQLITE_NOTADB, .SQLITE_ERROR].contains(error.resultCode) {
            if try lookAgain() { return try readFirst() }
            guard try database.saltSearch.followChangedFile() else {
                try database.saltSearch.requirePlausibleHeader(upTo: FileHeader.count)
                throw error
            }
            try database.readSchema()
        }
    }

    /// Makes SQLCipher derive its key, unless it can't get memory for it. Returns true if the schema was read.
    @discardableResult
    func takeKey() throws -> Bool {
        guard cipher.isKeyed, database.isFileStored else { return false }
        let code = ResultCode(rawValue: database.connection.readFirst())
        switch code.primaryResultCode {
        case .SQLITE_OK: return true
        case .SQLITE_NOMEM:
            throw DatabaseError(resultCode: code, message: "there is no memory for the key of \(database.path)")
        // SQLCipher 4.7 to 4.12 report the cause once, and SQLITE_NOMEM for all later reads.
        default: throw DatabaseError(code.rawValue, on: database.sqliteConnection, sql: Database.schemaRead)
        }
    }

    // MARK: - Keys

    func use(_ requested: DatabaseKey) throws {
        database.requireAccess()
        do {
            try requireUsable(requested)
        } catch {
            if !cipher.isKeyed { database.pragmaPolicy.refuseAll(with: error as? DatabaseError ?? .emptyKey) }
            throw error
        }
        let key = cipher.keyring.current(requested)
        if let present = cipher.key {
            guard present.source.identity == key.source.identity else {
                throw DatabaseError(
                    refusing: "the connection has another key already",
                    advice: "set one key per connection, or change it with changePassphrase(_:) or rotateKey(to:)",
                    reason: .otherKey)
            }
            return
        }
        // A library that isn't SQLCipher must not set up the connection.
        try requireSQLCipher()
        CipherLog.start()
        try database.formatControl.holdDefaults()
        // After any failure from here on, the connection does not go on without the key.
        cipher.key = key
        cipher.phase.keyWasGiven()
        cipher.requested.pragmas = []
        guard database.isFileStored else { return try useThrowawayKey(.sqlcipher4) }
        // SQLCipher would use this key at the first read. The derived key replaces it before, when the derivation is
        // known. A provider is asked then.
        if key.source.form == .raw {
            try useRawKey(key, salt: key.source.salt ?? database.fileHeader().salt ?? .random())
        } else {
            let provisional = key.source.isImmediate ? key : try .random()
            try provisional.source.withSecret { secret in
                try secret.withBytes {
                    try database.formatControl.setKey($0, format: .sqlcipher4, header: 0, schema: "main", name: "main")
                }
            }
        }
    }

    /// Sets the key of a compiled `PRAGMA key`.
    func useKeyInSQL() throws {
        guard let key = cipher.keyInSQL else { return }
        cipher.keyInSQL = nil
        try use(key)
    }

    /// Derives the pending key, unless the statement can still set the derivation. If that isn't detected, the key is
    /// derived again, because nothing was read.
    func settleKey(before statement: SQLText) throws {
        guard !statement.isBlank else { return }
        if let pragma = statement.pragma {
            if cipher.key == nil ? SQLText.keyPragmas.contains(pragma) : FormatPragma.comesBeforeFirstRead(pragma) {
                return
            }
        }
        try settleKey()
    }

    /// Derives the pending key before the file is read: SQLCipher discards the key material at the first read.
    func settlePendingKey() throws {
        if cipher.phase.isPending { try settleKey() }
    }

    private func settleKey() throws {
        try cipher.phase.beginDerivation()
        do {
            let format = try formatInUse()
            try establishKey(format.settings, requestedHeader: format.header)
        } catch {
            // The connection must not go on with the provisional key: it would create a database that was refused.
            cipher.phase.derivationFailed()
            throw error
        }
    }

    /// Returns the format that the set-up has set, as SQLCipher has read its pragmas.
    func formatInUse() throws -> (settings: CipherSettings, header: PlaintextHeader?) {
        if cipher.requested.pragmas.isEmpty { return (cipher.requested.settings, cipher.requested.header) }
        var header = cipher.requested.header
        if cipher.requested.pragmas.contains(.headerSize) {
            let size = try database.answer(to: "PRAGMA cipher_plaintext_header_size").flatMap { Int($0) } ?? 0
            header = size == 0 ? nil : PlaintextHeader(size: size, salt: header?.salt ?? .sidecar)
        }
        if cipher.requested.pragmas.contains(.salt),
            let salt = try database.answer(to: "PRAGMA cipher_salt").flatMap({ hexBytes($0) })
        {
            header?.salt = .provided(salt)
        }
        return (try settingsInUse(), header)
    }

    private func settingsInUse() throws -> CipherSettings {
        let defaults = CipherSettings.sqlcipher4
        let usesHMAC = try database.answer(to: "PRAGMA cipher_use_hmac") != "0"
        return try CipherSettings(
            pageSize: database.answer(to: "PRAGMA cipher_page_size").flatMap { Int($0) } ?? defaults.pageSize,
            kdfIterations: database.answer(to: "PRAGMA kdf_iter").flatMap { Int($0) } ?? defaults.kdfIterations,
            kdfAlgorithm: database.answer(to: "PRAGMA cipher_kdf_algorithm").flatMap { .init(answer: $0) }
                ?? defaults.kdfAlgorithm,
            hmacAlgorithm: usesHMAC
                ? database.answer(to: "PRAGMA cipher_hmac_algorithm").flatMap { .init(answer: $0) }
                    ?? defaults.hmacAlgorithm : nil)
    }

    /// Sets the derived key, with the right salt and format.
    func establishKey(_ settings: CipherSettings, requestedHeader: PlaintextHeader?) throws {
        try settings.validate()
        try requireSQLCipher()
        CipherLog.start()
        try database.formatControl.holdDefaults()
        (cipher.requested.settings, cipher.requested.header) = (settings, requestedHeader)
        guard database.isFileStored else { return try useThrowawayKey(settings) }
        try requirePathInUTF8()
        try restrictNewFile()
        try unlockingKeySlots(requestedHeader) { try establishFoundKey(settings, requestedHeader) }
    }

    /// Sets the permissions of a file that this connection has created, before its sidecars take them over.
    private func restrictNewFile() throws {
        guard database.connection.hasCreatedFile, try database.fileSize() == 0 else { return }
        let error = NamedFile.setPermissions(database.filePath, configuration.posixPermissions)
        // Some file systems have one mode for all files.
        guard [0, EPERM, ENOTSUP].contains(error) else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: "can't set the permissions of \(database.filePath): \(String(cString: strerror(error)))")
        }
    }

    /// Sets the key that ``CipherState/key`` is now.
    private func establishFoundKey(_ settings: CipherSettings, _ requestedHeader: PlaintextHeader?) throws {
        let location = try database.saltSearch.locateSalt(requestedHeader: requestedHeader)
        cipher.saltOrigin = location.place
        let others = try database.recovery.otherSalts(than: location)
        if try database.recovery.resumeKnownKey(settings, others) { return }
        // The first connection of an access may find the salt in the log. Later ones find it beside the file, or among
        // its keys.
        let isFirst = cipher.keyring.knownKey(for: cipher.key!, salt: location.salt, settings: settings) == nil
        try database.formatControl.attach(
            cipher.derivedKey(salt: location.salt, settings: settings), header: location.header)
        try database.recovery.followOtherSalts(
            others, searchesLog: location.header == 0 && (isFirst || configuration.readonly))
        try database.keyProof.proveKey()
    }

    /// Sets a random key for a temporary database, which SQLite may write to the disk.
    private func useThrowawayKey(_ settings: CipherSettings) throws {
        try useRawKey(.random(), salt: .random(), settings)
    }

    private func useRawKey(_ key: DatabaseKey, salt: Salt, _ settings: CipherSettings = .sqlcipher4) throws {
        try database.formatControl.attach(
            Keyring().derivedKey(for: key, salt: salt, settings: settings), header: 0, schema: "main", key: "main")
    }

    private func requireUsable(_ key: DatabaseKey) throws {
        // A provider is called when its key is derived.
        guard key.source.isImmediate else { return }
        try key.source.withSecret { secret in
            if secret.count == 0 { throw DatabaseError.emptyKey }
        }
    }

    private func requireSQLCipher() throws {
        let version = try database.untraced { try database.answer(to: "PRAGMA cipher_version") }
        if let refusal = DatabaseError.refusal(ofSQLCipher: version) { throw refusal }
    }

    // MARK: - Checks

    /// Refuses a path that Swift would repair into another one: the sidecars are named after it.
    private func requirePathInUTF8() throws {
        if try RawConnection(database.openConnection).hasFileNameInUTF8("main") { return }
        throw DatabaseError(
            .SQLITE_CANTOPEN, refusing: "\(database.path) leads to a name that is not UTF-8",
            advice: "give the file and its folders other names")
    }
}

extension KeySource {
    /// True if the secret is given directly, and not by a provider.
    var isImmediate: Bool {
        switch storage {
        case .bytes, .failed: true
        case .provider, .store: false
        }
    }
}

extension DatabaseError {
    /// Returns the refusal of an unfit library. Nil for a fit one.
    ///
    /// - parameter version: the answer of `PRAGMA cipher_version`.
    static func refusal(ofSQLCipher version: String?) -> DatabaseError? {
        guard let version else {
            return DatabaseError(
                refusing: "the SQLite library in this process isn't SQLCipher and would write clear text",
                advice: """
                    have one SQLite in the program, or link libsqlcipher before libsqlite3; where it is built already, \
                    start it with LD_PRELOAD=libsqlcipher.so.1, or with the name that ldd shows
                    """, reason: .unfitLibrary)
        }
        if let version = SQLCipherVersion(answer: version), version >= .oldest { return nil }
        return DatabaseError(
            refusing: "SQLCipher \(version) is too old", advice: "use 4.5 or newer", reason: .unfitLibrary)
    }
}

import CStrongroom

/// The decisions on pragmas that set keys, formats and temporary storage.
struct PragmaPolicy {
    let database: Database

    private var cipher: CipherState { database.cipher }

    /// Called by SQLite's compiler for each pragma, before SQLCipher gets to see it.
    func verdict(on pragma: Pragma) -> PragmaVerdict {
        guard !cipher.isSettingFormat, let value = pragma.value else {
            return pragma.name == "cipher_migrate" ? verdictOnMigration : .run
        }
        switch pragma.name {
        case "key", "textkey", "hexkey": return verdict(onKey: pragma, value)
        case "temp_store": return refusalOfTempStore(value).map { .refuse($0) } ?? .run
        case "rekey", "hexrekey", "textrekey": return .refuse(.rekeyInSQL)
        case _ where FormatPragma.isProcessWide(pragma.name): return .refuse(.processWide(pragma.name))
        default:
            guard let format = FormatPragma(rawValue: pragma.name), pragma.schema != "temp" else { return .run }
            return pragma.isOfMain ? verdict(on: format, value) : verdict(on: format, value, attached: pragma.schema!)
        }
    }

    /// `PRAGMA key` is another spelling of `usePassphrase(_:)`: SQLCipher alone would derive the key for each
    /// connection, and make clear text of an empty one.
    private func verdict(onKey pragma: Pragma, _ value: String) -> PragmaVerdict {
        guard pragma.isOfMain else { return .refuse(.keyOfAttached) }
        cipher.keyInSQL = pragma.name == "hexkey" ? hexBytes(value).map { .passphrase($0) } : .passphrase(value)
        guard cipher.keyInSQL == nil else { return .ignore }
        if !cipher.isKeyed { refuseAll(with: .malformedHexKey) }
        return .refuse(.malformedHexKey)
    }

    /// Uses the key of a `PRAGMA key` that was compiled.
    func useKeyInSQL() throws {
        guard let key = cipher.keyInSQL else { return }
        cipher.keyInSQL = nil
        try database.keySetup.use(key)
    }

    // MARK: - The format

    /// Until the database is read for the first time, set-up may say its format; then only what is so already.
    private func verdict(on pragma: FormatPragma, _ value: String) -> PragmaVerdict {
        guard cipher.isKeyed else { return .run }
        let wanted = cipher.format.applying(pragma, value)
        if !cipher.isPending, wanted == cipher.format { return .ignore }
        guard wanted != nil else {
            guard cipher.isPending else { return .refuse(.unusableFormat(pragma, value)) }
            refuseAll(with: .unusableFormat(pragma, value))
            return .ignore
        }
        // Statements of C would go on with the key as it was derived before.
        guard cipher.isPending || canChangeFormat && database.authorizer.isCompiling else {
            return .refuse(.lateFormat(pragma.rawValue))
        }
        cipher.setUpPragmas.insert(pragma)
        cipher.isPending = true
        return .run
    }

    /// True if set-up goes on, and nothing depends on the format yet.
    var canChangeFormat: Bool {
        !cipher.isSetUp && !strongroom_has_used_pages(database.sqliteConnection, !database.isFileStored)
    }

    /// SQLCipher attaches databases in its default format; what SQL says of it must come before there is a page.
    private func verdict(on pragma: FormatPragma, _ value: String, attached schema: String) -> PragmaVerdict {
        if pragma == .plainPageSize, isClear(attached: schema) { return .run }
        var size: Int64 = -1
        let isUnused = strongroom_database_size(database.sqliteConnection, schema, &size) == 0 && size == 0
            && (try? database.transactionState(of: schema)) == Database.TransactionState.none
        let losesSalt = pragma == .headerSize && SQLiteNumber.integer(value) != 0
        guard isUnused, !losesSalt else { return .refuse(.lateFormat("\(schema).\(pragma.rawValue)")) }
        return .run
    }

    private func isClear(attached schema: String) -> Bool {
        guard cipher.isKeyed || cipher.keepsTemporaryDataInMemory else { return true }
        return (try? database.fileHeader(of: schema).isClear) ?? false
    }

    /// `cipher_migrate` replaces the file by one whose key is what was derived for the old one.
    private var verdictOnMigration: PragmaVerdict {
        cipher.isKeyed && !database.authorizer.isReadOnly ? .refuse(.migrationInSQL) : .run
    }

    // MARK: - Refusals

    /// Makes the next statement throw, and opening fail, although set-up may swallow the error: it would go on in
    /// clear text, or in another format than it asked for.
    func refuseAll(with error: DatabaseError) {
        cipher.refusal = error
        cipher.isPending = true
    }

    // MARK: - Temporary data

    /// From now on, what is sorted or put into temporary tables may come from encrypted pages.
    func requireTemporaryDataInMemory() throws {
        let setting = try database.answer(to: "PRAGMA temp_store")
        let isIgnored = Database.isCompiled(with: "TEMP_STORE=0")
        if let refusal = DatabaseError.refusal(ofTempStore: setting, isIgnored: isIgnored) { throw refusal }
        cipher.keepsTemporaryDataInMemory = true
    }

    private func refusalOfTempStore(_ value: String) -> DatabaseError? {
        let holds = cipher.isKeyed || cipher.keepsTemporaryDataInMemory
        guard holds, !["2", "memory"].contains(value.lowercased()) else { return nil }
        return DatabaseError(
            .SQLITE_AUTH,
            refusing: "temporary data of an encrypted database would be clear text on disk (PRAGMA temp_store = \(value))",
            advice: "leave PRAGMA temp_store alone", reason: .temporaryDataOnDisk)
    }
}

extension Database {
    /// The decisions on the connection's pragmas.
    var pragmaPolicy: PragmaPolicy { PragmaPolicy(database: self) }
}

extension DatabaseError {
    static let malformedHexKey = DatabaseError(
        refusing: "the digits of PRAGMA hexkey are no pairs of hexadecimal ones", advice: "give two for each byte")

    fileprivate static let rekeyInSQL = DatabaseError(
        .SQLITE_AUTH, refusing: "PRAGMA rekey reports success whatever happens",
        advice: "use rotateKey(to:), or changePassphrase(_:)", reason: .keyUnchanged)

    fileprivate static let keyOfAttached = DatabaseError(
        refusing: "an attached database gets its key when it is attached", advice: "use attach(path:as:encryption:)")

    fileprivate static let migrationInSQL = DatabaseError(
        refusing: "PRAGMA cipher_migrate leaves a database that this key doesn't open",
        advice: "use DatabaseFile.migrate(path:to:from:as:)")

    static func lateFormat(_ pragma: String) -> DatabaseError {
        DatabaseError(
            refusing: "PRAGMA \(pragma) comes too late, pages are in another format already",
            advice: """
                say the format in Configuration.encryption, or in prepareDatabase right after the key; \
                DatabaseFile.migrate(path:to:from:as:) makes a copy in another one
                """,
            reason: .lateFormat)
    }

    fileprivate static func unusableFormat(_ pragma: FormatPragma, _ value: String) -> DatabaseError {
        DatabaseError(
            refusing: "PRAGMA \(pragma.rawValue) can't be '\(value)'", advice: "use a value that SQLCipher documents")
    }

    fileprivate static func processWide(_ pragma: String) -> DatabaseError {
        DatabaseError(
            refusing: "PRAGMA \(pragma) changes the format of all databases that this process opens",
            advice: "say that of this one in Configuration.encryption")
    }

    /// Returns the error where encrypted pages may not be read with that setting; nil where they may.
    ///
    /// - parameter setting: what `PRAGMA temp_store` answered. <https://www.sqlite.org/pragma.html#pragma_temp_store>
    static func refusal(ofTempStore setting: String?, isIgnored: Bool) -> DatabaseError? {
        if isIgnored {
            return DatabaseError(
                refusing: "this SQLCipher keeps temporary data on disk whatever it is told (SQLITE_TEMP_STORE=0), in clear text",
                advice: "use a build with SQLITE_TEMP_STORE=2", reason: .unfitLibrary)
        }
        if setting == "2" { return nil }
        return DatabaseError(
            refusing: "temporary data of an encrypted database would be clear text on disk",
            advice: "leave PRAGMA temp_store alone", reason: .temporaryDataOnDisk)
    }
}

import CSQLCipher

/// The decisions on pragmas that set keys, formats and temporary storage.
struct PragmaPolicy {
    let database: Database

    private var cipher: CipherState { database.cipher }

    /// Returns the decision on a pragma. SQLite's compiler asks for it before SQLCipher gets the pragma.
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

    /// Returns the decision on `PRAGMA key`, which is equivalent to `usePassphrase(_:)`. SQLCipher alone would derive
    /// the key for each connection, and write clear text with an empty one.
    private func verdict(onKey pragma: Pragma, _ value: String) -> PragmaVerdict {
        guard pragma.isOfMain else { return .refuse(.keyOfAttached) }
        cipher.keyInSQL = pragma.name == "hexkey" ? hexBytes(value).map { .passphrase($0) } : .passphrase(value)
        guard cipher.keyInSQL == nil else { return .ignore }
        if !cipher.isKeyed { refuseAll(with: .malformedHexKey) }
        return .refuse(.malformedHexKey)
    }

    // MARK: - The format

    /// Returns the decision on a pragma of the format. Until the first read of the database, the set-up may set the
    /// format. Afterwards only pragmas that don't change it are allowed.
    private func verdict(on pragma: FormatPragma, _ value: String) -> PragmaVerdict {
        guard cipher.isKeyed else { return .run }
        let wanted = cipher.format.applying(pragma, value)
        if !cipher.phase.isPending, wanted == cipher.format { return .ignore }
        guard wanted != nil else {
            guard cipher.phase.isPending else { return .refuse(.unusableFormat(pragma, value)) }
            refuseAll(with: .unusableFormat(pragma, value))
            return .ignore
        }
        // Statements that are compiled through the C interface would use the key that was derived before.
        guard cipher.phase.isPending || canChangeFormat && database.authorizer.isCompiling else {
            return .refuse(.lateFormat(pragma.rawValue))
        }
        cipher.requested.pragmas.insert(pragma)
        cipher.phase.formatWasGiven()
        return .run
    }

    /// True during the set-up, while nothing depends on the format.
    var canChangeFormat: Bool {
        !cipher.phase.isOpen && !database.raw.hasUsedPages(inMemory: !database.isFileStored)
    }

    /// Returns the decision for an attached database, which has SQLCipher's default format. Pragmas can set another one
    /// only before its first page.
    private func verdict(on pragma: FormatPragma, _ value: String, attached schema: String) -> PragmaVerdict {
        if pragma == .plainPageSize, isClear(attached: schema) { return .run }
        var size: Int64 = -1
        let isUnused =
            database.raw.fileSize(of: schema, &size) == SQLITE_OK && size == 0
            && (try? database.transactionState(of: schema)) == Database.TransactionState.none
        let losesSalt = pragma == .headerSize && SQLiteNumber.integer(value) != 0
        guard isUnused, !losesSalt else { return .refuse(.lateFormat("\(schema).\(pragma.rawValue)")) }
        return .run
    }

    private func isClear(attached schema: String) -> Bool {
        guard cipher.isKeyed || cipher.keepsTemporaryDataInMemory else { return true }
        return (try? database.fileHeader(of: schema).isClear) ?? false
    }

    /// The decision on `cipher_migrate`, which replaces the file by one that the derived key does not open.
    private var verdictOnMigration: PragmaVerdict {
        cipher.isKeyed && !database.authorizer.isReadOnly ? .refuse(.migrationInSQL) : .run
    }

    // MARK: - Refusals

    /// Makes the next statement throw, and opening fail, even if the set-up ignores the error: it would go on in clear
    /// text, or in another format than it requested.
    func refuseAll(with error: DatabaseError) {
        cipher.phase.refuse(with: error)
    }

    // MARK: - Temporary data

    /// Keeps temporary data in memory from now on: sorters and temporary tables may contain data of encrypted pages.
    func requireTemporaryDataInMemory() throws {
        let setting = try database.answer(to: "PRAGMA temp_store")
        let isIgnored = SQLite.isCompiled(with: "TEMP_STORE=0")
        if let refusal = DatabaseError.refusal(ofTempStore: setting, isIgnored: isIgnored) { throw refusal }
        cipher.keepsTemporaryDataInMemory = true
    }

    private func refusalOfTempStore(_ value: String) -> DatabaseError? {
        let holds = cipher.isKeyed || cipher.keepsTemporaryDataInMemory
        guard holds, !["2", "memory"].contains(value.lowercased()) else { return nil }
        return DatabaseError(
            .SQLITE_AUTH,
            refusing: """
                temporary data of an encrypted database would be clear text on disk \
                (PRAGMA temp_store = \(value))
                """,
            advice: "leave PRAGMA temp_store alone", reason: .temporaryDataOnDisk)
    }
}

extension Database {
    /// The decisions on the connection's pragmas.
    var pragmaPolicy: PragmaPolicy { PragmaPolicy(database: self) }
}

extension DatabaseError {
    static let malformedHexKey = DatabaseError(
        refusing: "the key of PRAGMA hexkey is not a sequence of pairs of hexadecimal digits",
        advice: "give two digits for each byte")

    fileprivate static let rekeyInSQL = DatabaseError(
        .SQLITE_AUTH, refusing: "PRAGMA rekey may report success after a failure",
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
            advice: "set the format of this database in Configuration.encryption")
    }

    /// Returns the error if encrypted pages must not be read with a setting. Nil if they may.
    ///
    /// - parameter setting: the answer of `PRAGMA temp_store`. <https://www.sqlite.org/pragma.html#pragma_temp_store>
    static func refusal(ofTempStore setting: String?, isIgnored: Bool) -> DatabaseError? {
        if isIgnored {
            return DatabaseError(
                refusing: """
                    this SQLCipher writes temporary data to disk in clear text, whatever the settings \
                    (SQLITE_TEMP_STORE=0)
                    """,
                advice: "use a build with SQLITE_TEMP_STORE=2", reason: .unfitLibrary)
        }
        if setting == "2" { return nil }
        return DatabaseError(
            refusing: "temporary data of an encrypted database would be clear text on disk",
            advice: "leave PRAGMA temp_store alone", reason: .temporaryDataOnDisk)
    }
}

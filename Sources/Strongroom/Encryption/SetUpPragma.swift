/// Pragmas that say how a key is to be derived and pages encrypted, which they can do until the first read.
enum SetUpPragma {
    /// Whether SQL begins with one, or with a pragma that may come before one because it doesn't touch the file.
    static func begins(_ sql: UnsafeBufferPointer<CChar>) -> Bool {
        let words = sql.prefix(200).lazy.map { UInt8(bitPattern: $0) }
        let text = String(decoding: words, as: UTF8.self).lowercased().drop { $0.isWhitespace || $0 == ";" }
        guard text.hasPrefix("pragma") else { return text.isEmpty }
        var name = text.dropFirst("pragma".count).drop(while: \.isWhitespace)
        if name.hasPrefix("main.") { name = name.dropFirst("main.".count) }
        let word = String(name.prefix { $0 == "_" || $0.isLetter || $0.isNumber })
        return isName(word) || harmless.contains(word)
    }

    /// Tried with SQLCipher: after these, `kdf_iter` still has its effect.
    private static let harmless: Set = [
        "analysis_limit", "automatic_index", "busy_timeout", "cache_spill", "case_sensitive_like", "cell_size_check", "checkpoint_fullfsync",
        "defer_foreign_keys", "encoding", "foreign_keys", "fullfsync", "hard_heap_limit", "ignore_check_constraints", "journal_size_limit",
        "legacy_alter_table", "locking_mode", "mmap_size", "query_only", "read_uncommitted", "recursive_triggers",
        "reverse_unordered_selects", "secure_delete", "soft_heap_limit", "temp_store", "threads", "trusted_schema", "wal_autocheckpoint",
        "writable_schema",
    ]

    static func isName(_ name: String) -> Bool {
        ["kdf_iter", "fast_kdf_iter", "page_size"].contains(name) || name.hasPrefix("cipher_") && name != "cipher_integrity_check" && name != "cipher_migrate"
    }
}

extension Database {
    /// Called by SQLite's compiler for each pragma.
    func refusal(ofPragma name: String, value: String?) -> DatabaseError? {
        if cipher.isKeyed, SetUpPragma.isName(name), value != nil { cipher.setUpPragmas.insert(name) }
        switch name {
        case "temp_store": return refusalOfTempStore(value)
        case "temp_store_directory": return nil
        case "hexkey": return value == nil ? nil : DatabaseError.malformedHexKey
        case "rekey", "hexrekey", "textrekey": return DatabaseError.rekeyInSQL
        case "cipher_plaintext_header_size": return refusalOfHeader(value)
        default: return nil
        }
    }

    /// `PRAGMA key` is another spelling of `usePassphrase(_:)`: SQLCipher alone would derive the key for each connection, and
    /// make clear text of an empty one.
    func takesKey(ofPragma name: String, value: String?) -> Bool {
        guard let value else { return false }
        switch name {
        case "key", "textkey": cipher.keyInSQL = .passphrase(value)
        case "hexkey": cipher.keyInSQL = hexBytes(value).map { .passphrase($0) }
        default: return false
        }
        return cipher.keyInSQL != nil
    }

    /// Uses the key of a `PRAGMA key` that was compiled.
    func useKeyInSQL() throws {
        guard let key = cipher.keyInSQL else { return }
        cipher.keyInSQL = nil
        try use(key)
    }

    /// From now on, what is sorted or put into temporary tables may come from encrypted pages.
    func requireTemporaryDataInMemory() throws {
        let setting = try answer(to: "PRAGMA temp_store")
        if let refusal = DatabaseError.refusal(ofTempStore: setting, isIgnored: Self.isCompiled(with: "TEMP_STORE=0")) { throw refusal }
        cipher.keepsTemporaryDataInMemory = true
    }

    private func refusalOfTempStore(_ value: String?) -> DatabaseError? {
        guard cipher.isKeyed || cipher.keepsTemporaryDataInMemory, let value, !["2", "memory"].contains(value.lowercased()) else { return nil }
        return DatabaseError(
            .SQLITE_AUTH, refusing: "temporary data of an encrypted database would be clear text on disk (PRAGMA temp_store = \(value))",
            advice: "leave PRAGMA temp_store alone", reason: .temporaryDataOnDisk)
    }

    /// The salt must be safe before a page without it can be written.
    private func refusalOfHeader(_ value: String?) -> DatabaseError? {
        guard !cipher.isPending, cipher.derived != nil, let size = value.flatMap({ Int($0) }), size > 0, size != cipher.header else { return nil }
        do {
            try prepareForPlaintextHeader(size: size)
            return nil
        } catch {
            return error as? DatabaseError
        }
    }
}

extension DatabaseError {
    static let malformedHexKey = DatabaseError(resultCode: .SQLITE_MISUSE, message: """
        PRAGMA hexkey takes pairs of hexadecimal digits
        """)

    /// Why encrypted pages may not be read with that setting; nil where they may.
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
            refusing: "temporary data of an encrypted database would be clear text on disk", advice: "leave PRAGMA temp_store alone",
            reason: .temporaryDataOnDisk)
    }

    static let rekeyInSQL = DatabaseError(
        .SQLITE_AUTH, refusing: "PRAGMA rekey reports success whatever happens", advice: "use rotateKey(to:), or changePassphrase(_:)",
        reason: .keyUnchanged)
}

/// A pragma that sets how a key is derived or how pages are written. SQLCipher accepts most of them at any time, and
/// writes the next page in the new format, into a file whose other pages have the former one.
enum FormatPragma: String {
    case kdfIterations = "kdf_iter"
    case fastKDFIterations = "fast_kdf_iter"
    case kdfAlgorithm = "cipher_kdf_algorithm"
    case pageSize = "cipher_page_size"
    /// SQLite's own pragma, for connections with a key.
    case plainPageSize = "page_size"
    case usesHMAC = "cipher_use_hmac"
    case hmacAlgorithm = "cipher_hmac_algorithm"
    case hmacPageNumber = "cipher_hmac_pgno"
    case headerSize = "cipher_plaintext_header_size"
    case salt = "cipher_salt"
    case compatibility = "cipher_compatibility"

    /// Returns true if a pragma sets the format for all connections of the process.
    static func isProcessWide(_ name: String) -> Bool {
        name.hasPrefix("cipher_default_") || name == "cipher_hmac_salt_mask"
    }

    /// Returns true if the pragma may stand between the key and the pragmas that set its derivation: it is one of
    /// these, or does not read the file.
    static func comesBeforeFirstRead(_ name: String) -> Bool {
        FormatPragma(rawValue: name) != nil || harmless.contains(name)
            || name.hasPrefix("cipher_") && !readers.contains(name)
    }

    private static let readers: Set = ["cipher_integrity_check", "cipher_migrate"]

    /// The pragmas after which `kdf_iter` still has an effect, as tested with SQLCipher.
    private static let harmless: Set = [
        "analysis_limit", "automatic_index", "busy_timeout", "cache_spill", "case_sensitive_like", "cell_size_check",
        "checkpoint_fullfsync", "defer_foreign_keys", "encoding", "foreign_keys", "fullfsync", "hard_heap_limit",
        "ignore_check_constraints", "journal_size_limit", "legacy_alter_table", "locking_mode", "mmap_size",
        "query_only",
        "read_uncommitted", "recursive_triggers", "reverse_unordered_selects", "secure_delete", "soft_heap_limit",
        "temp_store",
        "threads", "trusted_schema", "wal_autocheckpoint", "writable_schema",
    ]
}

/// The format of a database, as pragmas set it.
struct DatabaseFormat: Equatable {
    var settings = CipherSettings.sqlcipher4
    /// The number of unencrypted bytes at the start of the file.
    var header = 0
    var salt: Salt?

    /// Returns the format after a pragma, with the value as SQLCipher reads it. Nil if SQLCipher ignores the value, or
    /// if a database in that format couldn't be verified.
    func applying(_ pragma: FormatPragma, _ value: String) -> DatabaseFormat? {
        var format = self
        switch pragma {
        case .kdfIterations: format.settings.kdfIterations = SQLiteNumber.integer(value)
        case .kdfAlgorithm:
            guard let algorithm = CipherSettings.Algorithm(label: value, prefix: "PBKDF2_HMAC_") else { return nil }
            format.settings.kdfAlgorithm = algorithm
        case .pageSize, .plainPageSize: format.settings.pageSize = SQLiteNumber.integer(value)
        case .usesHMAC:
            let algorithm = settings.hmacAlgorithm ?? CipherSettings.sqlcipher4.hmacAlgorithm
            format.settings.hmacAlgorithm = SQLiteNumber.boolean(value) ? algorithm : nil
        case .hmacAlgorithm:
            guard let algorithm = CipherSettings.Algorithm(label: value, prefix: "HMAC_") else { return nil }
            if settings.hmacAlgorithm != nil { format.settings.hmacAlgorithm = algorithm }
        case .headerSize: format.header = SQLiteNumber.integer(value)
        case .salt:
            guard let salt = Salt(quotedHex: value) else { return nil }
            format.salt = salt
        case .compatibility: format.settings = .version(SQLiteNumber.integer(value))
        case .fastKDFIterations: return SQLiteNumber.integer(value) == 2 ? self : nil
        case .hmacPageNumber: return value.lowercased() == "le" ? self : nil
        }
        let isHeaderValid = format.header == 0 || PlaintextHeader.isValid(size: format.header)
        return isHeaderValid && (try? format.settings.validate()) != nil ? format : nil
    }
}

/// The values of pragmas, as SQLite reads them.
enum SQLiteNumber {
    /// Returns the number at the beginning of a text, as C's `atoi` does. 0 without digits.
    static func integer(_ text: String) -> Int {
        var digits = Substring(text).drop { $0 == " " || ("\t"..."\r").contains($0) }
        let isNegative = digits.first == "-"
        if let first = digits.first, "+-".contains(first) { digits.removeFirst() }
        let number = Int(digits.prefix { $0.isASCII && $0.isNumber }.prefix(18)) ?? 0
        return Int(Int32(truncatingIfNeeded: isNegative ? -number : number))
    }

    /// Returns the Boolean value of a text. <https://www.sqlite.org/pragma.html#syntax>
    static func boolean(_ text: String) -> Bool {
        if let first = text.first, ("0"..."9").contains(first) { return UInt8(truncatingIfNeeded: integer(text)) != 0 }
        return !["off", "no", "false"].contains(text.lowercased())
    }
}

extension CipherSettings {
    /// Returns the format of a value of `PRAGMA cipher_compatibility`.
    static func version(_ number: Int) -> CipherSettings {
        switch number {
        case 1: .sqlcipher1
        case 2: .sqlcipher2
        case 3: .sqlcipher3
        default: .sqlcipher4
        }
    }

    /// Returns the pragmas that set the format, with the values that they return afterwards.
    func pragmas(header: Int) -> [(name: String, value: String)] {
        var pragmas = [
            ("cipher_page_size", "\(pageSize)"), ("kdf_iter", "\(kdfIterations)"),
            ("cipher_kdf_algorithm", "PBKDF2_HMAC_\(kdfAlgorithm.spelling)"),
            ("cipher_use_hmac", hmacAlgorithm == nil ? "0" : "1"),
        ]
        if let hmacAlgorithm { pragmas.append(("cipher_hmac_algorithm", "HMAC_\(hmacAlgorithm.spelling)")) }
        return pragmas + [("cipher_plaintext_header_size", "\(header)")]
    }

    /// True if pages are those of SQLCipher 4. The number of iterations has no effect on a derived key.
    var hasStandardPages: Bool {
        var standard = CipherSettings.sqlcipher4
        standard.kdfIterations = kdfIterations
        return self == standard
    }
}

extension CipherSettings.Algorithm {
    fileprivate init?(label: String, prefix: String) {
        let label = label.uppercased()
        guard let match = [Self.sha512, .sha256, .sha1].first(where: { label == prefix + $0.spelling })
        else { return nil }
        self = match
    }
}

extension Salt {
    /// Creates a salt from `x'<32 hexadecimal digits>'`.
    fileprivate init?(quotedHex text: String) {
        guard text.lowercased().hasPrefix("x'"), text.hasSuffix("'"), text.utf8.count == 2 * Salt.count + 3 else {
            return nil
        }
        self.init(hex: text.dropFirst(2).dropLast())
    }
}

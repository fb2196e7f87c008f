extension DatabaseFile {
    /// The outcome of a check with a key, for a copy of a database.
    package struct Opening: Sendable {
        package let report: IntegrityReport
        /// The key of the store that opens the copy. Nil for any other key.
        package let storedKey: StoredKey?
        /// The HMAC of the statement that was given. Nil for a database in clear text.
        package let code: [UInt8]?
    }

    /// Checks a copy as ``check(path:encryption:pagesOnly:_:progress:)`` does, and computes the HMAC-SHA-256 of a
    /// statement about it, under a key that is derived from that of the pages.
    package static func open(path: String, encryption: Encryption?, statement: [UInt8]) throws -> Opening {
        try reading(path: path, encryption: encryption) { database in
            let report = try database.integrityReport()
            return Opening(report: report, storedKey: database.storedKey, code: try database.code(of: statement))
        }
    }

    /// Returns true if both codes are the same, in constant time.
    package static func isEqual(_ code: [UInt8], _ other: [UInt8]) -> Bool {
        code.count == other.count && SecretMemory.isEqual(code, other, count: code.count)
    }
}

extension Database {
    /// The label keeps the key apart from those that SQLCipher derives from the same bytes: HKDF's expansion, RFC 5869,
    /// of one block.
    private static let label = Array("Strongroom replica seal 1".utf8) + [1]

    fileprivate func code(of statement: [UInt8]) throws -> [UInt8]? {
        guard let derived = cipher.derived else { return nil }
        let key = try SecretBytes(count: 32) { room in
            let out = room.bindMemory(to: UInt8.self).baseAddress
            try Self.require(derived.key.withBytes { Provider.hmac(.sha256, key: $0, Self.label, into: out) })
        }
        var code = [UInt8](repeating: 0, count: 32)
        try Self.require(key.withBytes { Provider.hmac(.sha256, key: $0, statement, into: &code) })
        return code
    }

    private static func require(_ result: CInt) throws {
        guard result == 0 else {
            throw DatabaseError(.SQLITE_ERROR, message: "the cryptographic provider refused HMAC-SHA-256")
        }
    }
}

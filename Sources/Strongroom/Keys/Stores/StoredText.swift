/// A key as text: `x'<64 hexadecimal digits>'`, as SQLCipher spells it, and a newline.
///
/// `PRAGMA key = "x'…'"` opens the database in any SQLCipher, and ``DatabaseKey/passphrase(contentsOf:readableBy:)``
/// reads a file with this text.
enum StoredText {
    /// The greatest size in bytes: more than a key and its salt need.
    static let capacity = 128

    /// Returns the text of a raw key.
    static func spelling(_ key: DatabaseKey) throws(KeyStoreError) -> SecretBytes {
        do {
            guard key.source.form == .raw else { throw KeyStoreError.failed("only raw keys are stored") }
            return try key.source.withSecret { secret in
                let spelling = try KeySource.specification(secret, key.source.salt)
                return try SecretBytes(count: spelling.count + 1) { text in
                    spelling.withBytes { text.copyMemory(from: $0) }
                    text[spelling.count] = UInt8(ascii: "\n")
                }
            }
        } catch {
            throw error as? KeyStoreError ?? .failed("there is no memory for the key")
        }
    }

    /// The greatest size of a path in bytes, with its newline.
    static let pathCapacity = 4097

    /// Returns a path as a line.
    static func line(_ path: String) throws(KeyStoreError) -> SecretBytes {
        do { return try SecretBytes(copying: Array(path.utf8) + [UInt8(ascii: "\n")]) } catch {
            throw .failed("there is no memory")
        }
    }

    /// Returns the path that a text contains.
    static func path(_ text: SecretBytes) -> String {
        text.withBytes { String(decoding: SecretFile.withoutNewline($0[...]), as: UTF8.self) }
    }

    /// Returns the key that a text spells.
    ///
    /// - parameter place: the place of the text, for errors.
    static func key(_ text: SecretBytes, in place: String) throws(KeyStoreError) -> DatabaseKey {
        do {
            let line = try text.withBytes { try SecretBytes(copying: SecretFile.withoutNewline($0[...])) }
            if let spelled = try KeySource.specifiedKey(line) {
                return DatabaseKey(source: KeySource(raw: spelled.key, salt: spelled.salt))
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_NOMEM {
            throw .failed("there is no memory for the key")
        } catch {}
        throw .failed("\(place) contains no key of the form x'…' with 64 hexadecimal digits")
    }
}

extension FormerKey {
    /// The greatest size of a list in bytes: more than a thousand former keys.
    static let listCapacity = 65_536

    /// Returns the former keys that a text names, one on each line. Ignores other lines.
    static func all(in text: SecretBytes) -> [FormerKey] {
        text.withBytes { String(decoding: $0, as: UTF8.self) }
            .split(whereSeparator: \.isNewline).compactMap { FormerKey(name: String($0)) }
    }
}

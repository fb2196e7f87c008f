import Foundation

/// The key of an encrypted database: a passphrase, or the 32 bytes of the key itself.
///
/// The bytes are in locked memory, which is wiped when the last copy of the key is released. No description shows them.
public struct DatabaseKey: Sendable {
    let source: KeySource

    /// Returns a key from a passphrase, as UTF-8. Opening refuses an empty passphrase. As in SQLCipher, a passphrase of
    /// the form `x'…'` is a raw key in hexadecimal.
    public static func passphrase(_ passphrase: String) -> DatabaseKey {
        var passphrase = passphrase
        return DatabaseKey(
            source: KeySource { body in
                try passphrase.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
            })
    }

    /// Returns a key from a passphrase as bytes. Bytes of value zero are part of it.
    public static func passphrase(_ bytes: some Collection<UInt8>) -> DatabaseKey {
        DatabaseKey(
            source: KeySource { body in
                try SecretBytes(copying: bytes).withBytes(body)
            })
    }

    /// Returns a key whose passphrase `provider` returns when a key must be derived, once per database. The passphrase
    /// is wiped afterwards.
    ///
    /// `provider` is called on the thread that opens the database. The opening throws the error that `provider` throws.
    public static func passphrase(from provider: @escaping @Sendable () throws -> [UInt8]) -> DatabaseKey {
        DatabaseKey(
            source: KeySource(provider: {
                var bytes = try provider()
                defer { wipe(&bytes) }
                return try SecretBytes(copying: bytes)
            }))
    }

    /// Returns a key whose passphrase `provider` returns when a key must be derived, such as `Data`. Only an array is
    /// wiped afterwards.
    public static func passphrase(
        from provider: @escaping @Sendable () throws -> some Collection<UInt8> & Sendable
    ) -> DatabaseKey {
        DatabaseKey(source: KeySource(provider: { try SecretBytes(copying: try provider()) }))
    }

    /// Returns a key whose passphrase `provider` returns as text when a key must be derived. Only an array is wiped
    /// afterwards.
    public static func passphrase(from provider: @escaping @Sendable () throws -> String) -> DatabaseKey {
        DatabaseKey(source: KeySource(provider: { try SecretBytes(copying: try provider().utf8) }))
    }

    /// Returns a key whose passphrase is the content of a file, without one newline at its end. The file is read when a
    /// key must be derived.
    ///
    /// Opening the database throws `SQLITE_CANTOPEN` if the file can't be read, `SQLITE_PERM` if users other than
    /// `readers` may read it, if others than its owner may write it, or if it belongs to neither the user of the
    /// process nor root, and `SQLITE_MISUSE` if it is not a regular file or has more than 65,536 bytes.
    ///
    /// - parameters:
    ///   - path: the path of the file.
    ///   - readers: the users who may read the file. Default: its owner only.
    public static func passphrase(contentsOf path: String, readableBy readers: Readers = .owner) -> DatabaseKey {
        DatabaseKey(source: KeySource(provider: { try PassphraseFile(path: path, readers: readers).read() }))
    }

    /// Returns a raw key of 32 bytes, with its salt of 16 bytes. If the salt is nil, it is read from the database.
    ///
    /// - throws: `SQLITE_MISUSE` for other lengths.
    public static func rawKey(_ bytes: some Collection<UInt8>, salt: (some Collection<UInt8>)?) throws -> DatabaseKey {
        guard bytes.count == KeySource.rawCount else {
            throw DatabaseError(
                refusing: "a raw key has 32 bytes, not \(bytes.count)", advice: "use .passphrase for anything else")
        }
        return DatabaseKey(source: try KeySource(raw: SecretBytes(copying: bytes), salt: salt.map { try Salt($0) }))
    }

    /// Returns a raw key of 32 bytes. The salt is read from the database.
    ///
    /// - throws: `SQLITE_MISUSE` for other lengths.
    public static func rawKey(_ bytes: some Collection<UInt8>) throws -> DatabaseKey {
        try rawKey(bytes, salt: [UInt8]?.none)
    }

    /// Returns a raw key of 32 random bytes from the cryptographic provider. To store it, use ``withUnsafeBytes(_:)``.
    ///
    /// - throws: an error if the provider fails, or there is no memory for the key.
    public static func random() throws -> DatabaseKey {
        DatabaseKey(source: try KeySource(raw: SecretBytes(randomCount: KeySource.rawCount), salt: nil))
    }

    /// Calls `body` with the bytes of the passphrase or the raw key, to store them in a keychain. The pointer is valid
    /// until `body` returns.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        try source.withSecret { try $0.withBytes(body) }
    }
}

extension DatabaseKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text without the key.
    public var description: String { "DatabaseKey(…)" }
    /// A text without the key.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` does not show the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The secret of a `DatabaseKey`, which its copies share.
///
/// Only that of an open database changes: it is taken away while the database is locked.
final class KeySource: Sendable {
    static let rawCount = 32

    enum Form { case passphrase, raw }

    enum Storage {
        case bytes(SecretBytes)
        case provider(@Sendable () throws -> SecretBytes)
        case store(any KeyStore, FormerKeys)
        /// No memory was available for the secret. Using the key throws the error.
        case failed(DatabaseError)
    }

    struct Content: @unchecked Sendable {
        var storage: Storage
        var form: Form
        var salt: Salt?
        var slotID: String?
        var identity: [UInt8]
    }

    private let content: Mutex<Content>

    var storage: Storage { content.withLock(\.storage) }
    var form: Form { content.withLock(\.form) }

    /// The salt that came with a raw key.
    var salt: Salt? { content.withLock(\.salt) }

    /// The identifier of the key slot that this data key came from, empty if it is new. Nil for any other key.
    var slotID: String? { content.withLock(\.slotID) }

    /// Bytes that are equal for equal secrets in one process, and reveal nothing about them.
    var identity: [UInt8] { content.withLock(\.identity) }

    init(raw: SecretBytes, salt: Salt?, slotID: String? = nil) {
        content = Mutex(
            Content(
                storage: .bytes(raw), form: .raw, salt: salt, slotID: slotID,
                identity: KeySource.fingerprint(raw, form: .raw)))
    }

    init(provider: @escaping @Sendable () throws -> SecretBytes) {
        content = Mutex(Content(storage: .provider(provider), form: .passphrase, identity: hashableRandomBytes()))
    }

    init(store: any KeyStore, formerKeys: FormerKeys) {
        content = Mutex(Content(storage: .store(store, formerKeys), form: .raw, identity: hashableRandomBytes()))
    }

    /// Creates a source with the secret of another one, which can be taken away from it alone.
    init(sharing other: KeySource) {
        content = Mutex(other.content.withLock { $0 })
    }

    /// Releases the secret. Each use throws an error from now on.
    func forget() {
        let former = content.withLock { content in
            defer { content = Content(storage: .failed(.locked), form: .passphrase, identity: hashableRandomBytes()) }
            return content
        }
        // Releasing a provider may release the program's objects: not under the lock.
        withExtendedLifetime(former) {}
    }

    /// Takes over the secret of another source.
    func adopt(_ other: KeySource) {
        let new = other.content.withLock { $0 }
        let former = content.withLock { content in
            defer { content = new }
            return content
        }
        withExtendedLifetime(former) {}
    }

    /// Copies a passphrase, or the key specification that it spells.
    convenience init(copying read: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) {
        self.init(Self.copied(read))
    }

    private init(_ content: Content) {
        self.content = Mutex(content)
    }

    private static func copied(_ read: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) -> Content {
        do {
            var secret: SecretBytes?
            try read { secret = try SecretBytes(copying: $0) }
            let bytes = secret!
            if let spelled = try specifiedKey(bytes) {
                return Content(
                    storage: .bytes(spelled.key), form: .raw, salt: spelled.salt,
                    identity: fingerprint(spelled.key, form: .raw))
            }
            return Content(
                storage: .bytes(bytes), form: .passphrase, identity: fingerprint(bytes, form: .passphrase))
        } catch {
            let failure =
                error as? DatabaseError
                ?? DatabaseError(.SQLITE_ERROR, message: "the key can't be read")
            return Content(storage: .failed(failure), form: .passphrase, identity: hashableRandomBytes())
        }
    }

    func withSecret<R>(_ body: (SecretBytes) throws -> R) throws -> R {
        switch storage {
        case .bytes(let bytes): return try body(bytes)
        case .failed(let error): throw error
        case .provider(let provide): return try body(provide())
        case .store(let store, _): return try store.load(.current).source.withSecret(body)
        }
    }

    /// Returns the key of `x'<64 or 96 hexadecimal digits>'`. SQLCipher would silently take any other text between `x'`
    /// and `'` as a passphrase.
    static func specifiedKey(_ bytes: SecretBytes) throws -> (key: SecretBytes, salt: Salt?)? {
        try bytes.withBytes { text in
            guard text.count >= 3, text[0] | 0x20 == UInt8(ascii: "x"),
                text[1] == UInt8(ascii: "'"), text[text.count - 1] == UInt8(ascii: "'")
            else { return nil }
            let digits = UnsafeRawBufferPointer(rebasing: text[2..<text.count - 1])
            guard digits.count == 64 || digits.count == 96, digits.allSatisfy({ nibble(hexDigit: $0) != nil }) else {
                throw DatabaseError(
                    .SQLITE_MISUSE,
                    message: """
                        malformed raw key: x'…' takes 64 hexadecimal digits (the key) or 96 (the key and the salt)
                        """)
            }
            func byte(_ index: Int) -> UInt8 {
                nibble(hexDigit: digits[2 * index])! << 4 | nibble(hexDigit: digits[2 * index + 1])!
            }
            let key = try SecretBytes(count: rawCount) { for index in 0..<rawCount { $0[index] = byte(index) } }
            let salt = digits.count == 96 ? try Salt((rawCount..<rawCount + Salt.count).map(byte)) : nil
            return (key, salt)
        }
    }

    /// Returns `x'<64 hexadecimal digits>'`, with 32 more digits if there is a salt.
    static func specification(_ key: SecretBytes, _ salt: Salt?) throws -> SecretBytes {
        try SecretBytes(count: 3 + 2 * (key.count + (salt == nil ? 0 : Salt.count))) { text in
            text[0] = UInt8(ascii: "x")
            text[1] = UInt8(ascii: "'")
            var at = 2
            func append(_ byte: UInt8) {
                text[at] = hexDigit(byte >> 4)
                text[at + 1] = hexDigit(byte & 15)
                at += 2
            }
            key.withBytes { $0.forEach(append) }
            salt?.bytes.forEach(append)
            text[at] = UInt8(ascii: "'")
        }
    }

    private static let fingerprintKey = try? SecretBytes(randomCount: 32)

    private static func fingerprint(_ secret: SecretBytes, form: Form) -> [UInt8] {
        guard let fingerprintKey else { return hashableRandomBytes() }
        var digest = [UInt8](repeating: 0, count: 64)
        let result = secret.withBytes { bytes in
            fingerprintKey.withBytes { key in
                Provider.hmac(.sha512, key: key, bytes, into: &digest)
            }
        }
        // Without a digest, one key would be taken for all others.
        return result == 0 ? digest + [form == .raw ? 1 : 0] : hashableRandomBytes()
    }
}

/// Returns an identity that no other key has.
private func hashableRandomBytes() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<65).map { _ in UInt8.random(in: 0...255, using: &generator) }
}

extension DatabaseError {
    static let emptyKey = DatabaseError(
        refusing: "the key is empty, and SQLCipher would write clear text",
        advice: "give a passphrase, or none of Configuration.encryption and usePassphrase for an unencrypted database",
        reason: .emptyKey)
}

import CStrongroom
import Foundation

/// The key of an encrypted database: a passphrase, or the 32 bytes of the key itself.
///
/// The bytes stay in locked memory that is wiped when the last copy goes away; no description shows them.
public struct DatabaseKey: Sendable {
    let source: KeySource

    /// A passphrase, as UTF-8. An empty one is refused at opening; one of the form `x'…'` is the key itself in
    /// hexadecimal, as SQLCipher has it.
    public static func passphrase(_ passphrase: String) -> DatabaseKey {
        var passphrase = passphrase
        return DatabaseKey(source: KeySource { body in
            try passphrase.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
        })
    }

    /// A passphrase as bytes; bytes of value zero count like any other.
    public static func passphrase(_ bytes: some Collection<UInt8>) -> DatabaseKey {
        DatabaseKey(source: KeySource { body in
            try SecretBytes(copying: bytes).withBytes(body)
        })
    }

    /// A passphrase that is asked for when a key must be derived, once for a database, and wiped right after.
    ///
    /// `provider` is called on the thread that opens the database. What it throws is thrown by the opening.
    public static func passphrase(from provider: @escaping @Sendable () throws -> [UInt8]) -> DatabaseKey {
        DatabaseKey(source: KeySource(provider: {
            var bytes = try provider()
            defer { wipe(&bytes) }
            return try SecretBytes(copying: bytes)
        }))
    }

    /// A passphrase that is asked for when a key must be derived, as `Data`, for instance. Only an array can be wiped
    /// afterwards.
    public static func passphrase(
        from provider: @escaping @Sendable () throws -> some Collection<UInt8> & Sendable) -> DatabaseKey
    {
        DatabaseKey(source: KeySource(provider: { try SecretBytes(copying: try provider()) }))
    }

    /// A passphrase that is asked for when a key must be derived, as text. Only an array can be wiped afterwards.
    public static func passphrase(from provider: @escaping @Sendable () throws -> String) -> DatabaseKey {
        DatabaseKey(source: KeySource(provider: { try SecretBytes(copying: try provider().utf8) }))
    }

    /// A passphrase in a file, which is read when a key must be derived. One newline at its end doesn't count.
    ///
    /// Opening the database throws `SQLITE_CANTOPEN` when the file can't be read, `SQLITE_PERM` when others than
    /// `readers` may read it, or when it belongs to neither the user of the process nor root, and `SQLITE_MISUSE` when
    /// it is no regular file or has more than 65,536 bytes.
    ///
    /// - parameter readers: who may read the file. By default its owner alone.
    public static func passphrase(contentsOf path: String, readableBy readers: Readers = .owner) -> DatabaseKey {
        DatabaseKey(source: KeySource(provider: { try PassphraseFile(path: path, readers: readers).read() }))
    }

    /// The key itself, 32 bytes. The salt (16 bytes) is read from the database unless given.
    ///
    /// Throws `SQLITE_MISUSE` for any other length.
    public static func rawKey(_ bytes: some Collection<UInt8>, salt: (some Collection<UInt8>)?) throws -> DatabaseKey {
        guard bytes.count == KeySource.rawCount else {
            throw DatabaseError(
                refusing: "a raw key has 32 bytes, not \(bytes.count)", advice: "use .passphrase for anything else")
        }
        return DatabaseKey(source: try KeySource(raw: SecretBytes(copying: bytes), salt: salt.map { try Salt($0) }))
    }

    /// The key itself, 32 bytes; the salt is read from the database.
    public static func rawKey(_ bytes: some Collection<UInt8>) throws -> DatabaseKey {
        try rawKey(bytes, salt: [UInt8]?.none)
    }

    /// A raw key of 32 random bytes from the cryptographic provider. Store what ``withUnsafeBytes(_:)`` shows.
    public static func random() throws -> DatabaseKey {
        DatabaseKey(source: try KeySource(raw: SecretBytes(randomCount: KeySource.rawCount), salt: nil))
    }

    /// Shows the passphrase or the raw key, to store it in a keychain. Don't let the pointer escape.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        try source.withSecret { try $0.withBytes(body) }
    }
}

extension DatabaseKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "DatabaseKey(…)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The secret behind a `DatabaseKey`, shared by its copies.
///
/// Unchecked: nothing changes after the initializer.
final class KeySource: @unchecked Sendable {
    static let rawCount = 32

    enum Form { case passphrase, raw }

    enum Storage {
        case bytes(SecretBytes)
        case provider(@Sendable () throws -> SecretBytes)
        case store(any KeyStore)
        /// No memory could be had for the secret; said when the key is used.
        case failed(DatabaseError)
    }

    let storage: Storage
    let form: Form
    /// The salt that came with a raw key.
    let salt: Salt?
    /// The identifier of the key slot that this data key came from, empty if it is new; nil for any other key.
    let slotID: String?
    /// Equal for equal secrets in one process, and says nothing about them.
    let identity: [UInt8]

    init(raw: SecretBytes, salt: Salt?, slotID: String? = nil) {
        storage = .bytes(raw)
        form = .raw
        (self.salt, self.slotID) = (salt, slotID)
        identity = KeySource.fingerprint(raw, form: form)
    }

    init(provider: @escaping @Sendable () throws -> SecretBytes) {
        storage = .provider(provider)
        form = .passphrase
        (salt, slotID) = (nil, nil)
        identity = hashableRandomBytes()
    }

    init(store: any KeyStore) {
        storage = .store(store)
        form = .raw
        (salt, slotID) = (nil, nil)
        identity = hashableRandomBytes()
    }

    /// A passphrase, or the key spec that it spells.
    init(copying read: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) {
        slotID = nil
        do {
            var secret: SecretBytes?
            try read { secret = try SecretBytes(copying: $0) }
            let bytes = secret!
            if let spelled = try KeySource.spelledKey(bytes) {
                (storage, form, salt) = (.bytes(spelled.key), .raw, spelled.salt)
                identity = KeySource.fingerprint(spelled.key, form: .raw)
            } else {
                (storage, form, salt) = (.bytes(bytes), .passphrase, nil)
                identity = KeySource.fingerprint(bytes, form: .passphrase)
            }
        } catch {
            let failure = error as? DatabaseError ?? DatabaseError(
                resultCode: .SQLITE_ERROR, message: "the key can't be read")
            (storage, form, salt) = (.failed(failure), .passphrase, nil)
            identity = hashableRandomBytes()
        }
    }

    func withSecret<R>(_ body: (SecretBytes) throws -> R) throws -> R {
        switch storage {
        case .bytes(let bytes): return try body(bytes)
        case .failed(let error): throw error
        case .provider(let provide): return try body(provide())
        case .store(let store): return try store.load(.current).source.withSecret(body)
        }
    }

    /// `x'<64 or 96 hexadecimal digits>'`. Anything else between `x'` and `'` would silently be a passphrase to
    /// SQLCipher.
    static func spelledKey(_ bytes: SecretBytes) throws -> (key: SecretBytes, salt: Salt?)? {
        try bytes.withBytes { text in
            guard text.count >= 3, text[0] | 0x20 == UInt8(ascii: "x"), text[1] == UInt8(ascii: "'"), text[text.count - 1] == UInt8(ascii: "'")
            else { return nil }
            let digits = UnsafeRawBufferPointer(rebasing: text[2..<text.count - 1])
            guard digits.count == 64 || digits.count == 96, digits.allSatisfy({ nibble(hexDigit: $0) != nil }) else {
                throw DatabaseError(resultCode: .SQLITE_MISUSE, message: """
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

    /// `x'<64 hex key><32 hex salt>'`, or without the salt.
    static func spelling(_ key: SecretBytes, _ salt: Salt?) throws -> SecretBytes {
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
                strongroom_hmac(STRONGROOM_SHA512, key.baseAddress, key.count, bytes.baseAddress, bytes.count, &digest)
            }
        }
        // Without it, one key would pass for all others.
        return result == 0 ? digest + [form == .raw ? 1 : 0] : hashableRandomBytes()
    }
}

/// An identity that nothing else has.
private func hashableRandomBytes() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<65).map { _ in UInt8.random(in: 0...255, using: &generator) }
}

/// The format of encrypted pages and of key derivation. Default: that of SQLCipher 4.
///
/// A database opens only with the settings that it was created with.
/// <https://www.zetetic.net/sqlcipher/sqlcipher-api/>
public struct CipherSettings: Hashable, Sendable {
    /// A hash function as SQLCipher uses it, in PBKDF2 and in HMAC.
    public enum Algorithm: Int, Hashable, Sendable {
        case sha1 = 1
        case sha256 = 256
        case sha512 = 512
    }

    /// The size of a page in bytes: a power of two from 1024 to 65536. Default: 4096. SQLCipher can't open databases
    /// with pages of 512 bytes.
    public var pageSize: Int
    /// The number of PBKDF2 rounds that derive a key from a passphrase, from 1. Default: 256,000. A raw key needs none.
    public var kdfIterations: Int
    /// The hash function in PBKDF2. Default: SHA-512.
    public var kdfAlgorithm: Algorithm
    /// The hash function in the HMAC of each page. Default: SHA-512. Nil leaves pages unauthenticated, as in
    /// SQLCipher 1.
    public var hmacAlgorithm: Algorithm?

    /// Creates settings. Each default is that of SQLCipher 4.
    public init(
        pageSize: Int = 4096,
        kdfIterations: Int = 256_000,
        kdfAlgorithm: Algorithm = .sha512,
        hmacAlgorithm: Algorithm? = .sha512
    ) {
        self.pageSize = pageSize
        self.kdfIterations = kdfIterations
        self.kdfAlgorithm = kdfAlgorithm
        self.hmacAlgorithm = hmacAlgorithm
    }

    /// The format of SQLCipher 4, and the default.
    public static let sqlcipher4 = CipherSettings()
    /// The format of SQLCipher 3.
    public static let sqlcipher3 = CipherSettings(
        pageSize: 1024, kdfIterations: 64_000, kdfAlgorithm: .sha1, hmacAlgorithm: .sha1)
    /// The format of SQLCipher 2.
    public static let sqlcipher2 = CipherSettings(
        pageSize: 1024, kdfIterations: 4_000, kdfAlgorithm: .sha1, hmacAlgorithm: .sha1)
    /// The format of SQLCipher 1, which does not detect changed pages.
    public static let sqlcipher1 = CipherSettings(
        pageSize: 1024, kdfIterations: 4_000, kdfAlgorithm: .sha1, hmacAlgorithm: nil)

    /// The formats that are tried for a file that the key does not open, in this order.
    static let formats: [(version: Int, settings: CipherSettings)] = [
        (3, .sqlcipher3), (2, .sqlcipher2), (1, .sqlcipher1), (4, .sqlcipher4),
    ]

    func validate() throws {
        guard (1024...65536).contains(pageSize), pageSize & (pageSize - 1) == 0 else {
            throw DatabaseError(
                refusing: "CipherSettings.pageSize is \(pageSize)", advice: "use a power of two from 1024 to 65536")
        }
        guard (1...Int(Int32.max)).contains(kdfIterations) else {
            throw DatabaseError(refusing: "CipherSettings.kdfIterations is \(kdfIterations)", advice: "use 1 or more")
        }
    }
}

extension CipherSettings.Algorithm {
    var spelling: String { "SHA\(rawValue)" }

    /// Creates an algorithm from an answer such as `PBKDF2_HMAC_SHA512`.
    init?(answer: String) {
        guard let match = [Self.sha512, .sha256, .sha1].first(where: { answer.uppercased().hasSuffix($0.spelling) })
        else { return nil }
        self = match
    }
}

/// The encryption of a database: its key and its format. Set it as ``Configuration/encryption``.
public struct Encryption: Sendable {
    /// The key of the database.
    public var key: DatabaseKey
    /// The format of its pages. Default: that of SQLCipher 4.
    public var settings: CipherSettings
    /// The plaintext header. Nil, the default, encrypts the whole file.
    public var plaintextHeader: PlaintextHeader?
    /// The options for key slots. The secret of any slot opens a database with key slots, whatever the options.
    public var keySlots = KeySlotOptions()

    /// Creates an encryption with SQLCipher 4's format and no plaintext header by default.
    public init(key: DatabaseKey, settings: CipherSettings = .sqlcipher4, plaintextHeader: PlaintextHeader? = nil) {
        self.key = key
        self.settings = settings
        self.plaintextHeader = plaintextHeader
    }
}

/// The first bytes of a database file, left unencrypted so that the system recognizes SQLite. iOS lets a suspended
/// application hold a lock only if it recognizes SQLite.
///
/// These bytes contain no user data. They take the place of the salt, which is stored elsewhere.
///
/// <https://www.zetetic.net/sqlcipher/sqlcipher-api/#cipher_plaintext_header_size>
public struct PlaintextHeader: Hashable, Sendable {
    /// The place of the salt.
    public struct SaltPlace: Hashable, Sendable {
        /// The salt. Nil for a file beside the database.
        let provided: [UInt8]?

        /// A file beside the database, whose name is that of the database and `-salt`. Back it up with the database.
        public static let sidecar = SaltPlace(provided: nil)

        /// The program, which gives the same 16 bytes at each opening.
        public static func provided(_ salt: some Collection<UInt8>) -> SaltPlace { SaltPlace(provided: Array(salt)) }
    }

    /// The size of the header in bytes: a multiple of 16, from 16 to 96. iOS needs 32, the default.
    public var size: Int
    /// The place of the salt. Default: a file beside the database.
    public var salt: SaltPlace

    /// Creates a header of 32 bytes with its salt in a file beside the database by default.
    public init(size: Int = 32, salt: SaltPlace = .sidecar) {
        self.size = size
        self.salt = salt
    }

    static func isValid(size: Int) -> Bool { size % 16 == 0 && (16...96).contains(size) }

    static func validate(size: Int) throws {
        guard isValid(size: size) else {
            throw DatabaseError(
                refusing: "PlaintextHeader.size is \(size)", advice: "use a multiple of 16 from 16 to 96")
        }
    }
}

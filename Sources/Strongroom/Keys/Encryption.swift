/// The encryption of a database: its key and its format. Set it as ``Configuration/encryption``.
public struct Encryption: Sendable {
    public var key: DatabaseKey
    public var settings: CipherSettings
    /// The readable header. Nil, the default, encrypts the file from its first byte to its last.
    public var plaintextHeader: PlaintextHeader?
    /// The options for key slots. The secret of any slot opens a database that has them, with any options.
    public var keySlots = KeySlotOptions()

    public init(key: DatabaseKey, settings: CipherSettings = .sqlcipher4, plaintextHeader: PlaintextHeader? = nil) {
        self.key = key
        self.settings = settings
        self.plaintextHeader = plaintextHeader
    }
}

/// Leaves the start of the file readable, so that the system sees a SQLite database in it (iOS wants to, before it
/// lets a suspended application keep a lock). Those bytes hold no user data; the salt that usually stands there needs
/// another place.
///
/// <https://www.zetetic.net/sqlcipher/sqlcipher-api/#cipher_plaintext_header_size>
public struct PlaintextHeader: Hashable, Sendable {
    /// The place of a salt.
    public struct SaltPlace: Hashable, Sendable {
        /// The salt; nil for a file beside the database.
        let provided: [UInt8]?

        /// In a file beside the database, named like it with `-salt` at the end. Back it up with the database.
        public static let sidecar = SaltPlace(provided: nil)

        /// With the caller: 16 bytes, the same at every opening.
        public static func provided(_ salt: some Collection<UInt8>) -> SaltPlace { SaltPlace(provided: Array(salt)) }
    }

    /// A multiple of 16, from 16 to 96. 32 satisfies iOS.
    public var size: Int
    public var salt: SaltPlace

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

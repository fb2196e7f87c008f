/// The encryption of a connection.
final class CipherState {
    private unowned let parts: ConnectionParts

    init(_ database: Database) {
        parts = database.parts
    }

    /// The key of the main database. Nil for clear text.
    var key: DatabaseKey?
    /// The derived key that SQLCipher has. Nil before the key is derived, for databases in memory, and for clear text.
    private(set) var derived: DerivedKey?
    /// The number of unencrypted bytes at the start of the file.
    private(set) var header = 0
    var saltOrigin = SaltOrigin.database
    var isSaltProvided: Bool { saltOrigin != .database }

    var phase = CipherPhase()
    var requested = RequestedFormat()
    var creation = Creation() {
        didSet {
            guard isCreationPending != creation.isPending else { return }
            isCreationPending.toggle()
            parts.update()
        }
    }

    /// True if the first commit has something to settle. Stored: to ask the creation would copy it in each transaction.
    private(set) var isCreationPending = false

    /// True while the library itself sets the format, which is always permitted.
    private(set) var isSettingFormat = false
    /// The gate that keeps SQLite from a file that the key doesn't fit.
    private(set) var gate: ReadGate?

    /// The files that were looked at for the key. Nil before.
    var slotLook: SlotLook?

    /// The key of a `PRAGMA key` that is being compiled.
    var keyInSQL: DatabaseKey?

    /// True if temporary data may come from encrypted pages of the main database or an attached one.
    var keepsTemporaryDataInMemory = false

    /// The keyring of the access, which its connections share.
    var keyring = Keyring()

    var isKeyed: Bool { key != nil || derived != nil }

    /// The format of the pages.
    var format: DatabaseFormat {
        DatabaseFormat(settings: derived?.settings ?? requested.settings, header: header, salt: derived?.salt)
    }

    /// Returns the key that the connection's key gives with a salt.
    func derivedKey(salt: Salt, settings: CipherSettings) throws -> DerivedKey {
        try keyring.derivedKey(for: key!, salt: salt, settings: settings)
    }

    // MARK: - Changes

    /// Remembers the derived key that SQLCipher has, and the header of the file.
    func attach(_ derived: DerivedKey, header: Int) {
        (self.derived, self.header) = (derived, header)
    }

    /// Remembers the key that the database has after a rotation.
    func changeKey(to key: DatabaseKey, _ derived: DerivedKey) {
        keyring.replace(self.key!, by: key)
        keyring.storedKey = nil
        (self.key, self.derived) = (key, derived)
        saltOrigin = key.source.salt != nil ? .key : saltOrigin == .caller ? .caller : .database
    }

    /// Remembers the header that a transaction is giving to the file.
    func changeHeader(to size: Int) {
        header = size
    }

    /// Runs `body`, which sets the format for the library itself.
    func settingFormat<T>(_ body: () throws -> T) rethrows -> T {
        let wasSetting = isSettingFormat
        isSettingFormat = true
        defer { isSettingFormat = wasSetting }
        return try body()
    }

    /// Closes the gate: SQLite gets `SQLITE_NOTADB` when it locks the file.
    func closeGate(of connection: SQLiteConnection?) {
        gate = connection.flatMap { ReadGate(RawConnection($0)) }
    }

    func openGate() {
        gate?.open()
        gate = nil
    }
}

/// The format that the set-up has requested.
struct RequestedFormat {
    /// The format of the latest key, for databases in memory, which derive none.
    var settings = CipherSettings.sqlcipher4
    /// The requested header. An existing file has its own.
    var header: PlaintextHeader?
    /// The pragmas that have set the format.
    var pragmas: Set<FormatPragma> = []
}

/// The creation of a database by this connection.
struct Creation {
    /// The salt of the slot file, with which the database is to be created.
    var salt: Salt?
    /// True if the file was empty, and the salt for its creation is in a file beside it until the first commit.
    var isAnnounced = false
    /// The slot file that this connection has made for the database.
    var slotFile: SlotFile?
    /// The files that were not beside the empty database. If they are there after the first commit, they may be those
    /// of a creation that came too late. Nil if this connection creates no database.
    var absent: Set<CompanionFile>?

    /// The key that this connection has made for the database, and stored.
    var storedKey: (store: ManagedKey, key: DatabaseKey)?

    fileprivate var isPending: Bool { isAnnounced || absent != nil || storedKey != nil }
}

/// The files that a connection has looked at for its key.
struct SlotLook {
    /// The key that was given to the connection.
    let given: DatabaseKey
    /// Their bytes.
    let seen: [[UInt8]]
    /// The number of looks.
    let count: Int

    /// Others change files in between only for as long as they rotate.
    static let most = 12
}

extension Database {
    var cipher: CipherState { part(CipherState.self) }
}

/// The origin of a connection's salt.
enum SaltOrigin {
    /// The file, or a file beside it.
    case database
    /// The plaintext header that the caller requested.
    case caller
    /// The raw key, which contains it.
    case key
}

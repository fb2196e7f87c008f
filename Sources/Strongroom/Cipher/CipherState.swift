import CStrongroom

/// What a connection knows of its own encryption.
final class CipherState: ConnectionPart {
    init(_ database: Database) {}

    /// What opens the main database; nil for clear text.
    var key: DatabaseKey?
    /// What SQLCipher was given; nil until the key is settled, in memory, and for clear text.
    var derived: DerivedKey?
    /// Bytes of the file that aren't encrypted.
    var header = 0
    var saltOrigin = SaltOrigin.database
    var isSaltProvided: Bool { saltOrigin != .database }

    /// The file was empty, and the salt for its creation stands beside it, until the first commit.
    var isCreating = false

    /// The slot whose secret this connection was given.
    var openedSlot: KeySlot?
    /// What the key file says that the database is to be created with.
    var creationSalt: Salt?

    /// A key was given and its derivation put off: statements like `PRAGMA kdf_iter` may still say how.
    var isPending = false
    /// The pragmas that said so.
    var setUpPragmas: Set<FormatPragma> = []
    /// The header that was asked for; an existing file has its own.
    var requestedHeader: PlaintextHeader?
    /// The format of the latest key, which is not derived in memory.
    var settings = CipherSettings.sqlcipher4
    /// Opening has come to its end: nothing can change the format any more.
    var isSetUp = false
    /// What the library itself says of the format needs no permission.
    var isSayingFormat = false
    /// Whether SQLCipher's defaults are held for this connection until it is set up.
    var holdsDefaults = false
    /// Why the connection can't go on as it was asked to.
    var refusal: DatabaseError?
    /// Keeps SQLite away from a file that the key doesn't fit.
    var gate: OpaquePointer?

    /// The key of a `PRAGMA key` that is being compiled.
    var keyInSQL: DatabaseKey?

    /// Whether temporary data may come from encrypted pages, of the main database or of an attached one.
    var keepsTemporaryDataInMemory = false

    /// Shared with the other connections of the access.
    var keyring = Keyring()

    var isKeyed: Bool { key != nil || derived != nil }

    /// How pages are written.
    var format: DatabaseFormat {
        DatabaseFormat(settings: derived?.settings ?? settings, header: header, salt: derived?.salt)
    }
}

extension Database {
    var cipher: CipherState { part(CipherState.self) }
}

extension CipherState {
    func willCompile(_ text: SQLText, in db: Database) throws {
        if isPending { try db.settleKey(before: text) }
        keyInSQL = nil
        if let schemaName = text.copiedSchema { try db.requireReadableCopy(of: schemaName) }
        if text.secret?.attaches == true { try db.untraced { try db.requireTemporaryDataInMemory() } }
    }

    func didCompile(_ compilation: StatementCompilation, in db: Database) throws {
        if compilation.carriesKey { try db.useKeyInSQL() }
    }

    func explanation(of code: CInt, in db: Database) -> DatabaseError? {
        db.explanationOfChangedKey(code)
    }

    func willReadFile(in db: Database) throws {
        try db.settlePendingKey()
    }

    func willRun(_ statement: Statement, in db: Database) throws {
        if statement.makesDatabases { try db.holdFormat(for: statement) }
    }

    func didRun(_ statement: Statement, isDone: Bool, in db: Database) throws {
        if statement.makesDatabases, let refusal = db.releaseFormat(after: statement) { throw refusal }
    }

    func transactionDidEnd(isCommitted: Bool, isTold: Bool, in db: Database) {
        if isCommitted, isCreating { db.endCreation() }
    }

    func willClose(_ db: Database) {
        db.endCreation()
        openGate()
    }

    /// SQLite must not meet the gate when it closes the file.
    func willFree() {
        openGate()
    }

    func openGate() {
        strongroom_gate_open(gate)
        gate = nil
    }
}

/// Where the salt of a connection comes from.
enum SaltOrigin {
    /// The file, or a file beside it.
    case database
    /// The plaintext header that the caller asked for.
    case caller
    /// The raw key, which carries it.
    case key
}

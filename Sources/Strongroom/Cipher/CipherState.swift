import CStrongroom

/// The encryption of a connection.
final class CipherState: ConnectionPart {
    init(_ database: Database) {}

    /// The key of the main database. Nil for clear text.
    var key: DatabaseKey?
    /// The derived key that SQLCipher has. Nil before the key is derived, for databases in memory, and for clear text.
    var derived: DerivedKey?
    /// The number of unencrypted bytes at the start of the file.
    var header = 0
    var saltOrigin = SaltOrigin.database
    var isSaltProvided: Bool { saltOrigin != .database }

    /// True if the file was empty, and the salt for its creation is in a file beside it until the first commit.
    var isCreating = false

    /// The salt of the key file, with which the database is to be created.
    var creationSalt: Salt?

    /// True if a key was given and is not derived yet: statements such as `PRAGMA kdf_iter` can still change how.
    var isPending = false
    /// The pragmas that have set the format.
    var setUpPragmas: Set<FormatPragma> = []
    /// True while a change of header is not committed: the file does not have ``header`` yet.
    var isChangingHeader = false
    /// The requested header. An existing file has its own.
    var requestedHeader: PlaintextHeader?
    /// The format of the latest key, for databases in memory, which derive none.
    var settings = CipherSettings.sqlcipher4
    /// True when opening has ended. The format can't change from then on.
    var isSetUp = false
    /// True while the library itself sets the format, which is always permitted.
    var isSettingFormat = false
    /// True if SQLCipher's defaults are held for this connection until it is set up.
    var holdsDefaults = false
    /// The error with which the connection refuses all further work.
    var refusal: DatabaseError?
    /// The gate that keeps SQLite from a file that the key doesn't fit.
    var gate: OpaquePointer?

    /// The key of a `PRAGMA key` that is being compiled.
    var keyInSQL: DatabaseKey?

    /// True if temporary data may come from encrypted pages of the main database or an attached one.
    var keepsTemporaryDataInMemory = false

    /// The keyring of the access, which its connections share.
    var keyring = Keyring()

    var isKeyed: Bool { key != nil || derived != nil }

    /// The format of the pages.
    var format: DatabaseFormat {
        DatabaseFormat(settings: derived?.settings ?? settings, header: header, salt: derived?.salt)
    }
}

extension Database {
    var cipher: CipherState { part(CipherState.self) }
}

extension CipherState {
    func willCompile(_ text: SQLText, in db: Database) throws {
        if isPending { try db.keySetup.settleKey(before: text) }
        keyInSQL = nil
        if let schemaName = text.copiedSchema { try db.requireReadableCopy(of: schemaName) }
        if text.secret?.attaches == true { try db.untraced { try db.pragmaPolicy.requireTemporaryDataInMemory() } }
    }

    func didCompile(_ compilation: StatementCompilation, in db: Database) throws {
        if compilation.carriesKey { try db.pragmaPolicy.useKeyInSQL() }
    }

    func explanation(of code: CInt, in db: Database) -> DatabaseError? {
        db.keyProof.explanationOfChangedKey(code)
    }

    func willReadFile(in db: Database) throws {
        try db.keySetup.settlePendingKey()
    }

    func willRun(_ statement: Statement, in db: Database) throws {
        if statement.makesDatabases { try db.formatControl.holdFormat(for: statement) }
    }

    func didRun(_ statement: Statement, isDone: Bool, in db: Database) throws {
        if statement.makesDatabases, let refusal = db.formatControl.releaseFormat(after: statement) { throw refusal }
    }

    func transactionDidEnd(isCommitted: Bool, notifiesObservers: Bool, in db: Database) {
        if isCommitted, isCreating { db.saltSearch.endCreation() }
    }

    func willClose(_ db: Database) {
        db.saltSearch.endCreation()
        openGate()
    }

    /// Opens the gate, so that SQLite can close the file.
    func willFree() {
        openGate()
    }

    func openGate() {
        strongroom_gate_open(gate)
        gate = nil
    }
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

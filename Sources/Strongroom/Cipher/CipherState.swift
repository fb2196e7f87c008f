import CStrongroom

/// The encryption of a connection.
final class CipherState: ConnectionPart {
    init(_ database: Database) {}

    /// The key of the main database; nil for clear text.
    var key: DatabaseKey?
    /// The derived key that SQLCipher has; nil until the key is settled, in memory, and for clear text.
    var derived: DerivedKey?
    /// Bytes of the file that aren't encrypted.
    var header = 0
    var saltOrigin = SaltOrigin.database
    var isSaltProvided: Bool { saltOrigin != .database }

    /// The file was empty, and the salt for its creation stands beside it, until the first commit.
    var isCreating = false

    /// The salt of the key file, with which the database is to be created.
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
    /// True while the library itself says the format, which needs no permission.
    var isSayingFormat = false
    /// True if SQLCipher's defaults are held for this connection until it is set up.
    var holdsDefaults = false
    /// The error that keeps the connection from going on.
    var refusal: DatabaseError?
    /// Keeps SQLite away from a file that the key doesn't fit.
    var gate: OpaquePointer?

    /// The key of a `PRAGMA key` that is being compiled.
    var keyInSQL: DatabaseKey?

    /// True if temporary data may come from encrypted pages, of the main database or of an attached one.
    var keepsTemporaryDataInMemory = false

    /// Shared with the other connections of the access.
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

    func transactionDidEnd(isCommitted: Bool, isTold: Bool, in db: Database) {
        if isCommitted, isCreating { db.saltSearch.endCreation() }
    }

    func willClose(_ db: Database) {
        db.saltSearch.endCreation()
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

/// The origin of a connection's salt.
enum SaltOrigin {
    /// The file, or a file beside it.
    case database
    /// The plaintext header that the caller asked for.
    case caller
    /// The raw key, which carries it.
    case key
}

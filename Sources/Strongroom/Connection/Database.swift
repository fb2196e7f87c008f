import CSQLCipher
import CStrongroom
import Foundation

/// A connection to a database.
///
/// Connections come from ``DatabaseQueue`` and ``DatabasePool``, as the argument of the functions that access the database.
/// They are not sendable, on purpose: using one after its access, or on another thread, is a fatal error.
public final class Database {
    /// The settings that the connection was opened with.
    public let configuration: Configuration

    /// The connection's name: the configuration's label and the role of the connection.
    public let description: String

    let path: String

    /// The handle that is shared with other threads: interruption, access, statements to finalize.
    @usableFromInline let connection: UnsafeMutablePointer<strongroom_connection>

    // `@exclusivity(unchecked)`, here and in what the connection owns: one thread has access, and the runtime's check that no two
    // changes overlap would be a call for each statement, each row or each value.

    /// The raw connection; nil once closed. Don't close it.
    @exclusivity(unchecked) public private(set) var sqliteConnection: SQLiteConnection?

    let compiler = CompilationObserver()

    /// The statements of convenience calls, and apart from them those that the program has in its own hands.
    @exclusivity(unchecked) var statements = StatementCache()
    var lentStatements = StatementCache()

    @exclusivity(unchecked) var runs = StatementRuns()
    @exclusivity(unchecked) var schemaCache = SchemaCache()

    /// What is known of the schema beyond what it tells. By default that of the configuration.
    public internal(set) var schemaSource: (any DatabaseSchemaSource)?

    let transactionStatements = TransactionStatements()
    let cipher = CipherState()
    let fullText = FullTextState()

    /// How many enclosing blocks allow nothing but reads.
    @exclusivity(unchecked) var readOnlyDepth = 0

    /// How many enclosing blocks rely on the transaction that they opened.
    @exclusivity(unchecked) var transactionBlockDepth = 0

    /// What the connection's transaction is doing.
    let transactions: TransactionFollower

    /// Who is told of changes.
    let observers = ObserverList()

    /// What the statements that run now read, while somebody wants to know.
    @exclusivity(unchecked) var recordedRegion: DatabaseRegion?

    /// Gets what SQLite does, while it does it; nil when nobody wants to know.
    var tracer: Tracer?

    /// Milliseconds to wait for a lock where the configuration wants no waiting at all.
    var patience: CInt = 0

    /// The busy function, kept alive as long as SQLite may call it.
    var busyCallback: BusyCallback?

    /// Opens a connection. It is not set up before ``setUp()``, which needs access.
    ///
    /// - throws: `SQLITE_CANTOPEN` and its kin.
    init(path: String, description: String, configuration: Configuration) throws {
        self.path = path
        self.description = description
        self.configuration = configuration
        self.schemaSource = configuration.schemaSource
        self.transactions = TransactionFollower(observers: observers)
        ErrorLog.connect()
        try Self.checkURI(path)
        try Self.requireCreatable(path, configuration)
        var flags = SQLITE_OPEN_NOMUTEX
        if path.hasPrefix("file:") { flags |= SQLITE_OPEN_URI }
        flags |= configuration.readonly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var opened: UnsafeMutablePointer<strongroom_connection>?
        var message: UnsafeMutablePointer<CChar>?
        let code = strongroom_connection_open(path, flags, nil, &opened, &message)
        defer { sqlite3_free(message) }
        guard code == SQLITE_OK, let opened else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code),
                message: message.map { String(cString: $0) })
        }
        connection = opened
        sqliteConnection = opened.pointee.db
    }

    deinit {
        if sqliteConnection != nil { strongroom_connection_abandon(connection) }
        strongroom_connection_free(connection)
    }

    // MARK: - Life

    /// Makes the connection ready for use: encryption first, because nothing can be read before.
    func setUp() throws {
        try check(compiler.install(on: openConnection))
        try setUpBusyMode()
        try setUpSwitches()
        try setUpEncryption()
        try explainingFailures {
            for setup in configuration.setups { try setup(self) }
            try untraced { try verifyEncryption() }
        }
    }

    /// Refuses keys in the path, which goes into descriptions and error messages.
    private static func checkURI(_ path: String) throws {
        guard path.hasPrefix("file:"), let query = path.firstIndex(of: "?") else { return }
        let parameters = path[query...].dropFirst().split(separator: "&").map { $0.prefix { $0 != "=" }.lowercased() }
        if parameters.contains(where: ["key", "hexkey", "textkey"].contains) {
            throw DatabaseError(
                refusing: "a database URI can't carry a key", advice: "set Configuration.encryption, or call usePassphrase(_:)")
        }
    }

    /// The URI of a database in memory that all connections of this process share under that name.
    static func sharedMemoryURI(named name: String) -> String {
        let safe = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~ "))
        return "file:\(name.addingPercentEncoding(withAllowedCharacters: safe) ?? name)?mode=memory&cache=shared"
    }

    private func setUpSwitches() throws {
        // The library of some distributions takes "text" for a string where no such column exists, and hides misspellings.
        let doubleQuotes: CInt = configuration.acceptsDoubleQuotedStringLiterals ? 1 : 0
        try check(strongroom_db_config(openConnection, SQLITE_DBCONFIG_DQS_DML, doubleQuotes, nil))
        try check(strongroom_db_config(openConnection, SQLITE_DBCONFIG_DQS_DDL, doubleQuotes, nil))
        // Before prepareDatabase, which may decide otherwise.
        try check(strongroom_db_config(
            openConnection, SQLITE_DBCONFIG_ENABLE_FKEY, configuration.foreignKeysEnabled ? 1 : 0, nil))
        try transactions.install(on: openConnection)
        DatabaseFunction.predefined.forEach(add(function:))
        DatabaseCollation.predefined.forEach(add(collation:))
    }

    /// Closes the connection: `SQLITE_BUSY`, and the connection goes on, when a statement is still alive.
    func close() throws {
        guard sqliteConnection != nil else { return }
        forgetStatements()
        let code = strongroom_connection_close(connection)
        guard code == SQLITE_OK else {
            throw DatabaseError(code, on: sqliteConnection)
        }
        sqliteConnection = nil
    }

    /// Closes the connection whatever is alive: statements that were kept can't be used anymore.
    func abandon() {
        guard sqliteConnection != nil else { return }
        forgetStatements()
        strongroom_connection_abandon(connection)
        sqliteConnection = nil
    }

    private func forgetStatements() {
        endCreation()
        finishRuns()
        observers.removeAll()
        removeCachedStatements()
        transactionStatements.removeAll()
    }

    /// The raw connection, or the error that it is closed.
    var openConnection: SQLiteConnection {
        get throws {
            guard let sqliteConnection else {
                throw DatabaseError.closed
            }
            return sqliteConnection
        }
    }

    // MARK: - Errors

    /// Throws the connection's error unless `code` is `SQLITE_OK`.
    func check(_ code: CInt, sql: String? = nil) throws {
        if code != SQLITE_OK { throw DatabaseError(code, on: sqliteConnection, sql: sql) }
    }

    /// The code of the last call that failed. <https://www.sqlite.org/c3ref/errcode.html>
    public var lastErrorCode: ResultCode {
        sqliteConnection.map { ResultCode(rawValue: sqlite3_extended_errcode($0)) } ?? .SQLITE_MISUSE
    }

    /// The message of the last call that failed.
    public var lastErrorMessage: String? {
        guard let message = sqliteConnection.map({ String(cString: sqlite3_errmsg($0)) }) else { return nil }
        return SQLText.containsKey(message) ? lastErrorCode.errorString : message
    }

    /// Stops a program that uses the connection outside of its database access.
    @inlinable
    func requireAccess() {
        if !strongroom_has_access(connection) { noAccess("A database connection") }
    }

    @usableFromInline
    func noAccess(_ what: String) -> Never {
        fatalError("""
            \(what) of \(description) was used outside of its database access, or on another thread. \
            Use it only inside the function that got it from read, write, or their kin, and return values from there.
            """)
    }

    // MARK: - State

    /// The rowid of the latest insertion. <https://www.sqlite.org/c3ref/last_insert_rowid.html>
    public var lastInsertedRowID: Int64 {
        requireAccess()
        return sqlite3_last_insert_rowid(sqliteConnection)
    }

    /// How many rows the latest statement changed. <https://www.sqlite.org/c3ref/changes.html>
    public var changesCount: Int {
        requireAccess()
        return Int(strongroom_changes(sqliteConnection))
    }

    /// How many rows were changed since the connection was opened. <https://www.sqlite.org/c3ref/total_changes.html>
    public var totalChangesCount: Int {
        requireAccess()
        return Int(strongroom_total_changes(sqliteConnection))
    }

    /// Whether a transaction is open. <https://www.sqlite.org/c3ref/get_autocommit.html>
    public var isInsideTransaction: Bool {
        requireAccess()
        return sqliteConnection != nil && sqlite3_get_autocommit(sqliteConnection) == 0
    }

    /// How many arguments a statement can have. <https://www.sqlite.org/limits.html#max_variable_number>
    public var maximumStatementArgumentCount: Int {
        Int(sqlite3_limit(sqliteConnection, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
    }

    /// The version of SQLite inside SQLCipher, such as 3046001. <https://www.sqlite.org/c3ref/libversion.html>
    public static var sqliteLibVersionNumber: CInt { sqlite3_libversion_number() }

    /// Whether SQLite has an option of <https://www.sqlite.org/compile.html>.
    static func isCompiled(with option: String) -> Bool { sqlite3_compileoption_used(option) != 0 }
}

extension Database: CustomStringConvertible, CustomDebugStringConvertible {
    public var debugDescription: String { "<Database: \(description)>" }
}

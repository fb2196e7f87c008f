import CSQLCipher
import Foundation

/// A connection to a database.
///
/// ``DatabaseQueue`` and ``DatabasePool`` pass connections to the functions that access the database. They are not
/// sendable: using one after its access, or on another thread, is a fatal error.
public final class Database {
    /// The configuration that the connection was opened with.
    public let configuration: Configuration

    /// The name of the connection: the label of the configuration and the role of the connection.
    public let description: String

    let path: String

    /// The handle that other threads share, for interruptions, access, and statements to finalize.
    @usableFromInline let connection: ConnectionHandle

    // Unchecked exclusivity: see <doc:Layers>.

    /// The raw connection. Nil when the connection is closed. Don't close it.
    @exclusivity(unchecked) public internal(set) var sqliteConnection: SQLiteConnection?

    /// The error of each use while there is no raw connection.
    var refusal = DatabaseError.closed

    let authorizer = StatementAuthorizer()

    /// The parts of the connection, which belong to the layers above.
    let parts = ConnectionParts()

    @exclusivity(unchecked) var statements = StatementCaches()

    @exclusivity(unchecked) var runs = StatementRuns()

    /// The source of facts that the schema doesn't contain. Default: that of the configuration.
    public internal(set) var schemaSource: (any DatabaseSchemaSource)?

    /// The state of the connection's transaction.
    let transactions: Transactions

    /// The trace of the connection. Nil if it is not traced.
    var tracer: Tracer?

    /// The wait for the locks of other connections.
    let busy = BusyHandler()

    /// Opens a connection. It is ready for use after `setUp()`, which needs access.
    ///
    /// - throws: `SQLITE_CANTOPEN` and its kin.
    init(path: String, description: String, configuration: Configuration) throws {
        self.path = path
        self.description = description
        self.configuration = configuration
        self.schemaSource = configuration.schemaSource
        self.transactions = Transactions(parts)
        ErrorLog.connect()
        let uri = SQLiteURI(path: path)
        if uri?.carriesKey == true { throw DatabaseError.keyInURI }
        if let file = NamedFile.databasePath(of: path) { try Replacement.settle(file) }
        try configuration.requireCreatable(path)
        let (name, flags) = configuration.opening(path)
        let (code, opened, message) = ConnectionHandle.open(name, flags: SQLITE_OPEN_NOMUTEX | flags, vfs: uri?.vfs)
        guard code == SQLITE_OK, let opened else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
        }
        connection = opened
        sqliteConnection = opened.sqliteConnection
        transactions.connection = opened
    }

    deinit {
        for part in parts.all { part.willFree() }
        if sqliteConnection != nil { connection.abandon() }
        connection.free()
    }

    // MARK: - Life

    /// Sets up everything that doesn't depend on the content of the database.
    func setUpConnection() throws {
        try check(authorizer.install(on: openConnection))
        try busy.install(on: self)
        try setUpSwitches()
        try setUpTrace()
        if configuration.recordsSQL { trace() }
    }

    private func setUpSwitches() throws {
        // The library of some distributions takes "text" as a string if there is no such column, which hides misspelled
        // names.
        let doubleQuotes = configuration.acceptsDoubleQuotedStringLiterals
        try check(RawConnection(openConnection).configure(SQLITE_DBCONFIG_DQS_DML, doubleQuotes))
        try check(RawConnection(openConnection).configure(SQLITE_DBCONFIG_DQS_DDL, doubleQuotes))
        // Before prepareDatabase, which may change it.
        try check(
            RawConnection(openConnection).configure(SQLITE_DBCONFIG_ENABLE_FKEY, configuration.foreignKeysEnabled))
        try transactions.install(on: openConnection)
        for function in DatabaseFunction.predefined { try check(function.install(on: openConnection)) }
        for collation in DatabaseCollation.predefined { try check(collation.install(on: openConnection)) }
    }

    /// Closes the connection. Throws `SQLITE_BUSY` if a statement is alive, and the connection stays open.
    func close() throws {
        guard sqliteConnection != nil else { return }
        try closeConnection()
        for part in parts.all { part.didClose() }
    }

    /// Closes the connection, and leaves the parts as they are.
    func closeConnection() throws {
        guard let open = sqliteConnection else { return }
        forgetStatements()
        // Releasing the connection releases the program's objects, which may use it.
        sqliteConnection = nil
        let code = stops.closing { connection.close() }
        guard code == SQLITE_OK else {
            sqliteConnection = open
            let failure = DatabaseError(code, on: open)
            logOpenStatements()
            throw failure
        }
    }

    /// Closes the connection even if statements are alive. They can't be used any more.
    func abandon() {
        guard sqliteConnection != nil else { return }
        forgetStatements()
        sqliteConnection = nil
        stops.closing { connection.abandon() }
        for part in parts.all { part.didClose() }
    }

    /// Logs the statements that keep the connection open.
    private func logOpenStatements() {
        var statement = RawConnection(sqliteConnection).statement(after: nil)
        while let living = statement {
            let sql = SQLText.showable(RawStatement(living).sql ?? "")
            ErrorLog.log(.SQLITE_BUSY, "unfinalized statement: \(sql)")
            statement = RawConnection(sqliteConnection).statement(after: living)
        }
    }

    func forgetStatements() {
        for part in parts.all { part.willClose(self) }
        finishRuns()
        statements.removeAll()
        transactions.statements.removeAll()
    }

    /// The raw connection. Throws if the connection is closed.
    var openConnection: SQLiteConnection {
        get throws {
            guard let sqliteConnection else {
                throw refusal
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
        sqliteConnection.map { ResultCode(rawValue: RawConnection($0).extendedErrorCode) } ?? .SQLITE_MISUSE
    }

    /// The message of the last call that failed.
    public var lastErrorMessage: String? {
        guard let message = sqliteConnection.map({ RawConnection($0).errorMessage }) else { return nil }
        return SQLText.containsKey(message) ? lastErrorCode.errorString : message
    }

    /// Stops a program that uses the connection outside of its database access.
    @inlinable
    func requireAccess() {
        if !connection.hasAccess { noAccess("A database connection") }
    }

    /// Runs a function of the program at a place where SQLite does not allow any use of the connection. Using it is a
    /// fatal error that contains `place`.
    func barred<T>(in place: StaticString, _ body: () throws -> T) rethrows -> T {
        let former = connection.bar(place)
        defer { connection.unbar(former) }
        return try body()
    }

    @usableFromInline
    func noAccess(_ what: String) -> Never {
        if connection.isInside, let place = connection.barredPlace {
            fatalError(
                """
                \(what) of \(description) was used inside of \(place), where SQLite does not \
                allow it. \
                Use it before or after, or read through another connection: a DatabasePool has several.
                """)
        }
        fatalError(
            """
            \(what) of \(description) was used outside of its database access, or on another thread. \
            Use it only inside the function that got it from read, write, or their kin, and return values from there.
            """)
    }

    // MARK: - State

    /// The rowid of the most recent insertion. <https://www.sqlite.org/c3ref/last_insert_rowid.html>
    public var lastInsertedRowID: Int64 {
        requireAccess()
        return raw.lastInsertedRowID
    }

    /// The number of rows that the most recent statement changed. <https://www.sqlite.org/c3ref/changes.html>
    public var changesCount: Int {
        requireAccess()
        return raw.changesCount
    }

    /// The number of rows that the connection has changed since it was opened.
    /// <https://www.sqlite.org/c3ref/total_changes.html>
    public var totalChangesCount: Int {
        requireAccess()
        return raw.totalChangesCount
    }

    /// A Boolean value that indicates whether a transaction is open.
    /// <https://www.sqlite.org/c3ref/get_autocommit.html>
    public var isInsideTransaction: Bool {
        requireAccess()
        return !isAutocommit
    }

    /// The maximum number of arguments of a statement. <https://www.sqlite.org/limits.html#max_variable_number>
    public var maximumStatementArgumentCount: Int {
        raw.limit(SQLITE_LIMIT_VARIABLE_NUMBER)
    }

    /// Releases as much memory as possible: cached pages and statements.
    /// <https://www.sqlite.org/c3ref/db_release_memory.html>
    public func releaseMemory() {
        requireAccess()
        statements.removeAll()
        if let sqliteConnection { RawConnection(sqliteConnection).releaseMemory() }
    }

    /// The version of SQLite inside SQLCipher, such as 3046001. <https://www.sqlite.org/c3ref/libversion.html>
    public static var sqliteLibVersionNumber: CInt { SQLite.versionNumber }

    /// A Boolean value that indicates whether the SQLite inside SQLCipher has the WAL-reset bug, which loses
    /// transactions if several connections write and one of them moves the write-ahead log into the file: 3.7.0 to
    /// 3.51.2, except 3.44.6, 3.50.7 and later versions of these series. SQLCipher 4.14 fixes it.
    ///
    /// Strongroom's connections are fenced against it. Connections of other programs that move the log are not. See
    /// <doc:Sharing>. <https://www.sqlite.org/wal.html#walresetbug>
    public static var libraryHasWALResetBug: Bool { SQLite.hasWALResetBug }
}

extension Database: CustomStringConvertible, CustomDebugStringConvertible {
    /// The type and the name of the connection.
    public var debugDescription: String { "<Database: \(description)>" }
}

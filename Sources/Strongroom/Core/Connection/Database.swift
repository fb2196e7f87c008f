import CSQLCipher
import CStrongroom
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
    @usableFromInline let connection: UnsafeMutablePointer<strongroom_connection>

    // Unchecked exclusivity: see <doc:Layers>.

    /// The raw connection. Nil when the connection is closed. Don't close it.
    @exclusivity(unchecked) public private(set) var sqliteConnection: SQLiteConnection?

    let authorizer = StatementAuthorizer()

    /// The parts of the connection, which belong to the layers above.
    let parts = ConnectionParts()

    @exclusivity(unchecked) var statements = StatementCaches()

    @exclusivity(unchecked) var runs = StatementRuns()

    /// The source of facts that the schema doesn't contain. Default: that of the configuration.
    public internal(set) var schemaSource: (any DatabaseSchemaSource)?

    /// The state of the connection's transaction.
    let transactions: TransactionHooks

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
        self.transactions = TransactionHooks(parts)
        ErrorLog.connect()
        let uri = SQLiteURI(path: path)
        if uri?.carriesKey == true { throw DatabaseError.keyInURI }
        try configuration.requireCreatable(path)
        let (name, flags) = configuration.opening(path)
        var opened: UnsafeMutablePointer<strongroom_connection>?
        var message: UnsafeMutablePointer<CChar>?
        let code = strongroom_connection_open(name, SQLITE_OPEN_NOMUTEX | flags, uri?.vfs, &opened, &message)
        defer { sqlite3_free(message) }
        guard code == SQLITE_OK, let opened else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code),
                message: message.map { String(cString: $0) })
        }
        connection = opened
        sqliteConnection = opened.pointee.db
        transactions.connection = opened
    }

    deinit {
        for part in parts.all { part.willFree() }
        if sqliteConnection != nil { strongroom_connection_abandon(connection) }
        strongroom_connection_free(connection)
    }

    // MARK: - Life

    /// Sets up everything that doesn't depend on the content of the database.
    func setUpConnection() throws {
        try check(authorizer.install(on: openConnection))
        try busy.install(on: self)
        try setUpSwitches()
        try setUpTrace()
    }

    private func setUpSwitches() throws {
        // The library of some distributions takes "text" as a string if there is no such column, which hides misspelled
        // names.
        let doubleQuotes: CInt = configuration.acceptsDoubleQuotedStringLiterals ? 1 : 0
        try check(strongroom_db_config(openConnection, SQLITE_DBCONFIG_DQS_DML, doubleQuotes, nil))
        try check(strongroom_db_config(openConnection, SQLITE_DBCONFIG_DQS_DDL, doubleQuotes, nil))
        // Before prepareDatabase, which may change it.
        try check(strongroom_db_config(
            openConnection, SQLITE_DBCONFIG_ENABLE_FKEY, configuration.foreignKeysEnabled ? 1 : 0, nil))
        try transactions.install(on: openConnection)
        for function in DatabaseFunction.predefined { try check(function.install(on: openConnection)) }
        for collation in DatabaseCollation.predefined { try check(collation.install(on: openConnection)) }
    }

    /// Closes the connection. Throws `SQLITE_BUSY` if a statement is alive, and the connection stays open.
    func close() throws {
        guard let open = sqliteConnection else { return }
        forgetStatements()
        // Releasing the connection releases the program's objects, which may use it.
        sqliteConnection = nil
        let code = stops.closing { strongroom_connection_close(connection) }
        guard code == SQLITE_OK else {
            sqliteConnection = open
            let failure = DatabaseError(code, on: open)
            logOpenStatements()
            throw failure
        }
        for part in parts.all { part.didClose() }
    }

    /// Closes the connection even if statements are alive. They can't be used any more.
    func abandon() {
        guard sqliteConnection != nil else { return }
        forgetStatements()
        sqliteConnection = nil
        stops.closing { strongroom_connection_abandon(connection) }
        for part in parts.all { part.didClose() }
    }

    /// Logs the statements that keep the connection open.
    private func logOpenStatements() {
        var statement = sqlite3_next_stmt(sqliteConnection, nil)
        while let living = statement {
            let sql = SQLText.showable(String(cString: sqlite3_sql(living)))
            ErrorLog.log(.SQLITE_BUSY, "unfinalized statement: \(sql)")
            statement = sqlite3_next_stmt(sqliteConnection, living)
        }
    }

    private func forgetStatements() {
        for part in parts.all { part.willClose(self) }
        finishRuns()
        statements.removeAll()
        transactions.statements.removeAll()
    }

    /// The raw connection. Throws if the connection is closed.
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

    /// Runs a function of the program at a place where SQLite does not allow any use of the connection. Using it is a
    /// fatal error that contains `place`.
    func barred<T>(in place: StaticString, _ body: () throws -> T) rethrows -> T {
        let former = strongroom_bar(connection, place.cString)
        defer { strongroom_unbar(connection, former) }
        return try body()
    }

    @usableFromInline
    func noAccess(_ what: String) -> Never {
        if strongroom_is_inside(connection), let place = connection.pointee.barred_in {
            fatalError("""
                \(what) of \(description) was used inside of \(String(cString: place)), where SQLite does not \
                allow it. \
                Use it before or after, or read through another connection: a DatabasePool has several.
                """)
        }
        fatalError("""
            \(what) of \(description) was used outside of its database access, or on another thread. \
            Use it only inside the function that got it from read, write, or their kin, and return values from there.
            """)
    }

    // MARK: - State

    /// The rowid of the most recent insertion. <https://www.sqlite.org/c3ref/last_insert_rowid.html>
    public var lastInsertedRowID: Int64 {
        requireAccess()
        return sqlite3_last_insert_rowid(sqliteConnection)
    }

    /// The number of rows that the most recent statement changed. <https://www.sqlite.org/c3ref/changes.html>
    public var changesCount: Int {
        requireAccess()
        return Int(strongroom_changes(sqliteConnection))
    }

    /// The number of rows that the connection has changed since it was opened.
    /// <https://www.sqlite.org/c3ref/total_changes.html>
    public var totalChangesCount: Int {
        requireAccess()
        return Int(strongroom_total_changes(sqliteConnection))
    }

    /// A Boolean value that indicates whether a transaction is open.
    /// <https://www.sqlite.org/c3ref/get_autocommit.html>
    public var isInsideTransaction: Bool {
        requireAccess()
        return sqliteConnection != nil && sqlite3_get_autocommit(sqliteConnection) == 0
    }

    /// The maximum number of arguments of a statement. <https://www.sqlite.org/limits.html#max_variable_number>
    public var maximumStatementArgumentCount: Int {
        Int(sqlite3_limit(sqliteConnection, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
    }

    /// Releases as much memory as possible: cached pages and statements.
    ///
    /// Releases cached memory. <https://www.sqlite.org/c3ref/db_release_memory.html>
    public func releaseMemory() {
        requireAccess()
        statements.removeAll()
        if let sqliteConnection { sqlite3_db_release_memory(sqliteConnection) }
    }

    /// A number that changes with the schema. <https://www.sqlite.org/pragma.html#pragma_schema_version>
    public func schemaVersion() throws -> Int32 {
        try Int32.fetchOne(self, sql: "PRAGMA main.schema_version") ?? 0
    }

    /// The version of SQLite inside SQLCipher, such as 3046001. <https://www.sqlite.org/c3ref/libversion.html>
    public static var sqliteLibVersionNumber: CInt { sqlite3_libversion_number() }

    /// A Boolean value that indicates whether the SQLite inside SQLCipher has the WAL-reset bug, which loses
    /// transactions if several connections write and one of them moves the write-ahead log into the file: 3.7.0 to
    /// 3.51.2, except 3.44.6, 3.50.7 and later versions of these series. SQLCipher 4.14 fixes it.
    ///
    /// Strongroom's connections are fenced against it. Connections of other programs that move the log are not. See
    /// <doc:Sharing>. <https://www.sqlite.org/wal.html#walresetbug>
    public static var libraryHasWALResetBug: Bool { strongroom_library_has_wal_reset_bug() }

    /// Returns true if SQLite has an option of <https://www.sqlite.org/compile.html>.
    static func isCompiled(with option: String) -> Bool { sqlite3_compileoption_used(option) != 0 }
}

extension Database: CustomStringConvertible, CustomDebugStringConvertible {
    /// The type and the name of the connection.
    public var debugDescription: String { "<Database: \(description)>" }
}

extension StaticString {
    /// The text for C, which may keep the pointer.
    var cString: UnsafePointer<CChar> { UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) }
}

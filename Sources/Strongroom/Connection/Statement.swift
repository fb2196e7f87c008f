import CSQLCipher
import CStrongroom

/// A raw connection pointer of SQLite.
public typealias SQLiteConnection = OpaquePointer

/// A raw statement pointer of SQLite.
public typealias SQLiteStatement = OpaquePointer

/// A prepared statement.
///
/// Statements belong to their connection and to its accesses: using one outside, or on another thread, is a fatal error.
///
/// Source: <https://www.sqlite.org/c3ref/stmt.html>.
public final class Statement {
    /// The raw statement. Don't finalize it.
    public let sqliteStatement: SQLiteStatement

    /// The SQL of this one statement, without what surrounded it.
    public let sql: String

    @usableFromInline let database: Database
    @usableFromInline let connection: UnsafeMutablePointer<strongroom_connection>
    let compilation: StatementCompilation

    /// Whether the statement leaves the database file alone, by `sqlite3_stmt_readonly`.
    public let isReadonly: Bool

    /// Whether running the statement needs more than running it: transaction bookkeeping, schema caches, observers.
    let hasEffects: Bool

    /// For each parameter its name without prefix; nil for `?` and `?NNN`.
    let parameterNames: [String?]

    /// The run that has begun and not ended. A statement that runs is not handed out again.
    unowned(unsafe) var currentRun: StatementRun?

    private var boundArguments = StatementArguments()
    private var columnsIfRead: RowColumns?
    private var reprepareCount: CInt = 0

    init(sqliteStatement: SQLiteStatement, database: Database, compilation: StatementCompilation) {
        self.sqliteStatement = sqliteStatement
        self.database = database
        self.connection = database.connection
        self.compilation = compilation
        self.sql = String(cString: sqlite3_sql(sqliteStatement)).trimmingSQL()
        self.isReadonly = sqlite3_stmt_readonly(sqliteStatement) != 0
        self.hasEffects = !isReadonly || compilation.transaction != nil || compilation.changesSchema
        self.parameterNames = (0..<sqlite3_bind_parameter_count(sqliteStatement)).map {
            guard let name = sqlite3_bind_parameter_name(sqliteStatement, $0 + 1), name.pointee != CChar(UInt8(ascii: "?"))
            else { return nil }
            return String(cString: name + 1)
        }
    }

    deinit {
        strongroom_statement_release(connection, sqliteStatement)
    }

    /// What the statement reads: changes elsewhere can't change its rows.
    public var databaseRegion: DatabaseRegion { compilation.region }

    // MARK: - Columns

    public var columnCount: Int { Int(sqlite3_column_count(sqliteStatement)) }

    /// The names of the columns, as the statement gives them.
    public lazy var columnNames: [String] = columns.names

    /// The position of the leftmost column of that name, whatever its case.
    public func index(ofColumn name: String) -> Int? {
        columns.index(of: name)
    }

    /// Names and positions of the columns, looked up once.
    var columns: RowColumns {
        if let columnsIfRead { return columnsIfRead }
        let columns = RowColumns(names: (0..<sqlite3_column_count(sqliteStatement)).map {
            String(cString: sqlite3_column_name(sqliteStatement, $0))
        })
        columnsIfRead = columns
        return columns
    }

    /// Forgets the columns when SQLite recompiled the statement against a changed schema.
    func forgetColumnsIfRecompiled() {
        let count = sqlite3_stmt_status(sqliteStatement, SQLITE_STMTSTATUS_REPREPARE, 0)
        guard count != reprepareCount else { return }
        reprepareCount = count
        columnsIfRead = nil
        columnNames = columns.names
    }

    // MARK: - Arguments

    /// The arguments; setting them is a fatal error when they don't fit. See ``setArguments(_:)``.
    public var arguments: StatementArguments {
        get { boundArguments }
        set {
            do {
                try setArguments(newValue)
            } catch {
                fatalError("\(error). Validate the arguments, or use setArguments(_:), which throws.")
            }
        }
    }

    /// Throws `SQLITE_MISUSE` when `arguments` don't fit the parameters of the statement.
    public func validateArguments(_ arguments: StatementArguments) throws {
        var rest = arguments
        do {
            _ = try rest.take(for: parameterNames)
            try rest.requireAllTaken(of: arguments.values.count)
        } catch let error as DatabaseError {
            throw self.error(error)
        }
    }

    /// Binds the arguments; throws `SQLITE_MISUSE` when they don't fit.
    public func setArguments(_ arguments: StatementArguments) throws {
        try prepareForBinding()
        if arguments.namedValues.isEmpty, arguments.values.count == parameterNames.count {
            try bind(arguments.values)
        } else {
            var rest = arguments
            do {
                let values = try rest.take(for: parameterNames)
                try rest.requireAllTaken(of: arguments.values.count)
                try bind(values)
            } catch let error as DatabaseError {
                throw self.error(error)
            }
        }
        boundArguments = arguments
    }

    /// Binds what fits, and leaves the other parameters NULL, without a check.
    public func setUncheckedArguments(_ arguments: StatementArguments) {
        try? prepareForBinding()
        sqlite3_clear_bindings(sqliteStatement)
        boundArguments = arguments
        var next = 0
        for (index, name) in parameterNames.enumerated() {
            if let name, let value = arguments.namedValues[name] {
                _ = value.bind(to: sqliteStatement, at: CInt(index + 1))
            } else if next < arguments.values.count {
                _ = arguments.values[next].bind(to: sqliteStatement, at: CInt(index + 1))
                next += 1
            }
        }
    }

    /// Binds as many of the arguments as the statement takes, and leaves the rest in `arguments`.
    func takeArguments(from arguments: inout StatementArguments) throws {
        try prepareForBinding()
        let values = try arguments.take(for: parameterNames)
        try bind(values)
        boundArguments = StatementArguments(values: values)
    }

    private func prepareForBinding() throws {
        requireAccess()
        // The result of a reset is that of the last step, which was reported when it happened.
        sqlite3_reset(sqliteStatement)
    }

    private func bind(_ values: [DatabaseValue]) throws {
        var index: CInt = 1
        for value in values {
            let code = value.bind(to: sqliteStatement, at: index)
            if code != SQLITE_OK { throw error(code) }
            index += 1
        }
    }

    // MARK: - Running

    /// Runs the statement to its end; rows are dropped.
    public func execute(arguments: StatementArguments? = nil) throws {
        if let arguments {
            try setArguments(arguments)
        } else {
            try start()
        }
        try run()
    }

    /// Steps through all rows. The arguments are bound, the statement is reset.
    func run() throws {
        try database.willRun(self)
        var code = sqlite3_step(sqliteStatement)
        while code == SQLITE_ROW { code = sqlite3_step(sqliteStatement) }
        // Before the reset, which would drop the message.
        let failure = code == SQLITE_DONE ? nil : error(code)
        sqlite3_reset(sqliteStatement)
        try database.didRun(self, failure: failure)
    }

    /// Makes the statement ready for a first step. Throws `SQLITE_MISUSE` when arguments are missing.
    func start() throws {
        try prepareForBinding()
        if boundArguments.isEmpty, !parameterNames.isEmpty { try validateArguments(boundArguments) }
    }

    /// The error for `code` at this moment, with the statement's SQL and arguments.
    func error(_ code: CInt) -> DatabaseError {
        error(DatabaseError(code, on: sqlite3_db_handle(sqliteStatement)))
    }

    /// The same error, as this statement's.
    func error(_ error: DatabaseError) -> DatabaseError {
        DatabaseError(
            resultCode: error.extendedResultCode,
            message: error.message,
            sql: database.showable(self),
            arguments: compilation.carriesKey ? nil : error.arguments ?? boundArguments,
            publicStatementArguments: database.configuration.publicStatementArguments)
    }

    /// Stops a program that uses the statement outside of its database access.
    @inlinable
    func requireAccess() {
        if !strongroom_has_access(connection) { noAccess() }
    }

    @usableFromInline
    func noAccess() -> Never {
        database.noAccess("A prepared statement")
    }
}

extension Statement: CustomStringConvertible {
    public var description: String { database.showable(self) }
}

import CSQLCipher
import CStrongroom

/// A raw connection pointer of SQLite.
public typealias SQLiteConnection = OpaquePointer

/// A raw statement pointer of SQLite.
public typealias SQLiteStatement = OpaquePointer

/// A prepared statement.
///
/// Statements belong to their connection and to its accesses: using one outside, or on another thread, is a fatal
/// error.
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

    /// A Boolean value that indicates whether the statement leaves the database file alone, by
    /// `sqlite3_stmt_readonly`.
    public let isReadonly: Bool

    /// True if running the statement needs more than running it: transaction bookkeeping, schema caches, observers.
    @usableFromInline let hasEffects: Bool

    /// True if the statement is refused where only reads are allowed.
    let mayWrite: Bool

    /// True if the statement opens databases, or makes some: SQLCipher sets a key for each.
    let makesDatabases: Bool

    /// True if the statement changes rows, and neither the schema nor the state of the transaction.
    let changesRowsOnly: Bool

    /// True if the statement can be kept for the next time: not when it changes what others were compiled against.
    var isReusable: Bool { !compilation.changesSchema && !compilation.carriesKey && !compilation.actsWhenCompiled }

    /// For each parameter its name without prefix, which is the number of `?NNN`; nil for `?`.
    package let parameterNames: [String?]

    /// The parameters that are full-text patterns, and match nothing when they are NULL.
    private let patternParameters: [CInt]

    // Unchecked exclusivity: see the article *Layers*.

    /// The run that has begun and not ended. A statement that runs is not handed out again.
    @exclusivity(unchecked) unowned(unsafe) var currentRun: StatementRun?

    /// The run of a cursor that keeps none itself. Let go when the run ends: it holds the statement.
    var keptRun: StatementRun?

    @exclusivity(unchecked) private var boundArguments = StatementArguments()

    /// True if the statement has parameters that nothing was said about.
    @exclusivity(unchecked) private var lacksArguments: Bool
    private var columnsIfRead: RowColumns?
    private var reprepareCount: CInt = 0
    private var renewedCompilation: StatementCompilation?
    private var observedReprepareCount: CInt = 0

    /// True if SQLite holds copies of arguments that are worth letting go.
    @exclusivity(unchecked) private var hasLargeArguments = false

    init(sqliteStatement: SQLiteStatement, database: Database, compilation: StatementCompilation) {
        self.sqliteStatement = sqliteStatement
        self.database = database
        self.connection = database.connection
        self.compilation = compilation
        self.sql = String(cString: sqlite3_sql(sqliteStatement)).trimmingSQL()
        self.isReadonly = sqlite3_stmt_readonly(sqliteStatement) != 0
        self.mayWrite = (compilation.writesUnseen || !isReadonly && !compilation.onlyAsks)
            && sqlite3_stmt_isexplain(sqliteStatement) == 0
        self.hasEffects = mayWrite || compilation.transaction != nil || compilation.changesSchema
        self.makesDatabases = hasEffects && (compilation.attaches || compilation.vacuumedSchema != nil)
        self.changesRowsOnly = !isReadonly && !compilation.writesUnseen && !compilation.changesSchema
            && compilation.transaction == nil
        self.parameterNames = (0..<sqlite3_bind_parameter_count(sqliteStatement)).map {
            sqlite3_bind_parameter_name(sqliteStatement, $0 + 1).map { String(cString: $0 + 1) }
        }
        self.patternParameters = compilation.matches ? PatternParameters(in: sql, names: parameterNames).positions : []
        self.lacksArguments = !parameterNames.isEmpty
    }

    deinit {
        strongroom_statement_release(connection, sqliteStatement)
    }

    /// The part of the database that the statement reads: changes elsewhere can't change its rows.
    public var databaseRegion: DatabaseRegion {
        let region = upToDateCompilation.region
        return regionNarrowing?(self, region) ?? region
    }

    /// Narrows the region that the compiler reports, with the arguments that it has now, when its request knows
    /// better: the rows of a primary key, for example. New arguments make it forget.
    @exclusivity(unchecked) var regionNarrowing: ((Statement, DatabaseRegion) -> DatabaseRegion)?

    /// The kinds of changes that the statement may make.
    var eventKinds: [DatabaseEventKind] { upToDateCompilation.eventKinds }

    /// The record that the observers' part keeps with the statement.
    var observation: AnyObject?

    /// The number of times that SQLite has compiled the statement again.
    var recompilationCount: CInt { sqlite3_stmt_status(sqliteStatement, SQLITE_STMTSTATUS_REPREPARE, 0) }

    /// SQLite recompiles statements when the schema has changed: what they read may have changed as well.
    private var upToDateCompilation: StatementCompilation {
        let count = sqlite3_stmt_status(sqliteStatement, SQLITE_STMTSTATUS_REPREPARE, 0)
        if count != observedReprepareCount, let renewed = database.compiler.compilation(of: sql) {
            observedReprepareCount = count
            renewedCompilation = renewed
        }
        return renewedCompilation ?? compilation
    }

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
        _ = try values(of: arguments)
    }

    /// Binds the arguments; throws `SQLITE_MISUSE` when they don't fit, `SQLITE_TOOBIG` when SQLite has no room for
    /// one.
    public func setArguments(_ arguments: StatementArguments) throws {
        prepareForBinding()
        if !arguments.hasNames, arguments.positional.count == parameterNames.count {
            switch arguments.positional {
            case .values(let values): try bind(values)
            case .literal(let elements): try bind(elements)
            }
        } else {
            try bind(values(of: arguments))
        }
        boundArguments = arguments
        lacksArguments = false
    }

    /// Binds what fits, and leaves the other parameters NULL, without a check.
    public func setUncheckedArguments(_ arguments: StatementArguments) {
        prepareForBinding()
        var values = [DatabaseValue](repeating: .null, count: parameterNames.count)
        var next = 0
        for (index, name) in parameterNames.enumerated() {
            if let name, let value = arguments.namedValues[name] {
                values[index] = value
            } else if next < arguments.values.count {
                values[index] = arguments.values[next]
                next += 1
            }
        }
        do {
            try bind(values)
        } catch {
            fatalError("\(error). Use setArguments(_:), which throws.")
        }
        boundArguments = arguments
        lacksArguments = false
    }

    /// Binds as many of the arguments as the statement takes, and leaves the rest in `arguments`.
    func takeArguments(from arguments: inout StatementArguments) throws {
        prepareForBinding()
        let values: [DatabaseValue]
        do {
            values = try arguments.take(for: parameterNames)
        } catch let error as DatabaseError {
            throw misuse(error)
        }
        try bind(values)
        boundArguments = StatementArguments(values: values)
        lacksArguments = false
    }

    /// Clears arguments that take much memory before the statement is kept for another time.
    func forgetLargeArguments() {
        guard hasLargeArguments else { return }
        hasLargeArguments = false
        forgetArguments()
    }

    /// The values of the parameters, in their order.
    private func values(of arguments: StatementArguments) throws -> [DatabaseValue] {
        var rest = arguments
        do {
            let values = try rest.take(for: parameterNames)
            try rest.requireAllTaken(of: arguments.values.count)
            return values
        } catch let error as DatabaseError {
            throw misuse(error)
        }
    }

    /// The error that arguments don't fit. It has none of them: they are not the statement's.
    private func misuse(_ error: DatabaseError) -> DatabaseError {
        error.executing(showableSQL)
    }

    /// A run that has not ended ends here: its rows depend on the former arguments.
    private func prepareForBinding() {
        requireAccess()
        if let currentRun { return currentRun.invalidate() }
        // All our runs end with a reset. A program that steps the raw statement is found out by `bind`; here, only
        // where there is nothing to bind.
        if parameterNames.isEmpty { sqlite3_reset(sqliteStatement) }
    }

    private func bind(_ values: [DatabaseValue]) throws {
        if regionNarrowing != nil { regionNarrowing = nil }
        try values.withUnsafeBufferPointer { bound in
            for index in bound.indices {
                let position = CInt(truncatingIfNeeded: index + 1)
                var code = bind(bound[index], at: position)
                if code == SQLITE_MISUSE {
                    // The program stepped the raw statement. The result of a reset is that of the last step: not ours.
                    sqlite3_reset(sqliteStatement)
                    code = bind(bound[index], at: position)
                }
                if code != SQLITE_OK { throw bindingError(code, values) }
            }
        }
        for position in patternParameters where values[Int(position) - 1].isNull {
            let code = PatternParameters.matchingNothing.bind(to: sqliteStatement, at: position)
            if code != SQLITE_OK { throw bindingError(code, values) }
        }
    }

    @inline(__always)
    private func bind(_ value: DatabaseValue, at position: CInt) -> CInt {
        // Numbers, the most frequent values, without a call.
        switch value.storage {
        case .int64(let number): return StatementParameter(sqliteStatement, position).bind(number)
        case .double(let number): return StatementParameter(sqliteStatement, position).bind(number)
        default:
            if value.isLarge { hasLargeArguments = true }
            return value.bind(to: sqliteStatement, at: position)
        }
    }

    /// Binds the elements of an array literal, which are never large.
    private func bind(_ elements: [(any DatabaseValueConvertible)?]) throws {
        if regionNarrowing != nil { regionNarrowing = nil }
        // What went wrong is found out on the way that can tell.
        guard patternParameters.isEmpty, elements.bind(to: sqliteStatement) == SQLITE_OK else {
            return try bind(elements.map { $0?.databaseValue ?? .null })
        }
    }

    /// Leaves no parameter with a former value.
    private func bindingError(_ code: CInt, _ values: [DatabaseValue]) -> DatabaseError {
        let failure = error(
            DatabaseError(code, on: database.sqliteConnection), arguments: StatementArguments(values: values))
        forgetArguments()
        return failure
    }

    private func forgetArguments() {
        sqlite3_clear_bindings(sqliteStatement)
        boundArguments = StatementArguments()
        lacksArguments = !parameterNames.isEmpty
    }

    /// Makes the statement ready with the arguments that it has. Throws `SQLITE_MISUSE` when some are missing.
    func prepareAsSet() throws {
        prepareForBinding()
        if lacksArguments { try validateArguments(StatementArguments()) }
    }

    // MARK: - Errors

    /// The error for `code` at this moment, with the statement's SQL and arguments.
    func error(_ code: CInt) -> DatabaseError {
        let connection = sqlite3_db_handle(sqliteStatement)
        return error(database.parts.explanation(of: code, in: database) ?? DatabaseError(code, on: connection))
    }

    /// The same error, as this statement's.
    func error(_ error: DatabaseError, arguments: StatementArguments? = nil) -> DatabaseError {
        let hidesArguments = compilation.carriesKey || compilation.attaches
        // SQLite names the file that it can't attach by its URI, which may have a key in it.
        let hidesMessage = hidesArguments && error.message.map(SQLText.containsKey) == true
        return error.executing(
            showableSQL,
            arguments: hidesArguments ? nil : arguments ?? boundArguments,
            publicStatementArguments: database.configuration.publicStatementArguments,
            hidesMessage: hidesMessage)
    }

    /// The SQL as errors and traces may show it: without keys.
    var showableSQL: String {
        let shown = SQLText.showable(sql)
        return compilation.carriesKey && shown == sql ? "PRAGMA key = '…'" : shown
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
    public var description: String { showableSQL }
}

import CSQLCipher

/// A prepared statement.
///
/// A statement belongs to its connection and its accesses: using it outside of them, or on another thread, is a fatal
/// error.
///
/// Source: <https://www.sqlite.org/c3ref/stmt.html>.
public final class Statement {
    /// The raw statement. Don't finalize it.
    public let sqliteStatement: SQLiteStatement

    private var raw: RawStatement { RawStatement(sqliteStatement) }

    /// The SQL of this statement, without surrounding text.
    public let sql: String

    @usableFromInline let database: Database
    @usableFromInline let connection: ConnectionHandle
    let compilation: StatementCompilation

    /// A Boolean value that indicates whether the statement does not write to the database file, by
    /// `sqlite3_stmt_readonly`.
    public let isReadonly: Bool

    /// True if the statement may affect transactions, schema caches or observers.
    @usableFromInline let hasEffects: Bool

    /// True if the statement is refused in contexts that only allow reads.
    let mayWrite: Bool

    /// True if the statement opens or creates databases: SQLCipher sets a key for each.
    let makesDatabases: Bool

    /// True if the statement only changes rows, and neither the schema nor the state of the transaction.
    let changesRowsOnly: Bool

    /// True if the statement can be cached: it doesn't change what other statements were compiled against.
    var isReusable: Bool { !compilation.changesSchema && !compilation.carriesKey && !compilation.actsWhenCompiled }

    /// The name of each parameter without its prefix, which is the number of `?NNN`. Nil for `?`.
    package let parameterNames: [String?]

    /// The parameters that are full-text patterns. NULL matches nothing.
    private let patternParameters: [CInt]

    // Unchecked exclusivity: see <doc:Layers>.

    /// The current run. A statement is not reused while it runs.
    @exclusivity(unchecked) unowned(unsafe) var currentRun: StatementRun?

    /// The run of a cursor without one of its own. Released when the run ends, because it holds the statement.
    var cursorRun: StatementRun?

    @exclusivity(unchecked) var boundArguments = StatementArguments()

    /// The arguments of a run that only borrows them.
    @exclusivity(unchecked) var lentArguments: UnsafeBufferPointer<DatabaseValue>?

    /// True if the statement has parameters that were not set.
    @exclusivity(unchecked) var lacksArguments: Bool
    private var columnsIfRead: RowColumns?
    private var reprepareCount: CInt = 0
    private var renewedCompilation: StatementCompilation?
    private var observedReprepareCount: CInt = 0

    /// True if SQLite holds copies of large arguments.
    @exclusivity(unchecked) private var hasLargeArguments = false

    init(sqliteStatement: SQLiteStatement, database: Database, compilation: StatementCompilation) {
        let raw = RawStatement(sqliteStatement)
        self.sqliteStatement = sqliteStatement
        self.database = database
        self.connection = database.connection
        self.compilation = compilation
        self.sql = (raw.sql ?? "").trimmingSQL()
        self.isReadonly = raw.isReadonly
        self.mayWrite =
            (compilation.writesUnseen || !isReadonly && !compilation.onlyQueries)
            && !raw.isExplanation
        self.hasEffects = mayWrite || compilation.transaction != nil || compilation.changesSchema
        self.makesDatabases = hasEffects && (compilation.attaches || compilation.vacuumedSchema != nil)
        self.changesRowsOnly =
            !isReadonly && !compilation.writesUnseen && !compilation.changesSchema
            && compilation.transaction == nil
        self.parameterNames = raw.parameterNames
        self.patternParameters = compilation.matches ? PatternParameters(in: sql, names: parameterNames).positions : []
        self.lacksArguments = !parameterNames.isEmpty
    }

    deinit {
        connection.release(sqliteStatement)
    }

    /// The region of the database that the statement reads. Changes outside of it don't change its rows.
    public var databaseRegion: DatabaseRegion {
        let region = upToDateCompilation.region
        return regionNarrowing?(self, region) ?? region
    }

    /// A narrower region than the compiler's for the current arguments, if the request knows one: the rows of a primary
    /// key, for example. New arguments reset it.
    @exclusivity(unchecked) var regionNarrowing: ((Statement, DatabaseRegion) -> DatabaseRegion)?

    /// The kinds of changes that the statement may make.
    var eventKinds: [DatabaseEventKind] { upToDateCompilation.eventKinds }

    /// The notes of the connection's parts on the statement.
    @exclusivity(unchecked) var notes = PartNotes()

    /// The number of times that SQLite has compiled the statement again.
    var recompilationCount: CInt { raw.recompilationCount }

    /// The compilation after a change of the schema: SQLite recompiles statements, which may then read other columns.
    private var upToDateCompilation: StatementCompilation {
        let count = recompilationCount
        if count != observedReprepareCount, let renewed = database.compiler.compilation(of: sql) {
            observedReprepareCount = count
            renewedCompilation = renewed
        }
        return renewedCompilation ?? compilation
    }

    // MARK: - Columns

    /// The number of columns. Zero for a statement that returns no rows.
    public var columnCount: Int { Int(raw.columnCount) }

    /// The names of the columns, as the statement returns them.
    public lazy var columnNames: [String] = columns.names

    /// Returns the position of the leftmost column with a name, regardless of case.
    public func index(ofColumn name: String) -> Int? {
        columns.index(of: name)
    }

    /// Names and positions of the columns, looked up once.
    var columns: RowColumns {
        if let columnsIfRead { return columnsIfRead }
        let columns = RowColumns(names: raw.columnNames)
        columnsIfRead = columns
        return columns
    }

    /// Discards the columns if SQLite has recompiled the statement for a changed schema.
    func forgetColumnsIfRecompiled() {
        let count = recompilationCount
        guard count != reprepareCount else { return }
        reprepareCount = count
        columnsIfRead = nil
        columnNames = columns.names
    }

    // MARK: - Arguments

    /// The arguments. Setting them is a fatal error if they don't fit. See ``setArguments(_:)``.
    public var arguments: StatementArguments {
        get { lentArguments.map { StatementArguments(values: Array($0)) } ?? boundArguments }
        set {
            do {
                try setArguments(newValue)
            } catch {
                fatalError("\(error). Validate the arguments, or use setArguments(_:), which throws.")
            }
        }
    }

    /// Throws `SQLITE_MISUSE` if `arguments` don't fit the parameters of the statement.
    public func validateArguments(_ arguments: StatementArguments) throws {
        _ = try values(of: arguments)
    }

    /// Binds the arguments. Throws `SQLITE_MISUSE` if they don't fit, and `SQLITE_TOOBIG` if one is too large.
    public func setArguments(_ arguments: StatementArguments) throws {
        prepareForBinding()
        if !arguments.hasNames, arguments.positional.count == parameterNames.count {
            switch arguments.positional {
            case .integer(let value): try bind(value)
            case .values(let values): try bind(values)
            case .literal(let elements): try bind(elements)
            }
        } else {
            try bind(values(of: arguments))
        }
        boundArguments = arguments
        lacksArguments = false
    }

    /// Binds the arguments that fit, and leaves the other parameters NULL, without a check.
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

    /// Binds as many of the arguments as the statement needs, and leaves the others in `arguments`.
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

    /// Clears large arguments before the statement is cached.
    ///
    /// Returns true if there were any.
    @discardableResult
    func forgetLargeArguments() -> Bool {
        guard hasLargeArguments else { return false }
        hasLargeArguments = false
        forgetArguments()
        return true
    }

    /// Returns the values of the parameters, in their order.
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

    /// Returns the error for arguments that don't fit. It does not contain them.
    private func misuse(_ error: DatabaseError) -> DatabaseError {
        error.executing(showableSQL)
    }

    /// Ends a former run, because its rows depend on the former arguments.
    func prepareForBinding() {
        requireAccess()
        if let currentRun { return currentRun.invalidate() }
        // All runs of the library end with a reset. `bind` detects a program that steps the raw statement; without
        // parameters, this reset replaces it.
        if parameterNames.isEmpty { raw.reset() }
    }

    private func bind(_ values: [DatabaseValue]) throws {
        try values.withUnsafeBufferPointer(bind)
    }

    /// Binds a value to each parameter.
    func bind(_ values: UnsafeBufferPointer<DatabaseValue>) throws {
        if regionNarrowing != nil { regionNarrowing = nil }
        for index in 0..<values.count {
            let position = CInt(truncatingIfNeeded: index + 1), value = values.baseAddress! + index
            var code = bind(value, at: position)
            if code == SQLITE_OK { continue }
            if code == SQLITE_MISUSE {
                // The program has stepped the raw statement. A reset returns the result of the last step, which is the
                // program's.
                raw.reset()
                code = bind(value, at: position)
            }
            if code != SQLITE_OK { throw bindingError(code, values) }
        }
        for position in patternParameters where values[Int(position) - 1].isNull {
            let code = PatternParameters.matchingNothing.bind(to: sqliteStatement, at: position)
            if code != SQLITE_OK { throw bindingError(code, values) }
        }
    }

    @inline(__always)
    private func bind(_ value: UnsafePointer<DatabaseValue>, at position: CInt) -> CInt {
        // Numbers, which are the most frequent values, without a call and without a copy.
        if case .int64(let number) = value.pointee.storage {
            return StatementParameter(sqliteStatement, position).bind(number)
        }
        if case .double(let number) = value.pointee.storage {
            return StatementParameter(sqliteStatement, position).bind(number)
        }
        if value.pointee.isLarge { hasLargeArguments = true }
        return value.pointee.bind(to: sqliteStatement, at: position)
    }

    /// Binds the only argument.
    private func bind(_ value: Int64) throws {
        if regionNarrowing != nil { regionNarrowing = nil }
        // The general path determines the error.
        guard value.bind(to: sqliteStatement, at: 1) == SQLITE_OK else { return try bind([value.databaseValue]) }
    }

    /// Binds the elements of an array literal, which are never large.
    private func bind(_ elements: [(any DatabaseValueConvertible)?]) throws {
        if regionNarrowing != nil { regionNarrowing = nil }
        // The general path determines the error.
        guard patternParameters.isEmpty, elements.bind(to: sqliteStatement) == SQLITE_OK else {
            return try bind(elements.map { $0?.databaseValue ?? .null })
        }
    }

    /// Clears all parameters, and returns the error.
    private func bindingError(_ code: CInt, _ values: UnsafeBufferPointer<DatabaseValue>) -> DatabaseError {
        let failure = error(
            DatabaseError(code, on: database.sqliteConnection), arguments: StatementArguments(values: Array(values)))
        forgetArguments()
        return failure
    }

    private func forgetArguments() {
        raw.clearBindings()
        boundArguments = StatementArguments()
        lacksArguments = !parameterNames.isEmpty
    }

    /// Prepares the statement with its current arguments. Throws `SQLITE_MISUSE` if some are missing.
    func prepareAsSet() throws {
        prepareForBinding()
        if lacksArguments { try validateArguments(StatementArguments()) }
    }

    // MARK: - Errors

    /// Returns the error for `code`, with the statement's SQL and arguments.
    func error(_ code: CInt) -> DatabaseError {
        if let explanation = database.parts.explanation(of: code, in: database) { return error(explanation) }
        let hidesMessage = compilation.readsForOwner
        return error(
            hidesMessage
                ? DatabaseError(resultCode: ResultCode(rawValue: code)) : DatabaseError(code, on: raw.connection))
    }

    /// Returns an error as that of this statement.
    func error(_ error: DatabaseError, arguments: StatementArguments? = nil) -> DatabaseError {
        let hidesArguments = compilation.carriesKey || compilation.attaches
        // SQLite's message for a failed ATTACH contains the URI of the file, which may contain a key.
        let hidesMessage = hidesArguments && error.message.map(SQLText.containsKey) == true
        return error.executing(
            showableSQL,
            arguments: hidesArguments ? nil : arguments ?? self.arguments,
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
        if !connection.hasAccess { noAccess() }
    }

    @usableFromInline
    func noAccess() -> Never {
        database.noAccess("A prepared statement")
    }
}

extension Statement: CustomStringConvertible {
    /// The SQL, without keys.
    public var description: String { showableSQL }
}

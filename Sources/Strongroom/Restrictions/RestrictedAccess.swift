import CSQLCipher

/// The restriction of a connection, for the time of one access.
///
/// Each statement of the access passes three walls: the names in its text, the reports of SQLite's compiler, and
/// SQLite's own limits. A statement from before has passed none, and is refused.
final class RestrictedAccess: ConnectionPart, StatementRestriction {
    private unowned let database: Database
    private(set) var number = 0
    private var restrictions = Restrictions()
    private(set) var permissions = Permissions()

    /// The names of the statement that is being compiled.
    private var names = SourceNames("")

    init(_ database: Database) {
        self.database = database
    }

    var isActive: Bool { number != 0 }
    var concerns: PartConcerns { isActive ? .reads : [] }
    var maximumRowCount: Int { restrictions.maximumRowCount }

    // MARK: - Begin and end

    /// Runs `body` under restrictions.
    func run<T>(_ restrictions: Restrictions, _ body: () throws -> T) throws -> T {
        guard !isActive else {
            throw DatabaseError(
                refusing: "The access is restricted already", advice: "Begin one restricted access at a time")
        }
        try restrictions.requireLimits()
        let connection = try RawConnection(database.openConnection)
        permissions = try Permissions(restrictions, database)
        self.restrictions = restrictions
        let limits = SQLiteLimits(restrictions, widest: permissions.objects.values.map(\.columnCount).max() ?? 0)
        let former = (limits: limits.lowered(on: connection), statements: database.statements)
        defer {
            former.limits.restore(on: connection)
            end(former.statements)
        }
        let switches = [(SQLITE_DBCONFIG_DEFENSIVE, true), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)]
        let formerSwitches = switches.map { ($0.0, connection.isConfigured($0.0)) }
        defer { for (option, isOn) in formerSwitches { _ = connection.configure(option, isOn) } }
        for (option, isOn) in switches { try database.check(connection.configure(option, isOn)) }
        begin()
        return try body()
    }

    private func begin() {
        database.statements = StatementCaches()
        number = Self.nextNumber()
        database.authorizer.restriction = self
        database.parts.update()
        StatementLimits(of: database.connection).set(
            nanoseconds: UInt64(min(restrictions.maximumDuration * 1e9, 1e18)),
            bytes: Int64(restrictions.maximumMemoryByteCount))
    }

    private func end(_ statements: StatementCaches) {
        guard isActive else { return }
        database.finishRuns()
        StatementLimits(of: database.connection).set(nanoseconds: 0, bytes: 0)
        database.authorizer.restriction = nil
        number = 0
        database.parts.update()
        database.statements = statements
    }

    private static let latestNumber = Mutex(0)

    private static func nextNumber() -> Int {
        latestNumber.withLock { number in
            number += 1
            return number
        }
    }

    // MARK: - Compiling

    func willCompile(_ sql: UnsafeBufferPointer<UInt8>) throws {
        guard !database.authorizer.isCompiling else {
            throw refusing(DatabaseError.restricted(.statement, "SQL inside of SQL"), sql)
        }
        guard sql.count <= restrictions.maximumStatementByteCount else {
            throw overrun(.statementLength, restrictions.maximumStatementByteCount)
        }
        names = SourceNames(sql)
        do {
            try permissions.check(names)
        } catch let refusal as DatabaseError {
            throw refusing(refusal, sql)
        }
    }

    private func refusing(_ refusal: DatabaseError, _ sql: UnsafeBufferPointer<UInt8>) -> DatabaseError {
        refusal.executing(SQLText.showable(String(decoding: sql, as: UTF8.self)))
    }

    func verdict(on report: CompilerReport) -> RestrictionVerdict {
        guard report.isOfProgram else { return verdictOnOwnSQL(report) }
        switch report.action {
        case SQLITE_SELECT, SQLITE_RECURSIVE:
            return .allowed
        case SQLITE_READ:
            return permissions.verdict(onRead: report, names)
        case SQLITE_FUNCTION:
            return permissions.verdict(onFunction: report)
        case SQLITE_PRAGMA:
            let isMain = report.schema.map { SQLite.isSame($0, "main") } ?? true
            let isHarmless = HarmlessFunctions.pragmas.contains((report.first ?? "").lowercased())
            if isHarmless, isMain, report.second == nil { return .allowed }
            return .refused(.restricted(.pragma, report.first ?? ""))
        default:
            return .refused(.restricted(.statement, names.firstWord.uppercased()))
        }
    }

    /// Decides on SQL that a virtual table runs for itself, and the library to end a transaction.
    private func verdictOnOwnSQL(_ report: CompilerReport) -> RestrictionVerdict {
        switch report.action {
        case SQLITE_SELECT, SQLITE_RECURSIVE, SQLITE_READ, SQLITE_FUNCTION, SQLITE_TRANSACTION, SQLITE_SAVEPOINT:
            return .allowed
        case SQLITE_PRAGMA where WritingSQL.isReading(pragma: (report.first ?? "").lowercased(), value: report.second):
            return .allowed
        default:
            return .refused(.restricted(.statement, "a change"))
        }
    }

    // MARK: - Running

    /// Refuses statements from before, and those after a limit. A part undoes with a statement of its own.
    func willRun(_ statement: Statement, in db: Database) throws {
        guard isActive, db.authorizer.restriction != nil, statement.compilation.transaction != .rollback else { return }
        guard statement.compilation.restriction == number else {
            let refusal = DatabaseError.Refusal(.preparedBefore)
            throw DatabaseError(
                refusal, "the statement was prepared outside of the restricted access; nothing was read",
                advice: "Prepare it inside", sql: statement.showableSQL)
        }
        if let overrun = timeOrMemoryOverrun { throw overrun.executing(statement.showableSQL) }
    }

    func rowOverrun(of sql: String) -> DatabaseError {
        overrun(.rows, maximumRowCount).executing(sql)
    }

    func explanation(of code: CInt, in db: Database) -> DatabaseError? {
        guard isActive, db.authorizer.restriction != nil else { return nil }
        switch ResultCode(rawValue: code).primaryResultCode {
        case .SQLITE_INTERRUPT: return timeOrMemoryOverrun
        case .SQLITE_NOMEM where SQLite.limitHeap(-1) > 0:
            return overrun(.memory, restrictions.maximumMemoryByteCount)
        case .SQLITE_TOOBIG: return overrun(.cellBytes, restrictions.maximumCellByteCount)
        case .SQLITE_ERROR: return overrun(byMessage: RawConnection(db.sqliteConnection).errorMessage)
        default: return nil
        }
    }

    /// SQLite has one code for most of its limits.
    private func overrun(byMessage message: String) -> DatabaseError? {
        if message.hasPrefix("Expression tree is too large") {
            return overrun(.expressionDepth, restrictions.maximumExpressionDepth)
        }
        if message.hasPrefix("too many terms in compound SELECT") {
            return overrun(.compoundTerms, restrictions.maximumCompoundTermCount)
        }
        if message.hasPrefix("too many columns in result set") { return overrun(.columns, SQLiteLimits.columns) }
        if message.hasPrefix("LIKE or GLOB pattern too complex") {
            return overrun(.patternLength, SQLiteLimits.patternLength)
        }
        return nil
    }

    private var timeOrMemoryOverrun: DatabaseError? {
        let overrun = StatementLimits(of: database.connection).overrun
        if overrun.contains(.duration) {
            return .overrun(.duration, restrictions.maximumDuration)
        }
        return overrun.contains(.memory) ? self.overrun(.memory, restrictions.maximumMemoryByteCount) : nil
    }

    private func overrun(_ rule: DatabaseError.RestrictionRule, _ limit: Int) -> DatabaseError {
        .overrun(rule, Double(limit))
    }
}

extension DatabaseError {
    /// The error of a restricted statement that has exceeded a limit.
    fileprivate static func overrun(_ rule: RestrictionRule, _ limit: Double) -> DatabaseError {
        let number = Restrictions.text(limit)
        let what =
            switch rule {
            case .rows: "the statement has more than \(number) rows; those before were returned"
            case .cellBytes: "a value or a row has more than \(number) bytes; the statement was stopped"
            case .duration: "the access took more than \(number) s; the statement was stopped"
            case .memory: "SQLite needed more than \(number) bytes of memory; the statement was stopped"
            case .expressionDepth: "an expression is deeper than \(number) levels; nothing was read"
            case .compoundTerms: "a compound query has more than \(number) terms; nothing was read"
            case .columns: "the statement has more than \(number) columns; nothing was read"
            case .patternLength: "the pattern has more than \(number) bytes; the statement was stopped"
            default: "the statement has more than \(number) bytes; nothing was read"
            }
        return DatabaseError(Refusal(rule, limit: limit), code: .SQLITE_TOOBIG, what, advice: "Ask for less")
    }
}

/// SQLite's limits of one connection. <https://www.sqlite.org/c3ref/c_limit_attached.html>
private struct SQLiteLimits {
    static let columns = 200
    static let patternLength = 200

    private var values: [(limit: CInt, value: Int)]

    /// - parameter widest: the number of columns of the widest table.
    init(_ restrictions: Restrictions, widest: Int) {
        values = [
            (SQLITE_LIMIT_LENGTH, restrictions.maximumCellByteCount),
            (SQLITE_LIMIT_SQL_LENGTH, restrictions.maximumStatementByteCount),
            (SQLITE_LIMIT_EXPR_DEPTH, restrictions.maximumExpressionDepth),
            (SQLITE_LIMIT_COMPOUND_SELECT, restrictions.maximumCompoundTermCount),
            (SQLITE_LIMIT_COLUMN, max(Self.columns, widest)),
            (SQLITE_LIMIT_VDBE_OP, 100_000),
            (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, Self.patternLength),
            (SQLITE_LIMIT_WORKER_THREADS, 0),
        ]
    }

    /// Sets the limits that are lower than those of the connection. Returns the former ones.
    func lowered(on connection: RawConnection) -> SQLiteLimits {
        var former = self
        for (index, each) in values.enumerated() {
            former.values[index].value = connection.limit(each.limit)
            connection.setLimit(each.limit, min(each.value, former.values[index].value))
        }
        return former
    }

    func restore(on connection: RawConnection) {
        for each in values { connection.setLimit(each.limit, each.value) }
    }
}

extension Database {
    var restrictedAccess: RestrictedAccess { part(RestrictedAccess.self) }

    /// Runs `body` under restrictions.
    ///
    /// - precondition: called in a transaction that only reads.
    package func restricted<T>(to restrictions: Restrictions, _ body: () throws -> T) throws -> T {
        try restrictedAccess.run(restrictions, body)
    }

    /// Lets SQLite refuse memory beyond a limit, for all connections of the process. Returns the former limit in bytes,
    /// 0 for none. <https://www.sqlite.org/c3ref/hard_heap_limit64.html>
    @discardableResult
    package static func limitMemory(ofProcess bytes: Int64) -> Int64 { SQLite.limitHeap(bytes) }
}

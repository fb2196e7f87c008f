import CSQLCipher
import CStrongroom

// Compiling and running SQL.

extension Database {
    // MARK: - Compiling

    /// Returns a new prepared statement. Throws if `sql` contains no statement, or more than one.
    public func makeStatement(sql: String) throws -> Statement {
        let (statement, isWhole) = try compile(whole: sql)
        guard isWhole else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "Multiple statements found. To execute multiple statements, "
                    + "use Database.execute(sql:) or Database.allStatements(sql:) instead.",
                sql: SQLText.withoutKeys(sql))
        }
        return statement
    }

    /// Returns a new prepared statement, with the arguments of the literal. If it has none, set them before the
    /// statement runs.
    public func makeStatement(literal sqlLiteral: SQL) throws -> Statement {
        let (sql, arguments) = try sqlLiteral.build(self)
        let statement = try makeStatement(sql: sql)
        if !arguments.isEmpty { try statement.setArguments(arguments) }
        return statement
    }

    /// Returns the prepared statement for the SQL. Each call returns the same one.
    ///
    /// Don't use it for two cursors at the same time.
    public func cachedStatement(sql: String) throws -> Statement {
        requireAccess()
        if let statement = lentStatements.statement(sql) { return statement }
        let statement = try makeStatement(sql: sql)
        if statement.isReusable { lentStatements.insert(statement, for: sql) }
        return statement
    }

    /// Returns the prepared statement for the literal's SQL, with its arguments. If it has none, set them before the
    /// statement runs.
    public func cachedStatement(literal sqlLiteral: SQL) throws -> Statement {
        let (sql, arguments) = try sqlLiteral.build(self)
        let statement = try cachedStatement(sql: sql)
        if !arguments.isEmpty { try statement.setArguments(arguments) }
        return statement
    }

    /// Returns a prepared statement that is not in use elsewhere, from the cache if possible.
    @usableFromInline
    func reusableStatement(sql: String) throws -> Statement {
        requireAccess()
        if let statement = statements.idleStatement(sql) { return statement }
        let statement = try makeStatement(sql: sql)
        // It replaces a statement that is in use, or that the program keeps.
        remember(statement, for: sql)
        return statement
    }

    private func remember(_ statement: Statement, for sql: String) {
        if statement.isReusable { statements.insert(statement, for: sql) }
    }

    /// Returns the first statement in `sql`, and true if only space and comments follow it.
    private func compile(whole sql: String) throws -> (statement: Statement, isWhole: Bool) {
        requireAccess()
        var text = sql
        return try text.withUTF8 { bytes in
            try bytes.withMemoryRebound(to: CChar.self) { characters in
                var rest = characters
                guard let statement = try compileNext(&rest) else {
                    throw DatabaseError(
                        resultCode: .SQLITE_ERROR, message: "empty statement", sql: SQLText.showable(sql))
                }
                return (statement, SQLText.isBlank(rest))
            }
        }
    }

    /// Compiles the first statement of `rest`, and moves past it. Nil if there is none.
    ///
    /// SQLite only gets that one statement. Given more, it would copy the rest for each statement, and log it with its
    /// errors.
    func compileNext(_ rest: inout UnsafeBufferPointer<CChar>) throws -> Statement? {
        while !rest.isEmpty {
            let text = SQLText(first: rest)
            for part in parts.all { try part.willCompile(text, in: self) }
            var length = text.length
            let sql = UnsafeBufferPointer(rebasing: rest.prefix(length))
            let statement = text.isBlank ? nil : try compile(sql, text, consumed: &length)
            rest = UnsafeBufferPointer(rebasing: rest.dropFirst(length))
            if let statement { return statement }
        }
        return nil
    }

    private func compile(
        _ sql: UnsafeBufferPointer<CChar>, _ text: SQLText, consumed: inout Int) throws -> Statement?
    {
        let connection = try openConnection
        try checkText(sql)
        var pointer: SQLiteStatement?
        var tail: UnsafePointer<CChar>?
        var code = SQLITE_OK
        func prepare() { code = sqlite3_prepare_v3(connection, sql.baseAddress, CInt(sql.count), 0, &pointer, &tail) }
        var compilation = stops.compiling { authorizer.observing(prepare) }
        if code == SQLITE_INTERRUPT {
            // The compiler is interrupted too while an interrupted cursor is alive. A statement that undoes must
            // compile.
            compilation = stops.undoing { authorizer.observing(prepare) }
            guard stops.passes(compilation.transaction) else {
                sqlite3_finalize(pointer)
                throw DatabaseError(resultCode: .SQLITE_INTERRUPT, message: "interrupted", sql: SQLText.showable(sql))
            }
        }
        if text.secret != nil { compilation.carriesKey = true }
        compilation.vacuumedSchema = text.isVacuum ? text.copiedSchema ?? "" : nil
        guard code == SQLITE_OK else { return try stops.waiting { throw compilationError(code, sql, compilation) } }
        if let tail, let start = sql.baseAddress { consumed = max(1, tail - start) }
        let statement = pointer.map { Statement(sqliteStatement: $0, database: self, compilation: compilation) }
        for part in parts.all { try part.didCompile(compilation, in: self) }
        return statement
    }

    /// Returns the compiler's current result for a statement. Nil if it doesn't compile any more.
    func compilation(of sql: String) -> StatementCompilation? {
        var sql = sql
        var pointer: SQLiteStatement?
        var code = SQLITE_OK
        let compilation = authorizer.observing {
            code = sql.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_prepare_v3(sqliteConnection, $0.baseAddress, CInt($0.count), 0, &pointer, nil)
                }
            }
        }
        sqlite3_finalize(pointer)
        return code == SQLITE_OK ? compilation : nil
    }

    /// Refuses text that SQLite would truncate, and text that it would refuse after copying it.
    private func checkText(_ sql: UnsafeBufferPointer<CChar>) throws {
        if sql.count > Int(sqlite3_limit(sqliteConnection, SQLITE_LIMIT_SQL_LENGTH, -1)) {
            let start = String(decoding: sql.prefix(200).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw DatabaseError(
                resultCode: .SQLITE_TOOBIG, message: "statement too long", sql: SQLText.showable(start) + "…")
        }
        if sql.contains(0) {
            throw DatabaseError(
                message: "SQL contains a NUL byte, where SQLite would stop reading: pass such text as an argument",
                sql: SQLText.showable(sql))
        }
    }

    private func compilationError(
        _ code: CInt, _ sql: UnsafeBufferPointer<CChar>, _ compilation: StatementCompilation) -> DatabaseError
    {
        let shown = SQLText.showable(sql)
        if compilation.carriesKey {
            // The message quotes the SQL near the error: the connection must forget it, too.
            sqlite3_exec(sqliteConnection, "", nil, nil, nil)
        }
        if let refusal = authorizer.refusal {
            return refusal.executing(shown)
        }
        if let explanation = parts.explanation(of: code, in: self) {
            return explanation.executing(shown)
        }
        guard compilation.carriesKey else { return DatabaseError(code, on: sqliteConnection, sql: shown) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), sql: shown)
    }

    // MARK: - Running

    /// Runs one or several statements, separated by semicolons.
    ///
    /// Named arguments apply to all statements. Each statement takes its positional arguments from those that are left.
    public func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        requireAccess()
        if let statement = statements.idleStatement(sql) {
            try statement.setArguments(arguments)
            defer { statement.forgetLargeArguments() }
            return try statement.run()
        }
        let all = try allStatements(sql: sql, arguments: arguments)
        var latest: Statement?
        var count = 0
        while let statement = try all.next() {
            try statement.run()
            latest = statement
            count += 1
        }
        if count == 1, let latest {
            latest.forgetLargeArguments()
            remember(latest, for: sql)
        }
    }

    /// Runs the statements of a literal.
    public func execute(literal sqlLiteral: SQL) throws {
        let (sql, arguments) = try sqlLiteral.build(self)
        try execute(sql: sql, arguments: arguments)
    }

    /// Returns a cursor over the statements of `sql`. Each is compiled when the cursor reaches it, and gets its
    /// arguments.
    ///
    /// Without arguments, set those of each statement before it runs.
    public func allStatements(sql: String, arguments: StatementArguments? = nil) throws -> SQLStatementCursor {
        requireAccess()
        return SQLStatementCursor(self, sql: sql, arguments: arguments)
    }

    /// Returns a cursor over the statements of a literal, with their arguments. If it has none, set those of each
    /// statement before it runs.
    public func allStatements(literal sqlLiteral: SQL) throws -> SQLStatementCursor {
        let (sql, arguments) = try sqlLiteral.build(self)
        return try allStatements(sql: sql, arguments: arguments.isEmpty ? nil : arguments)
    }

    // MARK: - Around each run

    /// Refuses a statement that the connection may not run now.
    @inline(__always)
    func willRun(_ statement: Statement) throws {
        if strongroom_stops(connection) != 0 { try stops.refuse(statement) }
        if transactionBlockDepth > 0 || statement.hasEffects { try checkRun(of: statement) }
    }

    private func checkRun(of statement: Statement) throws {
        if transactionBlockDepth > 0 {
            // A program may end the transaction of a snapshot and begin another one, to read a newer state.
            if isAutocommit, !(configuration.readonly && statement.compilation.transaction == .begin) {
                throw statement.error(.aborted)
            }
            transactions.isUntouched = false
        }
        if statement.mayWrite { try checkWrite(statement) }
        if statement.makesDatabases || parts.concerns.contains(statement.hasEffects ? .effects : .reads) {
            try announceRun(of: statement)
        }
        connection.pointee.tripped = false
        if let transaction = statement.compilation.transaction { try stops.begin(statement, transaction) }
        if statement.compilation.attaches { strongroom_set_opening(connection) }
    }

    /// Calls the parts. A query of a part may meet a stop, which rolls back. The statement must not commit by itself
    /// then.
    private func announceRun(of statement: Statement) throws {
        let wasAutocommit = isAutocommit
        for part in parts.all { try part.willRun(statement, in: self) }
        if !wasAutocommit, isAutocommit { throw statement.error(.aborted) }
    }

    private func checkWrite(_ statement: Statement) throws {
        if readOnlyDepth > 0 { throw statement.error(.readOnly) }
        // A transaction that has released its lock can't rely on its former reads.
        if transactions.isReader { throw statement.error(.aborted) }
        // BEGIN IMMEDIATE by itself changes nothing.
        if statement.compilation.transaction == nil { transactions.mayHaveChanges = true }
    }

    /// Updates the state of the connection after a statement, and throws the statement's failure.
    @inline(__always)
    func didRun(_ statement: Statement, failure: DatabaseError?) throws {
        // A failure, even of a read, may have rolled the transaction back.
        if failure != nil || statement.hasEffects && !isMereChange(statement) {
            let undone = drawConsequences(of: statement, isDone: failure == nil)
            if failure == nil, let refusal = undone ?? transactions.takeRefusal() { throw refusal }
        }
        if strongroom_stops(connection) != 0 || failure != nil && connection.pointee.wait_was_stopped {
            try stops.conclude(statement, failure)
        }
        if let failure { throw transactions.takeRefusal() ?? failure }
    }

    /// Returns true if the statement only changed rows inside a transaction that goes on, and no part is concerned.
    private func isMereChange(_ statement: Statement) -> Bool {
        statement.changesRowsOnly && !isAutocommit
            && (!parts.concerns.contains(.effects) || !parts.all.contains { $0.isConcerned(by: statement) })
    }

    /// Calls the parts. Returns the reason why one of them has undone the statement.
    private func drawConsequences(of statement: Statement, isDone: Bool) -> (any Error)? {
        strongroom_commit_ends(connection)
        if statement.compilation.transaction != nil { stops.end() }
        if statement.compilation.attaches { strongroom_set_opening(nil) }
        connection.pointee.tripped = false
        if statement.compilation.changesSchema { removeCachedStatements() }
        var refusal: (any Error)?
        for part in parts.all {
            do { try part.didRun(statement, isDone: isDone, in: self) } catch { refusal = refusal ?? error }
        }
        if isDone, let transaction = statement.compilation.transaction { transactions.followSavepoint(transaction) }
        followTransaction()
        return refusal
    }

    func removeCachedStatements() {
        statements.removeAll()
        lentStatements.removeAll()
    }

    // MARK: - SQL without secrets

    /// Returns the statement's SQL for errors and traces: without keys.
    func showable(_ statement: Statement) -> String {
        let shown = SQLText.showable(statement.sql)
        return statement.compilation.carriesKey && shown == statement.sql ? "PRAGMA key = '…'" : shown
    }
}

import CSQLCipher
import CStrongroom

// Compiling and running SQL.

extension Database {
    // MARK: - Compiling

    /// A new prepared statement. Throws when `sql` has none, or more than one.
    public func makeStatement(sql: String) throws -> Statement {
        let (statement, isWhole) = try compile(whole: sql)
        guard isWhole else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "Multiple statements found. To run several statements, use Database.execute(sql:) or allStatements(sql:).",
                sql: showable(sql))
        }
        return statement
    }

    /// A new prepared statement, with the arguments of the literal.
    public func makeStatement(literal sqlLiteral: SQL) throws -> Statement {
        let (sql, arguments) = try sqlLiteral.build(self)
        let statement = try makeStatement(sql: sql)
        try statement.setArguments(arguments)
        return statement
    }

    /// The prepared statement of that SQL, one and the same for each call.
    ///
    /// Don't use it for two cursors at once.
    public func cachedStatement(sql: String) throws -> Statement {
        requireAccess()
        if let statement = statements.statement(sql) { return statement }
        let statement = try makeStatement(sql: sql)
        remember(statement, for: sql)
        return statement
    }

    /// The prepared statement of that literal's SQL, with its arguments.
    public func cachedStatement(literal sqlLiteral: SQL) throws -> Statement {
        let (sql, arguments) = try sqlLiteral.build(self)
        let statement = try cachedStatement(sql: sql)
        try statement.setArguments(arguments)
        return statement
    }

    /// A prepared statement that no run uses: from the cache if it can be.
    @usableFromInline
    func reusableStatement(sql: String) throws -> Statement {
        requireAccess()
        guard let statement = statements.statement(sql) else {
            let statement = try makeStatement(sql: sql)
            remember(statement, for: sql)
            return statement
        }
        return statement.currentRun == nil ? statement : try makeStatement(sql: sql)
    }

    private func remember(_ statement: Statement, for sql: String) {
        if !statement.compilation.changesSchema, !statement.compilation.carriesKey {
            statements.insert(statement, for: sql)
        }
    }

    /// The first statement in `sql`, and whether nothing but space and comments follow.
    private func compile(whole sql: String) throws -> (statement: Statement, isWhole: Bool) {
        requireAccess()
        var text = sql
        return try text.withUTF8 { bytes in
            try bytes.withMemoryRebound(to: CChar.self) { characters in
                var rest = characters
                guard let statement = try compileNext(&rest) else {
                    throw DatabaseError(resultCode: .SQLITE_ERROR, message: "empty statement", sql: showable(sql))
                }
                return (statement, try compileNext(&rest) == nil)
            }
        }
    }

    /// Compiles the first statement of `rest`, and moves past it; nil when there is none.
    func compileNext(_ rest: inout UnsafeBufferPointer<CChar>) throws -> Statement? {
        let connection = try openConnection
        while !rest.isEmpty {
            if cipher.isPending { try settleKey(unlessSetUpBy: rest) }
            var pointer: SQLiteStatement?
            var tail: UnsafePointer<CChar>?
            var code = SQLITE_OK
            let compilation = compiler.observing {
                code = sqlite3_prepare_v3(connection, rest.baseAddress, CInt(rest.count), 0, &pointer, &tail)
            }
            guard code == SQLITE_OK else {
                if let refusal = compiler.refusal { throw refusal }
                let sql = String(decoding: rest.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                throw DatabaseError(code, on: connection, sql: compilation.carriesKey ? nil : showable(sql))
            }
            let consumed = tail.map { $0 - rest.baseAddress! } ?? rest.count
            rest = UnsafeBufferPointer(rebasing: rest.dropFirst(max(consumed, 1)))
            // Nothing was compiled where there was only space or a comment.
            if let pointer { return Statement(sqliteStatement: pointer, database: self, compilation: compilation) }
        }
        return nil
    }

    // MARK: - Running

    /// Runs one or several statements, separated by semicolons.
    ///
    /// Named arguments serve all statements, positional ones are used up from one statement to the next.
    public func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        requireAccess()
        if let statement = statements.statement(sql), statement.currentRun == nil {
            try statement.setArguments(arguments)
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
        if count == 1, let latest { remember(latest, for: sql) }
    }

    /// Runs the statements of a literal.
    public func execute(literal sqlLiteral: SQL) throws {
        let (sql, arguments) = try sqlLiteral.build(self)
        try execute(sql: sql, arguments: arguments)
    }

    /// A cursor on the statements of `sql`, each compiled when it is asked for, with its share of the arguments.
    ///
    /// Without arguments, the statements are to be given theirs.
    public func allStatements(sql: String, arguments: StatementArguments? = nil) throws -> SQLStatementCursor {
        requireAccess()
        return SQLStatementCursor(self, sql: sql, arguments: arguments)
    }

    /// A cursor on the statements of a literal, with their arguments.
    public func allStatements(literal sqlLiteral: SQL) throws -> SQLStatementCursor {
        let (sql, arguments) = try sqlLiteral.build(self)
        return try allStatements(sql: sql, arguments: arguments)
    }

    // MARK: - Around each run

    /// Refuses what the connection may not do now.
    @inline(__always)
    func willRun(_ statement: Statement) throws {
        if transactionBlockDepth > 0 || statement.hasEffects { try checkRun(of: statement) }
    }

    private func checkRun(of statement: Statement) throws {
        if transactionBlockDepth > 0, sqlite3_get_autocommit(sqliteConnection) != 0,
           statement.compilation.transaction != .rollback
        {
            throw statement.error(DatabaseError(resultCode: .SQLITE_ABORT, message: "Transaction was aborted"))
        }
        if readOnlyDepth > 0, !statement.isReadonly {
            throw statement.error(DatabaseError(
                resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database"))
        }
    }

    /// Draws the consequences of a run, and throws its failure.
    @inline(__always)
    func didRun(_ statement: Statement, failure: DatabaseError?) throws {
        if statement.hasEffects { try drawConsequences(of: statement, failure: failure) }
        if let failure { throw failure }
    }

    private func drawConsequences(of statement: Statement, failure: DatabaseError?) throws {
        if statement.compilation.changesSchema { statements.removeAll() }
        if transactionDateIfKnown != nil, sqlite3_get_autocommit(sqliteConnection) != 0 { transactionDateIfKnown = nil }
    }

    // MARK: - What may be shown

    /// The statement's SQL, unless it carries a key.
    func showable(_ statement: Statement) -> String {
        statement.compilation.carriesKey ? "PRAGMA key = '…'" : showable(statement.sql)
    }

    /// The SQL as errors and traces may show it.
    func showable(_ sql: String) -> String {
        sql.trimmingSQL()
    }
}

/// The statements of an SQL string, one after the other.
public class SQLStatementCursor: Cursor {
    private let database: Database
    private let utf8: ContiguousArray<CChar>
    private var offset = 0
    private var arguments: StatementArguments?
    private let positionalCount: Int

    init(_ database: Database, sql: String, arguments: StatementArguments?) {
        self.database = database
        self.utf8 = ContiguousArray(sql.utf8CString)
        self.arguments = arguments
        self.positionalCount = arguments?.values.count ?? 0
    }

    /// The next statement, ready to run if arguments were given. After the last one, throws when arguments are left over.
    public func next() throws -> Statement? {
        database.requireAccess()
        let statement: Statement?
        do {
            statement = try utf8.withUnsafeBufferPointer { characters in
                // Without the terminating NUL.
                var rest = UnsafeBufferPointer(rebasing: characters[offset..<max(offset, characters.count - 1)])
                let statement = try database.compileNext(&rest)
                offset = characters.count - 1 - rest.count
                return statement
            }
        } catch {
            offset = utf8.count
            throw error
        }
        guard let statement else {
            try arguments?.requireAllTaken(of: positionalCount)
            return nil
        }
        if arguments != nil { try statement.takeArguments(from: &arguments!) }
        return statement
    }
}

extension String {
    /// SQL without the space and the semicolons around it.
    func trimmingSQL() -> String {
        func isSeparator(_ character: Character) -> Bool { character.isWhitespace || character == ";" }
        guard let first = firstIndex(where: { !isSeparator($0) }),
              let last = lastIndex(where: { !isSeparator($0) })
        else { return "" }
        return String(self[first...last])
    }
}

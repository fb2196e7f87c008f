import CSQLCipher

/// The compiler of one connection's statements.
struct StatementCompiler {
    let database: Database

    private var stops: Stops { database.stops }

    /// Returns the first statement in `sql`, and true if only space and comments follow it.
    func compile(whole sql: String) throws -> (statement: Statement, isWhole: Bool) {
        database.requireAccess()
        var text = sql
        return try text.withUTF8 { bytes in
            try bytes.withMemoryRebound(to: CChar.self) { characters in
                var rest = characters
                guard let statement = try next(&rest) else {
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
    func next(_ rest: inout UnsafeBufferPointer<CChar>) throws -> Statement? {
        while !rest.isEmpty {
            let text = SQLText(first: rest)
            for part in database.parts.all { try part.willCompile(text, in: database) }
            var length = text.length
            let sql = UnsafeBufferPointer(rebasing: rest.prefix(length))
            let statement = text.isBlank ? nil : try compile(sql, text, consumed: &length)
            rest = UnsafeBufferPointer(rebasing: rest.dropFirst(length))
            if let statement { return statement }
        }
        return nil
    }

    private func compile(
        _ sql: UnsafeBufferPointer<CChar>, _ text: SQLText, consumed: inout Int
    ) throws -> Statement? {
        let connection = try RawConnection(database.openConnection)
        if let restriction = database.authorizer.restriction {
            try sql.withMemoryRebound(to: UInt8.self) { try restriction.willCompile($0) }
        }
        try checkText(sql)
        var pointer: SQLiteStatement?
        var tail: UnsafePointer<CChar>?
        var code = SQLITE_OK
        func prepare() { code = connection.prepare(sql, &pointer, rest: &tail) }
        var compilation = stops.compiling { database.authorizer.observing(prepare) }
        if code == SQLITE_INTERRUPT {
            // The compiler is interrupted too while an interrupted cursor is alive. A statement that undoes must
            // compile.
            compilation = stops.undoing { database.authorizer.observing(prepare) }
            guard stops.passes(compilation.transaction) else {
                RawStatement.finalize(pointer)
                let explanation = database.parts.explanation(of: code, in: database)
                throw (explanation ?? DatabaseError(resultCode: .SQLITE_INTERRUPT, message: "interrupted"))
                    .executing(SQLText.showable(sql))
            }
        }
        if text.secret != nil { compilation.carriesKey = true }
        compilation.vacuumedSchema = text.isVacuum ? text.copiedSchema ?? "" : nil
        guard code == SQLITE_OK else { return try stops.waiting { throw error(code, sql, compilation) } }
        if let tail, let start = sql.baseAddress { consumed = max(1, tail - start) }
        let statement = pointer.map { Statement(sqliteStatement: $0, database: database, compilation: compilation) }
        database.figures.count(.compiledStatements)
        for part in database.parts.all { try part.didCompile(compilation, in: database) }
        return statement
    }

    /// Returns the compiler's current result for a statement. Nil if it doesn't compile any more.
    func compilation(of sql: String) -> StatementCompilation? {
        var pointer: SQLiteStatement?
        var code = SQLITE_OK
        let compilation = database.authorizer.observing {
            code = RawConnection(database.sqliteConnection).prepare(sql, &pointer)
        }
        RawStatement.finalize(pointer)
        return code == SQLITE_OK ? compilation : nil
    }

    /// Refuses text that SQLite would truncate, and text that it would refuse after copying it.
    private func checkText(_ sql: UnsafeBufferPointer<CChar>) throws {
        if sql.count > RawConnection(database.sqliteConnection).limit(SQLITE_LIMIT_SQL_LENGTH) {
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

    private func error(
        _ code: CInt, _ sql: UnsafeBufferPointer<CChar>, _ compilation: StatementCompilation
    ) -> DatabaseError {
        let shown = SQLText.showable(sql)
        if compilation.carriesKey {
            // The message quotes the SQL near the error: the connection must forget it, too.
            _ = RawConnection(database.sqliteConnection).execute("")
        }
        if let refusal = database.authorizer.refusal {
            return refusal.executing(shown)
        }
        if let explanation = database.parts.explanation(of: code, in: database) {
            return explanation.executing(shown)
        }
        guard compilation.carriesKey else { return DatabaseError(code, on: database.sqliteConnection, sql: shown) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), sql: shown)
    }
}

extension Database {
    var compiler: StatementCompiler { StatementCompiler(database: self) }
}

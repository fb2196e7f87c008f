/// A cursor over the statements of an SQL string.
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

    /// The error that ended the cursor.
    private var failure: (any Error)?

    /// Returns the next statement, ready to run if it has arguments. Throws at the last statement if positional
    /// arguments are left.
    ///
    /// After an error, each call throws it again.
    public func next() throws -> Statement? {
        database.requireAccess()
        if let failure { throw failure }
        do {
            return try nextStatement()
        } catch {
            failure = error
            throw error
        }
    }

    private func nextStatement() throws -> Statement? {
        guard let (statement, isLast) = try compileNext() else {
            try arguments?.requireAllTaken(of: positionalCount)
            return nil
        }
        guard arguments != nil else { return statement }
        try statement.takeArguments(from: &arguments!)
        // Before the last statement runs, and not after.
        if isLast { try arguments!.requireAllTaken(of: positionalCount) }
        return statement
    }

    private func compileNext() throws -> (Statement, isLast: Bool)? {
        try utf8.withUnsafeBufferPointer { characters in
            // Without the terminating NUL.
            let end = characters.count - 1
            var rest = UnsafeBufferPointer(rebasing: characters[offset..<end])
            offset = end
            guard let statement = try database.compiler.next(&rest) else { return nil }
            offset = end - rest.count
            return (statement, SQLText.isBlank(rest))
        }
    }
}

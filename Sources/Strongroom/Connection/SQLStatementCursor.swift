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
                var rest = UnsafeBufferPointer(rebasing: characters[offset..<Swift.max(offset, characters.count - 1)])
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

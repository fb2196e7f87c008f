/// The statements that begin and end transactions, prepared once per connection.
final class TransactionStatements {
    enum Command: Int, CaseIterable {
        case beginDeferred, beginImmediate, beginExclusive, commit, rollback
        case savepoint, release, rollbackToSavepoint
        case takeSnapshot

        // The SQL is GRDB's, including the name of savepoints, for programs that look at the SQL of their transactions.
        var sql: String {
            switch self {
            case .beginDeferred: "BEGIN DEFERRED TRANSACTION"
            case .beginImmediate: "BEGIN IMMEDIATE TRANSACTION"
            case .beginExclusive: "BEGIN EXCLUSIVE TRANSACTION"
            case .commit: "COMMIT TRANSACTION"
            case .rollback: "ROLLBACK TRANSACTION"
            case .savepoint: "SAVEPOINT grdb"
            case .release: "RELEASE SAVEPOINT grdb"
            case .rollbackToSavepoint: "ROLLBACK TRANSACTION TO SAVEPOINT grdb"
            case .takeSnapshot: "PRAGMA main.data_version"
            }
        }
    }

    // Unchecked exclusivity: see <doc:Layers>.
    @exclusivity(unchecked) private var statements = [Statement?](repeating: nil, count: Command.allCases.count)

    /// Runs a statement, which is prepared if it isn't yet.
    func run(_ command: Command, on database: Database) throws {
        try statement(for: command, of: database).run()
    }

    /// Prepares a statement, unless it is prepared.
    func prepare(_ command: Command, of database: Database) throws {
        if statements[command.rawValue] == nil { _ = try statement(for: command, of: database) }
    }

    func statement(for command: Command, of database: Database) throws -> Statement {
        if let statement = statements[command.rawValue] { return statement }
        let statement = try database.makeStatement(sql: command.sql)
        statements[command.rawValue] = statement
        return statement
    }

    func removeAll() {
        statements = statements.map { _ in nil }
    }
}

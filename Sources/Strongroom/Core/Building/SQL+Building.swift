// SQL for a connection: its text depends on the schema.

extension Database: SQLDestination {}

extension SQLDestination {
    /// The connection, which is the only type of destination.
    var database: Database { unsafeDowncast(self, to: Database.self) }
}

extension SQLWriter {
    /// Creates a writer of SQL for a connection.
    init(_ db: Database) {
        self.init(destination: db)
    }

    /// The connection of the SQL.
    var db: Database { destination.database }
}

extension SQL {
    /// Returns the text and the arguments for a connection.
    public func build(_ db: Database) throws -> (sql: String, arguments: StatementArguments) {
        var writer = SQLWriter(db)
        try write(to: &writer)
        return (writer.sql, writer.arguments)
    }
}

import Strongroom
import Testing

/// Returns the value that SQLite stores when a value is bound.
func stored(_ value: some DatabaseValueConvertible) throws -> DatabaseValue {
    try withEncryptedQueue { queue in
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (value)")
            let statement = try db.makeStatement(sql: "INSERT INTO t VALUES (?)")
            // Arguments are asked for; then the value itself takes their place.
            try statement.setArguments([nil])
            #expect(value.bind(to: statement.sqliteStatement, at: 1) == 0)
            try statement.execute()
            return try DatabaseValue.fetchOne(db, sql: "SELECT value FROM t") ?? .null
        }
    }
}

/// The value of an SQL expression, read straight from the column.
func read<Value: DatabaseValueConvertible & StatementColumnConvertible>(
    _ type: Value.Type = Value.self, _ sql: String, arguments: StatementArguments = []
) throws -> Value? {
    try withEncryptedQueue { queue in
        try queue.read { try Value.fetchOne($0, sql: "SELECT \(sql)", arguments: arguments) }
    }
}

/// The values of SQL expressions, each read from the column and from its database value; nil where there is none, or
/// where it can't be converted.
func readBothWays<Value: DatabaseValueConvertible & StatementColumnConvertible>(
    _ type: Value.Type, _ expressions: [String]
) throws -> [(sql: String, fast: Value?, slow: Value?)] {
    try withEncryptedQueue { queue in
        try queue.read { db in
            try expressions.map { sql in
                let row = try #require(try Row.fetchOne(db, sql: "SELECT \(sql)"))
                let fast = try? Value.fetchOne(db, sql: "SELECT \(sql)")
                return (sql, fast, Value.fromDatabaseValue(row[row.startIndex].1))
            }
        }
    }
}

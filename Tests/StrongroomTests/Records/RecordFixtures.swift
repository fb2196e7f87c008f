import Foundation
import Strongroom

struct Player: Codable, Hashable, Identifiable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var name: String
    var score: Int?

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let score = Column(CodingKeys.score)
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

/// Has two columns in its key, and a conflict policy.
struct Place: Codable, Hashable, FetchableRecord, PersistableRecord {
    var country: String
    var code: Int
    var name: String?

    static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .ignore, update: .replace)
}

/// Has no declared key.
struct Note: Codable, Hashable, FetchableRecord, PersistableRecord {
    var text: String
}

/// A connection to a new encrypted database with the tables of these records.
func withRecords<T>(_ body: (Database) throws -> T) throws -> T {
    try withDatabase { db throws in
        try db.execute(
            sql: """
                CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER);
                CREATE TABLE place (country TEXT, code INTEGER, name TEXT, PRIMARY KEY (country, code)) WITHOUT ROWID;
                CREATE TABLE note (text TEXT);
                """)
        return try body(db)
    }
}

/// The rows of a new table after `save`.
func savedRows(of table: String, _ columns: String, _ save: (Database) throws -> Void) throws -> [[DatabaseValue]] {
    try QueueFixture().queue.write { db in
        try db.execute(sql: "CREATE TABLE \(table) (\(columns))")
        try save(db)
        return try Row.fetchAll(db, sql: "SELECT * FROM \(table) ORDER BY rowid").map { Array($0.databaseValues) }
    }
}

/// The SQL that runs while `body` does, but for what looks at the schema.
func statements(_ db: Database, _ body: () throws -> Void) rethrows -> [String] {
    var statements: [String] = []
    db.trace { event in
        guard case .statement(let statement) = event else { return }
        if !statement.sql.hasPrefix("PRAGMA"), !statement.sql.contains("sqlite_master") {
            statements.append(statement.sql)
        }
    }
    defer { db.trace(nil) }
    try body()
    return statements
}

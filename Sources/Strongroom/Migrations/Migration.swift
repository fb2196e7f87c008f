/// A step from one schema to the next.
struct Migration: Sendable {
    enum ForeignKeyChecks: Sendable {
        case deferred, immediate, none
    }

    let identifier: String
    let mergedIdentifiers: Set<String>
    let foreignKeyChecks: ForeignKeyChecks
    let migrate: @Sendable (Database, Set<String>) throws -> Void

    /// Runs the migration in a transaction, unless it has run, perhaps in another process.
    func run(_ db: Database) throws {
        guard foreignKeyChecks != .immediate, try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true else {
            return try runInTransaction(db)
        }
        // Inside of a transaction, the pragma does nothing.
        try db.execute(sql: "PRAGMA foreign_keys = OFF")
        do {
            try runInTransaction(db, checks: foreignKeyChecks == .deferred)
        } catch {
            // The first error is the one to throw.
            try? db.execute(sql: "PRAGMA foreign_keys = ON")
            throw error
        }
        try db.execute(sql: "PRAGMA foreign_keys = ON")
    }

    private func runInTransaction(_ db: Database, checks: Bool = false) throws {
        try db.inTransaction(.immediate) {
            let applied = try MigrationHistory.identifiers(db)
            if applied.contains(identifier) { return .rollback }
            try MigrationHistory.create(db)
            try migrate(db, mergedIdentifiers.intersection(applied))
            try MigrationHistory.forget(mergedIdentifiers, db)
            try MigrationHistory.add(identifier, db)
            if checks { try db.checkForeignKeys() }
            return .commit
        }
    }
}

/// The table of the migrations that have run. It is GRDB's, so that databases can change between the libraries.
enum MigrationHistory {
    private static let table = "grdb_migrations"

    static func create(_ db: Database) throws {
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS \(table) (identifier TEXT NOT NULL PRIMARY KEY)")
    }

    static func identifiers(_ db: Database) throws -> Set<String> {
        guard try db.tableExists(table, in: "main") else { return [] }
        return try String.fetchSet(db, sql: "SELECT identifier FROM main.\(table)")
    }

    static func forget(_ identifiers: Set<String>, _ db: Database) throws {
        // Those that only look like the merged ones are merged, too: a program is compiled from text.
        let stored = try String.fetchAll(db, sql: "SELECT identifier FROM main.\(table) ORDER BY identifier")
        for identifier in stored where identifiers.contains(identifier) {
            try db.execute(sql: "DELETE FROM main.\(table) WHERE identifier = ?", arguments: [identifier])
        }
    }

    static func add(_ identifier: String, _ db: Database) throws {
        try db.execute(sql: "INSERT INTO main.\(table) (identifier) VALUES (?)", arguments: [identifier])
    }
}

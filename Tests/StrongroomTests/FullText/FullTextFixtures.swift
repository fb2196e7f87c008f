import Strongroom

struct Document: Codable, Equatable, FetchableRecord, PersistableRecord {
    var title: String
    var body: String
}

/// The SQL that made a table, or a trigger.
func definition(_ db: Database, _ name: String) throws -> String? {
    try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [name])
}

/// The rowids that match a pattern.
func matches(_ db: Database, _ pattern: String, in table: String = "document") throws -> [Int] {
    try Int.fetchAll(db, sql: "SELECT rowid FROM \(table) WHERE \(table) MATCH ? ORDER BY rowid", arguments: [pattern])
}

/// Three documents in an FTS table of any kind.
func insertDocuments(_ db: Database) throws {
    try Document(title: "Moby Dick", body: "Call me Ishmael").insert(db)
    try Document(title: "Walden", body: "I went to the woods").insert(db)
    try Document(title: "Ishmael Returns", body: "Moby the second").insert(db)
}

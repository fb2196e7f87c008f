import Foundation
import Strongroom
import Testing

/// A connection to an encrypted database that begins with `sql`. Foreign keys are declared, not enforced.
func withSchema<T>(_ sql: String, _ body: (Database) throws -> T) throws -> T {
    var configuration = Configuration.encrypted()
    configuration.foreignKeysEnabled = false
    return try withEncryptedQueue(configuration) { queue in
        try queue.writeWithoutTransaction { (db) throws in
            try db.execute(sql: sql)
            return try body(db)
        }
    }
}

/// Expects an `SQLITE_ERROR` with that message.
func expectError(
    _ message: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> some Any
) throws {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.message == message, sourceLocation: sourceLocation)
    #expect(error?.resultCode == .SQLITE_ERROR, sourceLocation: sourceLocation)
}

extension ColumnInfo {
    var summary: String {
        "\(name) \(type.isEmpty ? "-" : type)\(isNotNull ? " not null" : "")\(defaultValueSQL.map { " = \($0)" } ?? "")"
            + (primaryKeyIndex > 0 ? " pk\(primaryKeyIndex)" : "")
    }
}

extension IndexInfo {
    var summary: String { "\(name)(\(columns.joined(separator: ","))) \(origin.rawValue)\(isUnique ? " unique" : "")" }
}

extension PrimaryKeyInfo {
    var summary: String { "\(columns.joined(separator: ",")) \(isRowID) \(rowIDColumn ?? "-")" }
}

extension ForeignKeyInfo {
    var summary: String {
        let (origin, destination) = (originColumns.joined(separator: ","), destinationColumns.joined(separator: ","))
        return "\(id): (\(origin)) -> \(destinationTable)(\(destination))"
    }
}

/// The statements that change the schema, as SQLite keeps them, in the order of their creation.
func createdSchema(_ build: (Database) throws -> Void) throws -> [String] {
    try withDatabase { (db) throws in
        let former = try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").count
        try build(db)
        return Array(
            try String.fetchAll(
                db,
                sql: """
                    SELECT sql FROM (SELECT rowid AS n, sql FROM sqlite_master UNION ALL SELECT rowid, sql \
                    FROM sqlite_temp_master) \
                    WHERE sql IS NOT NULL ORDER BY n
                    """
            ).dropFirst(former))
    }
}

/// Tables to refer to.
func createDestinations(_ db: Database) throws {
    try db.create(table: "team") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text)
    }
    try db.create(table: "country") { t in
        t.primaryKey("code", .text)
        t.column("name", .text)
    }
    try db.create(table: "duo") { t in
        t.primaryKey(["a", "b"])
        t.column("a", .integer)
        t.column("b", .text)
    }
    try db.create(table: "plain") { t in t.column("x") }
}

/// The statements of one table that refers to the others.
func createdSchema(referring name: String, _ body: (TableDefinition) throws -> Void) throws -> [String] {
    Array(
        try createdSchema { (db) throws in
            try createDestinations(db)
            try db.create(table: name, body: body)
        }.dropFirst(5))
}

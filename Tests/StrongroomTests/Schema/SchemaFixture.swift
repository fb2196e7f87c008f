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
    _ message: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> some Any) throws
{
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
        "\(id): (\(originColumns.joined(separator: ","))) -> \(destinationTable)(\(destinationColumns.joined(separator: ",")))"
    }
}

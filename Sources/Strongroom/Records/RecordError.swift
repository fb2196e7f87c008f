/// An error of a record operation.
public enum RecordError: Error, Sendable {
    /// The table has no row with this key.
    case recordNotFound(databaseTableName: String, key: [String: DatabaseValue])
}

extension RecordError: CustomStringConvertible {
    /// The table and the key, in words.
    public var description: String {
        switch self {
        case .recordNotFound(let tableName, let key):
            let columns = key.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: " ")
            return "Key not found in table \(tableName): [\(columns)]"
        }
    }
}

extension TableRecord {
    // MARK: - What is thrown when a record is not found

    /// Returns the error for a missing row, by a unique key.
    public static func recordNotFound(key: [String: (any DatabaseValueConvertible)?]) -> RecordError {
        let record = Self.self as? any EncodableRecord.Type
        var stored: [String: DatabaseValue] = [:]
        for (column, value) in key {
            // A value that can't be stored is shown itself.
            stored[column] =
                (try? value.map { KeyValue($0) }?.stored(in: column, by: record)) ?? value?.databaseValue
                ?? .null
        }
        return .recordNotFound(databaseTableName: databaseTableName, key: stored)
    }

    /// Returns the error for a missing row, by its primary key, or the error of reading the primary key of the table.
    public static func recordNotFound(_ db: Database, key: some DatabaseValueConvertible) -> any Error {
        do {
            return try recordNotFound(key: [db.singleKeyColumn(ofTable: databaseTableName): key])
        } catch {
            return error
        }
    }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// Returns the error for a missing row, by its id, or the error of reading the primary key of the table.
    public static func recordNotFound(_ db: Database, id: ID) -> any Error {
        recordNotFound(db, key: id)
    }
}

extension TableRecord where Self: EncodableRecord {
    /// Returns the error for a missing row of the record, or the error of reading the primary key of the table.
    public func recordNotFound(_ db: Database) -> any Error {
        do {
            let container = try PersistenceContainer(self)
            let columns = try db.primaryKey(Self.databaseTableName).columns
            let values = columns.map { ($0, container.value(of: $0) ?? .null) }
            return RecordError.recordNotFound(
                databaseTableName: Self.databaseTableName, key: Dictionary(values, uniquingKeysWith: { $1 }))
        } catch {
            return error
        }
    }
}

/// The former name of ``RecordError``.
@available(*, deprecated, renamed: "RecordError")
public typealias PersistenceError = RecordError

import Foundation

/// A record that reads and sets its columns by their positions. The macro `@DatabaseRecord` writes all of it.
public protocol GeneratedRecord {
    /// The columns of the record, those of its parts included. A constant, because it is compared by its identity.
    static var databaseColumns: RecordColumns { get }

    /// Creates a record from a row.
    init(columns: RecordRow) throws

    /// Sets the columns of the record. Those that it doesn't set are NULL.
    func encode(to values: RecordValues) throws
}

extension RecordColumns {
    /// Returns the names of the columns with a prefix.
    public func names(prefixedBy prefix: String) -> [String] { names.map { prefix + $0 } }
}

extension RecordRow {
    /// Returns a part of a record, from the columns that begin at a place.
    public func part<Part: GeneratedRecord>(from place: Int) throws -> Part {
        try Part(columns: part(from: place, count: Part.databaseColumns.names.count))
    }

    /// Returns a part of a record, from the columns that begin at a place. Nil if all of them are NULL or missing.
    public func part<Part: GeneratedRecord>(from place: Int) throws -> Part? {
        let columns = part(from: place, count: Part.databaseColumns.names.count)
        return columns.containsNonNullValue ? try Part(columns: columns) : nil
    }

    /// Returns the date of a column, as a strategy reads it.
    public func date(_ place: Int, _ strategy: DatabaseDateDecodingStrategy) throws -> Date {
        let found: Date? = try date(place, strategy)
        if let found { return found }
        guard let index = index(place) else { throw missingColumn(place) }
        throw row.conversionError(Date.self, at: index)
    }

    /// Returns the date of a column, as a strategy reads it. Nil for NULL, and if the row doesn't have the column.
    public func date(_ place: Int, _ strategy: DatabaseDateDecodingStrategy) throws -> Date? {
        guard let value = databaseValue(place), !value.isNull else { return nil }
        guard let date = strategy.date(value) else { throw row.conversionError(Date.self, at: index(place)!) }
        return date
    }

    /// Returns the value that a column stores as JSON. NULL, and a missing column, are nil if the type is an optional,
    /// and otherwise an error.
    public func json<Value: Decodable>(_ place: Int, _ decoder: JSONDecoder) throws -> Value {
        guard let value = databaseValue(place), !value.isNull else {
            if let none = Value.self as? any ExpressibleByNilLiteral.Type { return none.init(nilLiteral: ()) as! Value }
            guard let index = index(place) else { throw missingColumn(place) }
            throw row.conversionError(Value.self, at: index)
        }
        // A number is JSON, too.
        return try decoder.decode(Value.self, from: Data.fromDatabaseValue(value) ?? Data(value.description.utf8))
    }
}

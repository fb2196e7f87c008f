import Foundation

/// A value that rows are searched by. Its form in a column depends on the record type, which has
/// strategies for dates, data and UUIDs.
enum KeyValue: Sendable {
    case value(DatabaseValue)
    case date(Date)
    case data(Data)
    case uuid(UUID)

    init<Value: DatabaseValueConvertible>(_ key: Value) {
        let value = key.databaseValue
        self =
            switch value.storage {
            // The most frequent keys need no cast.
            case .null, .int64, .double: .value(value)
            case .string where Value.self == String.self: .value(value)
            case .string, .blob:
                // Optionals included.
                switch key {
                case let date as Date: .date(date)
                case let data as Data: .data(data)
                case let uuid as UUID: .uuid(uuid)
                default: .value(value)
                }
            }
    }

    /// True if all records store the value in the same way.
    var isPlain: Bool {
        if case .value = self { true } else { false }
    }

    var isNull: Bool {
        if case .value(let value) = self { value.isNull } else { false }
    }

    /// Returns the value as `record` stores it.
    ///
    /// - parameter record: the record type of the rows; nil if they are not saved as records.
    /// - throws: `EncodingError` if the record type can't store the value.
    func stored(in column: String, by record: (any EncodableRecord.Type)?) throws -> DatabaseValue {
        switch self {
        case .value(let value): value
        case .date(let date):
            record?.databaseDateEncodingStrategy(for: column).databaseValue(date)
                ?? date.databaseValue
        case .data(let data):
            try record?.databaseDataEncodingStrategy(for: column).databaseValue(data)
                ?? data.databaseValue
        case .uuid(let uuid):
            record?.databaseUUIDEncodingStrategy(for: column).databaseValue(uuid)
                ?? uuid.databaseValue
        }
    }
}

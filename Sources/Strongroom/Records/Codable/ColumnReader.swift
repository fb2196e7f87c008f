import Foundation

/// Reads properties of one type from one column.
class AnyColumnReader {
    /// The type of the property.
    let type: ObjectIdentifier

    init(_ type: Any.Type) {
        self.type = ObjectIdentifier(type)
    }
}

class ColumnReader<T: Decodable>: AnyColumnReader {
    /// Returns the value of the column; throws when it is NULL, unless `T` is an optional.
    func read(_ row: Row, at index: Int) throws -> T {
        fatalError("A subclass must override read(_:at:).")
    }

    /// Returns the reader for a column by a record's strategies.
    static func make(record: (any FetchableRecord.Type)?, column: String) -> ColumnReader<T> {
        let reader: AnyColumnReader
        if let strategic = byStrategy(record, column) {
            reader = strategic
        } else if let type = T.self as? any (DatabaseValueConvertible & StatementColumnConvertible & Decodable).Type {
            reader = direct(type)
        } else if let type = T.self as? any (DatabaseValueConvertible & Decodable).Type {
            reader = converting(type)
        } else {
            reader = CodableReader<T>(record: record, column: column)
        }
        // The same type: each branch makes a reader of T.
        return unsafeDowncast(reader, to: ColumnReader<T>.self)
    }

    /// Returns the reader for a type with a strategy of the record's, and for optionals of it. Nil for others.
    fileprivate static func byStrategy(_ record: (any FetchableRecord.Type)?, _ column: String) -> AnyColumnReader? {
        guard let record else { return nil }
        if T.self == Date.self {
            let strategy = record.databaseDateDecodingStrategy(for: column)
            return strategy.isDefault ? nil : StrategyReader<Date> { strategy.date($0) }
        }
        if T.self == Data.self {
            let strategy = record.databaseDataDecodingStrategy(for: column)
            return strategy.isDefault ? nil : StrategyReader<Data> { strategy.data($0) }
        }
        return (T.self as? any OptionalProperty.Type)?.readerByStrategy(record, column)
    }

    private static func direct<V: DatabaseValueConvertible & StatementColumnConvertible & Decodable>(
        _ type: V.Type
    ) -> AnyColumnReader {
        StraightReader<V>()
    }

    private static func converting<V: DatabaseValueConvertible & Decodable>(_ type: V.Type) -> AnyColumnReader {
        ConvertingReader<V>()
    }
}

/// Reads straight from the statement.
private final class StraightReader<V>: ColumnReader<V>
where V: DatabaseValueConvertible & StatementColumnConvertible & Decodable {
    init() { super.init(V.self) }

    override func read(_ row: Row, at index: Int) throws -> V {
        row.requireAccess()
        guard row.mapping == nil, let statement = row.sqliteStatement else { return try row.value(at: index) }
        return try V._value(statement, at: CInt(truncatingIfNeeded: index)) { row.conversionError(V.self, at: index) }
    }
}

/// Reads through a database value.
private final class ConvertingReader<V: DatabaseValueConvertible & Decodable>: ColumnReader<V> {
    init() { super.init(V.self) }

    override func read(_ row: Row, at index: Int) throws -> V {
        row.requireAccess()
        guard row.mapping == nil, let statement = row.sqliteStatement else {
            return try row.decode(V.self, atIndex: index)
        }
        return try V._value(statement, at: CInt(truncatingIfNeeded: index)) { row.conversionError(V.self, at: index) }
    }
}

/// Reads what a record's strategy makes of a database value.
private final class StrategyReader<V: Decodable>: ColumnReader<V> {
    private let convert: (DatabaseValue) -> V?

    init(_ convert: @escaping (DatabaseValue) -> V?) {
        self.convert = convert
        super.init(V.self)
    }

    override func read(_ row: Row, at index: Int) throws -> V {
        guard let value = convert(row.databaseValue(at: index)) else { throw row.conversionError(V.self, at: index) }
        return value
    }
}

/// The type of a property that may be NULL.
private protocol OptionalProperty {
    static func readerByStrategy(_ record: any FetchableRecord.Type, _ column: String) -> AnyColumnReader?
}

extension Optional: OptionalProperty where Wrapped: Decodable {
    fileprivate static func readerByStrategy(
        _ record: any FetchableRecord.Type, _ column: String
    ) -> AnyColumnReader? {
        ColumnReader<Wrapped>.byStrategy(record, column).map { wrapped in
            // The same type: the reader was made for it.
            OptionalReader(unsafeDowncast(wrapped, to: ColumnReader<Wrapped>.self))
        }
    }
}

/// Reads NULL as nil, and other values with the reader of the wrapped type.
private final class OptionalReader<Wrapped: Decodable>: ColumnReader<Wrapped?> {
    private let wrapped: ColumnReader<Wrapped>

    init(_ wrapped: ColumnReader<Wrapped>) {
        self.wrapped = wrapped
        super.init(Wrapped?.self)
    }

    override func read(_ row: Row, at index: Int) throws -> Wrapped? {
        row.hasNull(atIndex: index) ? nil : try wrapped.read(row, at: index)
    }
}

/// Reads a type that decodes itself: from one value, as enums do, or else from JSON. That is found out for each row:
/// the type may depend on the value, as that of an optional does.
private final class CodableReader<T: Decodable>: ColumnReader<T> {
    private let record: (any FetchableRecord.Type)?
    private let column: String
    private var jsonDecoder: JSONDecoder?

    init(record: (any FetchableRecord.Type)?, column: String) {
        self.record = record
        self.column = column
        super.init(T.self)
    }

    override func read(_ row: Row, at index: Int) throws -> T {
        do {
            return try T(from: SingleColumnDecoder(row: row, index: index, record: record, column: column))
        } catch is SingleColumnDecoder.NeedsJSON {
            let decoder = jsonDecoder ?? record?.databaseJSONDecoder(for: column) ?? Int.databaseJSONDecoder()
            jsonDecoder = decoder
            return try read(row, at: index, decoder)
        }
    }

    private func read(_ row: Row, at index: Int, _ decoder: JSONDecoder) throws -> T {
        let value = row.databaseValue(at: index)
        if value.isNull {
            throw DecodingError.valueNotFound(
                Data.self, .init(codingPath: [ColumnKey(stringValue: column)], debugDescription: "Missing Data"))
        }
        // A number is JSON, too.
        let json = Data.fromDatabaseValue(value) ?? Data(value.description.utf8)
        do {
            return try decoder.decode(T.self, from: json)
        } catch let error as DecodingError {
            throw error.below(column)
        }
    }
}

extension DecodingError {
    /// Returns the error with the column in which it occurred.
    fileprivate func below(_ column: String) -> DecodingError {
        func below(_ context: Context) -> Context {
            Context(
                codingPath: [ColumnKey(stringValue: column)] + context.codingPath,
                debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        return switch self {
        case .typeMismatch(let type, let context): .typeMismatch(type, below(context))
        case .valueNotFound(let type, let context): .valueNotFound(type, below(context))
        case .keyNotFound(let key, let context): .keyNotFound(key, below(context))
        case .dataCorrupted(let context): .dataCorrupted(below(context))
        @unknown default: self
        }
    }
}

/// A column as a coding key, for the paths of errors.
struct ColumnKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// One column, for a type that decodes itself from one value.
private struct SingleColumnDecoder: Decoder, SingleValueDecodingContainer {
    /// Returns the error for a type that decodes a list or a dictionary.
    struct NeedsJSON: Error {}

    let row: Row
    let index: Int
    let record: (any FetchableRecord.Type)?
    let column: String

    var codingPath: [any CodingKey] { [ColumnKey(stringValue: column)] }
    var userInfo: [CodingUserInfoKey: Any] { record?.databaseDecodingUserInfo ?? [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw NeedsJSON() }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NeedsJSON() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { row.hasNull(atIndex: index) }

    func decode<V: Decodable>(_ type: V.Type) throws -> V {
        if type is any DatabaseValueConvertible.Type {
            return try ColumnReader<V>.make(record: record, column: column).read(row, at: index)
        }
        return try V(from: self)
    }
}

extension DatabaseDateDecodingStrategy {
    /// True if dates are read straight from the statement, as `Date` reads them.
    fileprivate var isDefault: Bool {
        if case .deferredToDate = self { true } else { false }
    }
}

extension DatabaseDataDecodingStrategy {
    /// True if data is read straight from the statement, as `Data` reads it.
    fileprivate var isDefault: Bool {
        if case .deferredToData = self { true } else { false }
    }
}

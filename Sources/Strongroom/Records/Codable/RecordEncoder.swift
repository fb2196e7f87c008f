import Foundation

extension EncodableRecord where Self: Encodable {
    /// Sets a column for each property.
    public func encode(to container: inout PersistenceContainer) throws {
        let encoder = container.takeEncoder(for: Self.self)
        encoder.exchange(&container)
        defer {
            encoder.exchange(&container)
            container.keep(encoder)
        }
        encoder.begin()
        try encode(to: encoder)
    }
}

/// Encodes the properties of a record into columns.
final class RecordEncoder: Encoder {
    // Unchecked exclusivity: see <doc:Layers>.
    @exclusivity(unchecked) private var container: PersistenceContainer

    /// The columns of the container, which no other one has while the encoder has it.
    @exclusivity(unchecked) private var columns: Unmanaged<SavedColumns>

    let record: any EncodableRecord.Type
    @exclusivity(unchecked) private var namesAreKeys = false
    @exclusivity(unchecked) private var columnStrategy = DatabaseColumnEncodingStrategy.useDefaultKeys

    /// The keyed container, from the second record on. It refers to the encoder, until ``forgetContainer()``.
    @exclusivity(unchecked) private var knownContainer: AnyKnownContainer?

    /// True if the encoder serves several records.
    @exclusivity(unchecked) private var isKept = false

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { record.databaseEncodingUserInfo }

    init(_ record: (some EncodableRecord).Type) {
        self.record = record
        container = PersistenceContainer()
        columns = container.uniqueColumns()
    }

    /// Prepares for a record.
    func begin() {
        columnStrategy = record.databaseColumnEncodingStrategy
        namesAreKeys = if case .useDefaultKeys = columnStrategy { true } else { false }
    }

    /// Exchanges the container for another one: it is moved, not copied, so that it grows in place.
    func exchange(_ other: inout PersistenceContainer) {
        swap(&container, &other)
        columns = container.uniqueColumns()
    }

    /// Sets the columns of another record, which gets the container meanwhile.
    func encode(columnsOf record: any EncodableRecord) throws {
        var lent = PersistenceContainer()
        exchange(&lent)
        defer { exchange(&lent) }
        try record.encode(to: &lent)
    }

    /// Makes the encoder keep its container for further records.
    func keep() { isKept = true }

    func forgetContainer() {
        isKept = false
        knownContainer = nil
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if let knownContainer, knownContainer.key == ObjectIdentifier(type) {
            return unsafeDowncast(knownContainer, to: KnownContainer<KeyedEncodingContainer<Key>>.self).copy()
        }
        return newContainer(keyedBy: type)
    }

    // A function of its own, because the one above needs no container type.
    @inline(never)
    private func newContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let container = KeyedEncodingContainer(RecordEncodingContainer<Key>(encoder: self))
        if isKept { knownContainer = KnownContainer(container, key: type) }
        return container
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        fatalError("\(record) encodes a list, and a record has columns: use a keyed container.")
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        WrappedRecordEncodingContainer(encoder: self)
    }

    @inline(__always)
    func column(for key: some CodingKey) -> String {
        namesAreKeys ? key.stringValue : columnStrategy.column(for: key)
    }

    func encode<T: Encodable>(_ value: T, in column: String) throws {
        set(try databaseValue(value, in: column), for: column)
    }

    func set(_ value: DatabaseValue, for column: String) {
        columns._withUnsafeGuaranteedRef { columns in
            if !columns.setNext(value, for: column) { columns.set(value, for: column) }
        }
    }

    @inline(__always)
    func set(integer: Int64, for column: String) {
        columns._withUnsafeGuaranteedRef { columns in
            if columns.setNext(integer: integer, for: column) { return }
            columns.set(DatabaseValue(storage: .int64(integer)), for: column)
        }
    }

    private func databaseValue<T: Encodable>(_ value: T, in column: String) throws -> DatabaseValue {
        switch value {
        case let date as Date:
            return record.databaseDateEncodingStrategy(for: column).databaseValue(date)
        case let data as Data:
            return try record.databaseDataEncodingStrategy(for: column).databaseValue(data)
        case let uuid as UUID:
            return record.databaseUUIDEncodingStrategy(for: column).databaseValue(uuid)
        case let value as any DatabaseValueConvertible:
            return value.databaseValue
        default:
            if let single = try SingleValueEncoder.encode(value, encoder: self, column: column) { return single }
            let json = try record.databaseJSONEncoder(for: column).encode(value)
            return String(decoding: json, as: UTF8.self).databaseValue
        }
    }

    /// Returns the value inside a property that encodes itself as one value.
    fileprivate func databaseValue(wrapped value: some Encodable, in column: String) throws -> DatabaseValue {
        try databaseValue(value, in: column)
    }
}

/// The columns of a record, by coding key.
private struct RecordEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: RecordEncoder

    var codingPath: [any CodingKey] { [] }

    private func set(_ value: consuming DatabaseValue, _ key: Key) {
        encoder.set(value, for: encoder.column(for: key))
    }

    @inline(__always)
    private func set(_ value: some FixedWidthInteger & DatabaseValueConvertible & Codable, _ key: Key) {
        encoder.set(integer: value.sqliteInteger, for: encoder.column(for: key))
    }

    func encodeNil(forKey key: Key) { set(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: String, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: Double, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: Float, forKey key: Key) { set(value.databaseValue, key) }
    func encode(_ value: Int, forKey key: Key) { set(value, key) }
    func encode(_ value: Int8, forKey key: Key) { set(value, key) }
    func encode(_ value: Int16, forKey key: Key) { set(value, key) }
    func encode(_ value: Int32, forKey key: Key) { set(value, key) }
    func encode(_ value: Int64, forKey key: Key) { set(value, key) }
    func encode(_ value: UInt, forKey key: Key) { set(value, key) }
    func encode(_ value: UInt8, forKey key: Key) { set(value, key) }
    func encode(_ value: UInt16, forKey key: Key) { set(value, key) }
    func encode(_ value: UInt32, forKey key: Key) { set(value, key) }
    func encode(_ value: UInt64, forKey key: Key) { set(value, key) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try encoder.encode(value, in: encoder.column(for: key))
    }

    // Nil properties are NULL columns, not missing ones, so that an update erases former values.

    func encodeIfPresent(_ value: Bool?, forKey key: Key) { set(value.databaseValue, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) { set(value.databaseValue, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) { set(value.databaseValue, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) { set(value.databaseValue, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) { set(value.databaseValue, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) { set(value.databaseValue, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) { set(value.databaseValue, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) { set(value.databaseValue, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) { set(value.databaseValue, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) { set(value.databaseValue, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) { set(value.databaseValue, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) { set(value.databaseValue, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) { set(value.databaseValue, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) { set(value.databaseValue, key) }

    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        guard let value else { return set(.null, key) }
        try encode(value, forKey: key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        fatalError(
            """
            A column has no nested container: give \(encoder.record) a property of its own Codable type for \
            \(key.stringValue).
            """)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        fatalError(
            """
            A column has no nested container: give \(encoder.record) a property of its own Codable type for \
            \(key.stringValue).
            """)
    }

    // The columns of a superclass are beside those of its subclass.

    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

/// A record that encodes itself as another one: the columns are those of the other.
private struct WrappedRecordEncodingContainer: SingleValueEncodingContainer {
    let encoder: RecordEncoder

    var codingPath: [any CodingKey] { [] }

    func encodeNil() throws { throw notARecord("nil") }

    func encode<T: Encodable>(_ value: T) throws {
        if let record = value as? any EncodableRecord { return try encoder.encode(columnsOf: record) }
        if value is any DatabaseValueConvertible { throw notARecord(value) }
        try value.encode(to: encoder)
    }

    private func notARecord(_ value: Any) -> EncodingError {
        .invalidValue(
            value,
            EncodingError.Context(
                codingPath: [], debugDescription: "\(encoder.record) encodes a single value, and a record has columns"))
    }
}

// MARK: - Properties that are no database values

/// Determines if a property encodes itself as one value, as enumerations do, or needs JSON.
private final class SingleValueEncoder: Encoder {
    /// The error of a property that encodes a list or a dictionary.
    struct NeedsJSON: Error {}

    let encoder: RecordEncoder
    let column: String
    var value: DatabaseValue?

    var codingPath: [any CodingKey] { [ColumnKey(stringValue: column)] }
    var userInfo: [CodingUserInfoKey: Any] { encoder.userInfo }

    init(_ encoder: RecordEncoder, _ column: String) {
        self.encoder = encoder
        self.column = column
    }

    /// Returns the single value; nil if the property needs JSON.
    static func encode(_ value: some Encodable, encoder: RecordEncoder, column: String) throws -> DatabaseValue? {
        let single = SingleValueEncoder(encoder, column)
        do {
            try value.encode(to: single)
        } catch is NeedsJSON {
            return nil
        }
        return single.value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(NoKeyedContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { NoUnkeyedContainer(encoder: self) }
    func singleValueContainer() -> any SingleValueEncodingContainer { SingleContainer(encoder: self) }

    struct SingleContainer: SingleValueEncodingContainer {
        let encoder: SingleValueEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil() { encoder.value = .null }

        func encode<T: Encodable>(_ value: T) throws {
            if let convertible = value as? any DatabaseValueConvertible,
                !(value is Date || value is Data || value is UUID)
            {
                encoder.value = convertible.databaseValue
            } else if value is Date || value is Data || value is UUID {
                encoder.value = try encoder.encoder.databaseValue(wrapped: value, in: encoder.column)
            } else {
                try value.encode(to: encoder)
            }
        }
    }

    struct NoKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: SingleValueEncoder
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) throws { throw NeedsJSON() }
        func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw NeedsJSON() }
        func nestedContainer<NestedKey: CodingKey>(
            keyedBy keyType: NestedKey.Type, forKey key: Key
        ) -> KeyedEncodingContainer<NestedKey> {
            KeyedEncodingContainer(NoKeyedContainer<NestedKey>(encoder: encoder))
        }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            NoUnkeyedContainer(encoder: encoder)
        }
        func superEncoder() -> any Encoder { encoder }
        func superEncoder(forKey key: Key) -> any Encoder { encoder }
    }

    struct NoUnkeyedContainer: UnkeyedEncodingContainer {
        let encoder: SingleValueEncoder
        var codingPath: [any CodingKey] { [] }
        var count: Int { 0 }

        func encodeNil() throws { throw NeedsJSON() }
        func encode<T: Encodable>(_ value: T) throws { throw NeedsJSON() }
        func nestedContainer<NestedKey: CodingKey>(
            keyedBy keyType: NestedKey.Type
        ) -> KeyedEncodingContainer<NestedKey> {
            KeyedEncodingContainer(NoKeyedContainer<NestedKey>(encoder: encoder))
        }
        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { NoUnkeyedContainer(encoder: encoder) }
        func superEncoder() -> any Encoder { encoder }
    }
}

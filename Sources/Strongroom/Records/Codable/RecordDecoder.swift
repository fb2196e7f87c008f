import Foundation

extension FetchableRecord where Self: Decodable {
    /// Reads each property from the column of its name; from JSON where the property is no single value; and from the
    /// scope of its name if there is no such column.
    public init(row: Row) throws {
        self = try RecordDecoder.decode(Self.self, from: row)
    }
}

/// Decodes records from rows, for an `init(row:)` that does more than the default one.
open class FetchableRecordDecoder {
    /// Creates a decoder.
    public init() {}

    /// Returns the record of a row.
    public func decode<T: FetchableRecord & Decodable>(_ type: T.Type, from row: Row) throws -> T {
        try RecordDecoder.decode(type, from: row)
    }
}

/// Decodes the properties of a record from the columns of a row.
///
/// The rows of a cursor are one object, which keeps its decoder: what is found out at the first row (columns, types,
/// strategies) serves them all.
final class RecordDecoder: Decoder {
    /// The row, as long as ``decode(_:)`` runs, whose caller keeps it alive.
    var row: Row {
        precondition(isDecoding, "A decoder was used after init(from:): decode there, and keep the values.")
        return lentRow.takeUnretainedValue()
    }

    private let lentRow: Unmanaged<Row>
    // Unchecked exclusivity: see <doc:Layers>.
    @exclusivity(unchecked) private var isDecoding = false
    let recordType: Any.Type
    private let record: (any FetchableRecord.Type)?

    /// The keys that lead to the part of a record that is decoded; none for the record itself.
    let codingPath: [any CodingKey]

    /// True if the row is an element of a list, which may be a single value.
    fileprivate var isElement = false

    /// The key that neither column nor scope nor prefetched rows have, when the row stands in for it.
    fileprivate var missingKey: (any CodingKey)?

    /// The key of the record that was decoded from the row's own columns, if any.
    private var mainKey = ""
    @exclusivity(unchecked) private var hasMainRecord = false

    /// The column of each key, when keys and columns have different names.
    private let keyedColumns: [String: Int]?

    /// The readers of the columns, each created at the first read.
    @exclusivity(unchecked) private var readers: [AnyColumnReader?]

    /// The keyed containers in the order in which a record asks for them, after the first row.
    @exclusivity(unchecked) private var knownContainers: [AnyKnownContainer] = []

    /// The number of keyed containers that the current record has asked for.
    @exclusivity(unchecked) private var containerCount = 0

    var userInfo: [CodingUserInfoKey: Any] { record?.databaseDecodingUserInfo ?? [:] }

    /// - parameter record: the type whose strategies apply.
    private init(_ type: Any.Type, record: (any FetchableRecord.Type)?, row: Row, codingPath: [any CodingKey] = []) {
        lentRow = .passUnretained(row)
        self.recordType = type
        self.record = record
        self.codingPath = codingPath
        readers = Array(repeating: nil, count: row.count)
        keyedColumns = record?.databaseColumnDecodingStrategy.keyText.map { keyText in
            Dictionary(
                row.columns.names.enumerated().map { (keyText($1), $0) },
                uniquingKeysWith: { leftmost, _ in leftmost })
        }
    }

    static func decode<T: FetchableRecord & Decodable>(_ type: T.Type, from row: Row) throws -> T {
        // The property only ever holds this type, and a checked cast would cost time for each row.
        if let known = row.decoder.map({ unsafeDowncast($0, to: RecordDecoder.self) }), known.recordType == type {
            return try known.decode(type)
        }
        let decoder = RecordDecoder(type, record: type, row: row)
        row.decoder = decoder
        return try decoder.decode(type)
    }

    private func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let wasDecoding = isDecoding
        if !wasDecoding { containerCount = 0 }
        isDecoding = true
        defer { isDecoding = wasDecoding }
        // Once for all columns.
        lentRow._withUnsafeGuaranteedRef { $0.requireAccess() }
        return try T(from: self)
    }

    /// Returns a part of a record, from a row that it may share with others.
    private func part<T: Decodable>(
        _ type: T.Type, from row: Row, at path: @autoclosure () -> [any CodingKey],
        insteadOf key: (any CodingKey)? = nil
    ) throws -> T {
        if let record = type as? any FetchableRecord.Type {
            // The types are the same.
            return try record.init(row: row) as! T
        }
        let decoder = RecordDecoder(type, record: record, row: row, codingPath: path())
        decoder.missingKey = key
        return try decoder.decode(type)
    }

    /// Returns an element of a list: a part of a record, or the value of the leftmost column, as in `select(\.title)`.
    private func element<T: Decodable>(
        _ type: T.Type, from row: Row, at path: @autoclosure () -> [any CodingKey]
    ) throws -> T {
        if type is any FetchableRecord.Type { return try part(type, from: row, at: path()) }
        if type is any DatabaseValueConvertible.Type {
            return try ColumnReader<T>.make(record: record, column: row.columns.names[0]).read(row, at: 0)
        }
        let decoder = RecordDecoder(type, record: record, row: row, codingPath: path())
        decoder.isElement = true
        return try decoder.decode(type)
    }

    /// Returns the value of the leftmost column.
    fileprivate func leftmost<T: Decodable>(_ type: T.Type) throws -> T {
        try reader(type, at: 0).read(row, at: 0)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        hasMainRecord = false
        let place = containerCount
        containerCount = place + 1
        if place < knownContainers.count, knownContainers[place].key == ObjectIdentifier(type) {
            return unsafeDowncast(knownContainers[place], to: KnownContainer<KeyedDecodingContainer<Key>>.self).copy()
        }
        return newContainer(keyedBy: type, at: place)
    }

    // A function of its own, because the one above needs no container type.
    @inline(never)
    private func newContainer<Key: CodingKey>(
        keyedBy type: Key.Type, at place: Int
    ) -> KeyedDecodingContainer<Key> {
        // Records that ask for any number of containers don't fill the memory.
        guard place < 8 else { return KeyedDecodingContainer(RecordDecodingContainer<Key>(self, nil)) }
        let columns = KeyColumns(of: type)
        let container = KeyedDecodingContainer(RecordDecodingContainer<Key>(self, columns?.memory))
        let known = KnownContainer(container, key: type, columns)
        if place < knownContainers.count { knownContainers[place] = known } else { knownContainers.append(known) }
        return container
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        if let missingKey {
            let keys = row.prefetchedRows.keys.sorted()
            throw DecodingError.keyNotFound(
                missingKey,
                DecodingError.Context(
                    codingPath: codingPath,
                    debugDescription: keys.isEmpty
                        ? "No available prefetched rows"
                        : "Available keys for prefetched rows: \(keys)"))
        }
        throw unsupported("\(recordType) decodes a list, and a row has columns")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        WrappedRecordDecodingContainer(decoder: self)
    }

    func unsupported(_ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: reason))
    }

    // MARK: - Columns

    /// Returns the column of a key.
    @inline(__always)
    func index(of key: String) -> Int? {
        lentRow._withUnsafeGuaranteedRef { row in
            if case .none = keyedColumns { return row.index(of: key) }
            return keyedColumns![key]
        }
    }

    /// Returns the value at the index of a column. It is read here, unless the row is a copy or has an adapter: a call
    /// for each property would cost a thirtieth of the time.
    @inline(__always)
    func value<T: DatabaseValueConvertible & StatementColumnConvertible>(at index: Int) throws -> T {
        try lentRow._withUnsafeGuaranteedRef { row in
            if case .none = row.mapping, let statement = row.sqliteStatement,
                let value = T.fromStatement(statement, atUncheckedIndex: CInt(truncatingIfNeeded: index))
            {
                return value
            }
            return try row.valueInAccess(at: index)
        }
    }

    private func reader<T: Decodable>(_ type: T.Type, at index: Int) -> ColumnReader<T> {
        if let known = readers[index], known.type == ObjectIdentifier(type) {
            // The same type: readers are made for it.
            return unsafeDowncast(known, to: ColumnReader<T>.self)
        }
        let reader = ColumnReader<T>.make(record: record, column: row.columns.names[index])
        readers[index] = reader
        return reader
    }

    /// Returns the value of a key, whose column is at `index` if it has one.
    func decode<T: Decodable>(_ type: T.Type, forKey key: some CodingKey, at index: Int?) throws -> T {
        if let index { return try reader(type, at: index).read(row, at: index) }
        if let scope = row.scopesTree[key.stringValue] {
            return try part(type, from: scope, at: codingPath + [key])
        }
        if let rows = row.prefetchedRows[key.stringValue] {
            let path = codingPath + [key]
            let element = PrefetchedRowsDecoder.PartOfRow { type, row, place in
                func decode<Part: Decodable>(_ type: Part.Type) throws -> any Decodable {
                    try self.element(type, from: row, at: path + [place])
                }
                return try decode(type)
            }
            return try T(
                from: PrefetchedRowsDecoder(
                    rows: rows, codingPath: path, userInfo: userInfo,
                    element: element))
        }
        if type is any ExpressibleByNilLiteral.Type { return try missing(key, as: type) }
        if hasMainRecord {
            throw DecodingError.keyNotFound(
                key,
                DecodingError.Context(
                    codingPath: codingPath, debugDescription: "No such key: \(mainKey) or \(key.stringValue)"))
        }
        if type is any DatabaseValueConvertible.Type { return try missing(key, as: type) }
        // The main record of a joined row has no scope: its columns are the row's own. There is one such record.
        hasMainRecord = true
        mainKey = key.stringValue
        return try part(type, from: row, at: codingPath + [key], insteadOf: key)
    }

    /// Returns the value of a key, whose column is at `index` if it has one. Nil for NULL, and if there is none.
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: some CodingKey, at index: Int?) throws -> T? {
        if let index {
            if row.hasNull(atIndex: index) { return nil }
            return try reader(type, at: index).read(row, at: index)
        }
        if let scope = row.scopesTree[key.stringValue] {
            return scope.containsNonNullValue ? try part(type, from: scope, at: codingPath + [key]) : nil
        }
        if row.prefetchedRows[key.stringValue] != nil { return try decode(type, forKey: key, at: nil) }
        return nil
    }

    private func missing<T>(_ key: some CodingKey, as type: T.Type) throws -> T {
        if let convertible = type as? any DatabaseValueConvertible.Type, let value = convertible.fromMissingColumn() {
            return value as! T
        }
        throw missingColumn(key)
    }

    func missingColumn(_ key: some CodingKey) -> RowDecodingError {
        let name = key.stringValue
        return RowDecodingError(missing: "column not found: \(name.debugDescription)", in: row)
    }

    /// Returns the keys of all columns, scopes and prefetched rows of the row.
    func keys<Key: CodingKey>() -> [Key] {
        let columns = keyedColumns.map { $0.sorted { $0.value < $1.value }.map(\.key) } ?? row.columns.names
        let others = row.scopesTree.names.sorted() + row.prefetchedRows.keys.sorted()
        return (columns + others).compactMap { Key(stringValue: $0) }
    }
}

/// A record that decodes itself as another one, which has the same columns.
private struct WrappedRecordDecodingContainer: SingleValueDecodingContainer {
    let decoder: RecordDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { !decoder.row.containsNonNullValue }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if let record = type as? any FetchableRecord.Type {
            // The types are the same.
            return try record.init(row: decoder.row) as! T
        }
        if type is any DatabaseValueConvertible.Type {
            if decoder.isElement { return try decoder.leftmost(type) }
            if let key = decoder.missingKey { throw decoder.missingColumn(key) }
            throw decoder.unsupported("\(decoder.recordType) decodes a single value, and a row has columns")
        }
        return try T(from: decoder)
    }
}

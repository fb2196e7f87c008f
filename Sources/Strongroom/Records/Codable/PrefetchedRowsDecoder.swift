/// Decodes a list of records from rows that were fetched for another row.
struct PrefetchedRowsDecoder: Decoder {
    let rows: [Row]
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]
    let element: PartOfRow

    /// Creates the record of one row, at its position in the list.
    struct PartOfRow {
        let decode: (any Decodable.Type, Row, ListPlace) throws -> any Decodable
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { Container(decoder: self) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw onlyLists }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw onlyLists }

    private var onlyLists: DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: codingPath, debugDescription: "Prefetched rows are a list: use an array or a set of records"
            ))
    }

    struct Container: UnkeyedDecodingContainer {
        let decoder: PrefetchedRowsDecoder
        var currentIndex = 0

        var codingPath: [any CodingKey] { decoder.codingPath }
        var count: Int? { decoder.rows.count }
        var isAtEnd: Bool { currentIndex == decoder.rows.count }

        mutating func decodeNil() throws -> Bool { false }

        mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
            guard !isAtEnd else { throw decoder.onlyLists }
            let index = currentIndex
            currentIndex += 1
            // The same type.
            return try decoder.element.decode(type, decoder.rows[index], ListPlace(index)) as! T
        }

        mutating func nestedContainer<NestedKey: CodingKey>(
            keyedBy type: NestedKey.Type
        ) throws -> KeyedDecodingContainer<NestedKey> {
            throw decoder.onlyLists
        }
        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw decoder.onlyLists }
        mutating func superDecoder() throws -> any Decoder { throw decoder.onlyLists }
    }
}

/// A position in a list as a coding key, for the paths of errors.
struct ListPlace: CodingKey {
    let index: Int
    var intValue: Int? { index }
    var stringValue: String { "Index \(index)" }

    init(_ index: Int) { self.index = index }
    init(intValue: Int) { index = intValue }
    init?(stringValue: String) { nil }
}

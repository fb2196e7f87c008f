/// The columns of a row, by coding key.
struct RecordDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// Not counted: Swift copies the container for each property, and counting took a third of the time. The caller
    /// that decodes keeps the decoder, which keeps its row.
    private let lentDecoder: Unmanaged<RecordDecoder>

    private var decoder: RecordDecoder { lentDecoder.takeUnretainedValue() }

    /// The columns of keys that were asked for their names. The decoder keeps them. Nil if each key is asked each time.
    private let columns: KeyColumns.Memory?

    init(_ decoder: RecordDecoder, _ columns: KeyColumns.Memory?) {
        lentDecoder = .passUnretained(decoder)
        self.columns = columns
    }

    /// Returns the column of a key.
    @inline(__always)
    private func index(of key: Key) -> Int? {
        guard let columns else { return indexByName(key) }
        // The table is for keys of one byte. Reading it through a pointer would be a call.
        let byte = unsafeBitCast(key, to: UInt8.self)
        let column = columns[Int(byte)]
        if column == KeyColumns.unknown {
            let index = indexByName(key)
            columns[Int(byte)] = index.map { Int16(truncatingIfNeeded: $0) } ?? KeyColumns.none
            return index
        }
        let index = column == KeyColumns.none ? nil : Int(column)
        assert(index == indexByName(key), "The name of a coding key has changed within a request.")
        return index
    }

    private func indexByName(_ key: Key) -> Int? {
        lentDecoder._withUnsafeGuaranteedRef { $0.index(of: key.stringValue) }
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { decoder.keys() }

    func contains(_ key: Key) -> Bool {
        index(of: key) != nil
            || decoder.row.scopesTree[key.stringValue] != nil
            || decoder.row.prefetchedRows[key.stringValue] != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        if let index = index(of: key) { return decoder.row.hasNull(atIndex: index) }
        if let scope = decoder.row.scopesTree[key.stringValue] { return !scope.containsNonNullValue }
        return decoder.row.prefetchedRows[key.stringValue] == nil
    }

    @inline(__always)
    private func value<T: DatabaseValueConvertible & StatementColumnConvertible>(_ key: Key) throws -> T {
        guard let index = index(of: key) else { throw decoder.missingColumn(key) }
        return try lentDecoder._withUnsafeGuaranteedRef { try $0.value(at: index) }
    }

    @inline(__always)
    private func optional<T: DatabaseValueConvertible & StatementColumnConvertible>(_ key: Key) throws -> T? {
        guard let index = index(of: key) else { return nil }
        return try lentDecoder._withUnsafeGuaranteedRef { try $0.value(at: index) as T? }
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try value(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try value(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try value(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try value(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try value(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try value(key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoder.decode(type, forKey: key, at: index(of: key))
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(key) }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try decoder.decodeIfPresent(type, forKey: key, at: index(of: key))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        throw decoder.unsupported("A column has no nested container: use a property of its own Codable type")
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw decoder.unsupported("A column has no nested container: use a property of its own Codable type")
    }

    // The columns of a superclass are beside those of its subclass.

    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { decoder }
}

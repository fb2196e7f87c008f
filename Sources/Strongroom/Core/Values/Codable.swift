import Foundation

// Codable values that encode to one value (a number, a text, a date …) are stored as that value, all others as JSON.

extension DatabaseValueConvertible where Self: Encodable {
    /// The single value that the type encodes to, or JSON text if it encodes to an object or an array.
    ///
    /// - precondition: encoding does not fail. See ``DatabaseValueConvertible/databaseJSONEncoder()`` for values that
    ///   do.
    public var databaseValue: DatabaseValue {
        let encoder = SingleValueEncoder()
        do {
            try encode(to: encoder)
        } catch {
            if !encoder.needsJSON { Self.stopEncoding(error) }
        }
        if !encoder.needsJSON, let value = encoder.value { return value }
        do {
            return String(decoding: try Self.databaseJSONEncoder().encode(self), as: UTF8.self).databaseValue
        } catch {
            Self.stopEncoding(error)
        }
    }

    private static func stopEncoding(_ error: any Error) -> Never {
        fatalError(
            """
            \(Self.self) can't be encoded\(reason(error)). \
            Implement databaseJSONEncoder() to change how it is encoded, or databaseValue to do without JSON.
            """)
    }

    /// Returns the error and its path, without the value, which may be secret.
    private static func reason(_ error: any Error) -> String {
        guard case EncodingError.invalidValue(_, let context)? = error as? EncodingError else { return "" }
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? "" : " because of the value at \(path.debugDescription)"
    }
}

extension DatabaseValueConvertible where Self: Decodable {
    /// Returns the value that is decoded from a single value, or from JSON as text or as UTF-8 in a blob.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        do {
            return try Self(from: SingleValueDecoder(value: dbValue))
        } catch is NeedsJSON {
            return Data.fromDatabaseValue(dbValue).flatMap { try? databaseJSONDecoder().decode(Self.self, from: $0) }
        } catch {
            return nil
        }
    }
}

/// An error for a value that encodes to more than one value.
private struct NeedsJSON: Error {}

// MARK: - Encoding

/// An encoder of a single value. Throws ``NeedsJSON`` if there is more than one.
private final class SingleValueEncoder: Encoder, SingleValueEncodingContainer {
    var value: DatabaseValue?
    var needsJSON = false

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        needsJSON = true
        return KeyedEncodingContainer(NoKeys<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        needsJSON = true
        return NoElements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() {
        value = .null
    }

    func encode<T: Encodable>(_ value: T) throws {
        if let convertible = value as? any DatabaseValueConvertible {
            self.value = convertible.databaseValue
        } else {
            try value.encode(to: self)
        }
    }
}

/// A container that ends the encoding at the first key.
private struct NoKeys<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: SingleValueEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { throw NeedsJSON() }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw NeedsJSON() }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

/// A container that ends the encoding at the first element.
private struct NoElements: UnkeyedEncodingContainer {
    let encoder: SingleValueEncoder
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    func encodeNil() throws { throw NeedsJSON() }
    func encode<T: Encodable>(_ value: T) throws { throw NeedsJSON() }

    func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        encoder.container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder }
}

// MARK: - Decoding

/// A decoder of a single value. Throws ``NeedsJSON`` if there is more than one.
private struct SingleValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: DatabaseValue

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw NeedsJSON() }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NeedsJSON() }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let convertible = type as? any DatabaseValueConvertible.Type else { return try T(from: self) }
        guard let decoded = convertible.fromDatabaseValue(value) as? T else {
            throw DecodingError.typeMismatch(
                type,
                DecodingError.Context(codingPath: [], debugDescription: "the value is not convertible to \(type)"))
        }
        return decoded
    }
}

// What decoders and encoders keep of one record for the next one of the same type.

/// A container that is kept, with the type of its keys: asking Swift for its type would cost more than decoding a
/// property.
class AnyKnownContainer {
    let key: ObjectIdentifier

    init(_ key: Any.Type) {
        self.key = ObjectIdentifier(key)
    }
}

final class KnownContainer<Container>: AnyKnownContainer {
    private let container: Container

    init(_ container: Container, key: Any.Type) {
        self.container = container
        super.init(key)
    }

    // A call, because only this object knows the container's type.
    @inline(never)
    func copy() -> Container { container }
}

/// The columns of keys that are bytes, as those are that the compiler makes. The byte determines the key. To ask the key
/// for its name, and to look for that, takes a fifth of the time of decoding or encoding a property.
final class ColumnsByByte {
    private static let unknown: Int16 = -1

    private let keys: ObjectIdentifier
    private let places: UnsafeMutablePointer<Int16>

    /// Returns nil if the keys are not bytes.
    init?<Key: CodingKey>(_ type: Key.Type) {
        guard MemoryLayout<Key>.size == 1, _isPOD(type) else { return nil }
        keys = ObjectIdentifier(type)
        places = .allocate(capacity: 256)
        places.initialize(repeating: Self.unknown, count: 256)
    }

    deinit { places.deallocate() }

    /// Forgets all columns.
    func removeAll() { places.update(repeating: Self.unknown, count: 256) }

    /// Returns the place of the column of each byte, which is negative if it is not known yet. Nil for other keys. It is
    /// valid as long as this object.
    func places(for type: Any.Type) -> UnsafeMutablePointer<Int16>? {
        keys == ObjectIdentifier(type) ? places : nil
    }
}

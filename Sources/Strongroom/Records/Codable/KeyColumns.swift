/// The columns of coding keys in one request: a key is asked for its name once, and not in each row.
///
/// It is for keys that are one byte, as enumerations without payload are: keys with equal bytes are equal. A program
/// may compute the names of keys. They have to stay the same from the first row of a request to its last, for each
/// container that a record asks for. Debug builds compare them in each row.
final class KeyColumns {
    /// The column of each key: its index, ``none`` or ``unknown``.
    typealias Memory = UnsafeMutablePointer<Int16>

    static let none: Int16 = -1
    static let unknown: Int16 = -2

    /// A column of each key, by its byte.
    let memory: Memory

    /// Creates a table without entries. Nil for keys that are not one byte.
    init?(of key: Any.Type) {
        func isByte<Key>(_ key: Key.Type) -> Bool { MemoryLayout<Key>.size == 1 && _isPOD(key) }
        guard isByte(key) else { return nil }
        memory = .allocate(capacity: 256)
        memory.initialize(repeating: Self.unknown, count: 256)
    }

    deinit {
        memory.deallocate()
    }
}

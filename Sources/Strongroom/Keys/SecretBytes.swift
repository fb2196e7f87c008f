/// Bytes that must not leave the process. Their memory is locked against swapping within the limits of the system,
/// excluded from core dumps, and wiped when the last reference is released.
///
/// Unchecked: only the initializer writes the bytes.
final class SecretBytes: @unchecked Sendable {
    let count: Int
    private let base: UnsafeMutableRawPointer

    init(count: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        guard let base = SecretMemory.allocate(count) else {
            throw DatabaseError(.SQLITE_NOMEM, message: "no memory for a key")
        }
        self.base = base
        self.count = count
        try fill(UnsafeMutableRawBufferPointer(start: base, count: count))
    }

    convenience init(copying bytes: some Collection<UInt8>) throws {
        try self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    convenience init(randomCount count: Int) throws {
        try self.init(count: count) { try fillWithRandomBytes($0) }
    }

    deinit {
        SecretMemory.free(base, count)
    }

    func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Compares in constant time for secrets of the same length.
    func isEqual(to other: SecretBytes) -> Bool {
        count == other.count && SecretMemory.isEqual(base, other.base, count: count)
    }
}

func fillWithRandomBytes(_ buffer: UnsafeMutableRawBufferPointer) throws {
    guard Provider.random(buffer) == 0 else {
        throw DatabaseError(.SQLITE_ERROR, message: "the cryptographic provider gave no random bytes")
    }
}

/// Overwrites bytes that came from outside of locked memory.
func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { SecretMemory.wipe($0) }
    bytes.removeAll()
}

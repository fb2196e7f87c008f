import CStrongroomReplica

/// A SHA-256.
struct Digest: Hashable, Sendable, CustomStringConvertible {
    static let size = Int(REPLICA_DIGEST_SIZE)
    static let zero = Digest([UInt8](repeating: 0, count: size))!

    let bytes: [UInt8]

    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// The digest of some bytes.
    init(of bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { Hasher.shared.digest([$0]) }
    }

    var description: String { bytes.hex }

    /// The first half, for names.
    var short: String { String(description.prefix(32)) }
}

/// Computes digests. Each thread has its own.
final class Hasher {
    private let state: OpaquePointer

    init() {
        // The provider has SHA-256 in every mode.
        guard let state = replica_digest_new() else { fatalError("no memory for a digest") }
        self.state = state
    }

    deinit { replica_digest_free(state) }

    /// A hasher for one call. Its creation takes a microsecond.
    static var shared: Hasher { Hasher() }

    /// Returns the digest of parts in sequence.
    func digest(_ parts: [UnsafeRawBufferPointer]) -> Digest {
        begin()
        for part in parts { add(part) }
        return end()
    }

    func begin() { require(replica_digest_begin(state)) }

    func add(_ bytes: UnsafeRawBufferPointer) { require(replica_digest_add(state, bytes.baseAddress, bytes.count)) }

    func end() -> Digest {
        var out = [UInt8](repeating: 0, count: Digest.size)
        require(replica_digest_end(state, &out))
        return Digest(out)!
    }

    private func require(_ result: Int32) {
        guard result == 0 else { fatalError("the crypto provider refuses SHA-256") }
    }
}

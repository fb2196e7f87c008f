import CStrongroom
import CStrongroomReplica

/// The public half of the key that signs a replica: 32 bytes, written as 64 hexadecimal digits.
///
/// A restore with this key in ``ReplicaReading/signer`` only accepts points that it signed. Keep the key apart from the
/// destination: a person who can write there can replace the copy of the key, too.
public struct ReplicaSigner: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]

    init?(bytes: [UInt8]) {
        guard bytes.count == Int(REPLICA_KEY_SIZE) else { return nil }
        self.bytes = bytes
    }

    /// Creates a signer from 64 hexadecimal digits. Returns `nil` for any other text.
    public init?(_ text: String) {
        guard let bytes = [UInt8](hex: text), let signer = ReplicaSigner(bytes: bytes) else { return nil }
        self = signer
    }

    /// The key as 64 hexadecimal digits.
    public var description: String { bytes.hex }

    func hasSigned(_ bytes: [UInt8], _ signature: [UInt8]) -> Bool {
        signature.count == Int(REPLICA_SIGNATURE_SIZE)
            && replica_is_signed(self.bytes, bytes, bytes.count, signature)
    }
}

/// The key that signs a replica. It stays on the machine of the replicator. It decrypts nothing.
final class SigningKey: Sendable {
    static let signatureSize = Int(REPLICA_SIGNATURE_SIZE)

    nonisolated(unsafe) private let secret: UnsafeMutableRawPointer
    let signer: ReplicaSigner

    private static let size = Int(REPLICA_KEY_SIZE)

    /// Reads the key from a file, or makes one that only this user can read.
    init(path: String) throws {
        if try Files.read(path, limit: Self.size + 1) == nil { try Self.make(path) }
        guard let secret = strongroom_secret_allocate(Self.size) else {
            throw ReplicaError(.system, path, "there is no memory for the signing key. Close other programs.")
        }
        let descriptor = try Files.open(path, O_RDONLY | O_NOFOLLOW)
        defer { close(descriptor) }
        let bytes = UnsafeMutableRawBufferPointer(start: secret, count: Self.size)
        let count = try Files.read(descriptor, bytes, at: 0, path)
        var found = [UInt8](repeating: 0, count: Self.size)
        guard count == Self.size, replica_public_key(secret, &found) == 0, let signer = ReplicaSigner(bytes: found)
        else {
            strongroom_secret_free(secret, Self.size)
            throw ReplicaError(.damaged, path, "it is no signing key. Move it away; a new history begins then.")
        }
        self.secret = secret
        self.signer = signer
    }

    deinit { strongroom_secret_free(secret, Self.size) }

    private static func make(_ path: String) throws {
        guard let secret = strongroom_secret_allocate(size) else { throw Files.failure(path, "no memory", ENOMEM) }
        defer { strongroom_secret_free(secret, size) }
        guard strongroom_random(secret, size) == 0 else { throw Files.failure(path, "no random bytes", EIO) }
        let error = strongroom_file_create(path, path + "-new", secret, size)
        guard error == 0 || error == EEXIST else { throw Files.failure(path, "it can't be made", error) }
    }

    func sign(_ bytes: [UInt8]) throws -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Self.signatureSize)
        guard replica_sign(secret.assumingMemoryBound(to: UInt8.self), bytes, bytes.count, &signature) == 0 else {
            throw ReplicaError(.system, nil, "the crypto provider refuses Ed25519; nothing was sent.")
        }
        return signature
    }
}

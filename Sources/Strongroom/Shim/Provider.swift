import CStrongroom

/// The crypto library that SQLCipher itself uses: `strongroom_crypto.h` and `strongroom_slots.h`. Zero is success. The
/// library may refuse, for example in FIPS mode.
enum Provider {
    enum Digest: UInt32 {
        case sha1 = 1
        case sha256 = 256
        case sha512 = 512

        fileprivate var shim: strongroom_digest { strongroom_digest(rawValue) }
    }

    typealias Bytes = UnsafeRawBufferPointer
    typealias Room = UnsafeMutableRawBufferPointer

    static func random(_ out: Room) -> CInt { strongroom_random(out.baseAddress, out.count) }

    /// Computes an HMAC, whose size is that of the digest.
    static func hmac(_ digest: Digest, key: Bytes, _ data: Bytes, into out: UnsafeMutablePointer<UInt8>?) -> CInt {
        strongroom_hmac(digest.shim, key.baseAddress, key.count, data.baseAddress, data.count, out)
    }

    static func hmac(_ digest: Digest, key: Bytes, _ data: [UInt8], into out: UnsafeMutablePointer<UInt8>?) -> CInt {
        data.withUnsafeBytes { hmac(digest, key: key, $0, into: out) }
    }

    // MARK: - Derivations

    static func pbkdf2(_ digest: Digest, _ secret: Bytes, salt: [UInt8], rounds: Int, into out: Room) -> CInt {
        strongroom_pbkdf2(
            digest.shim, secret.baseAddress, secret.count, salt, salt.count, UInt32(rounds), out.baseAddress, out.count)
    }

    /// scrypt, RFC 7914.
    static func scrypt(_ secret: Bytes, salt: [UInt8], n: UInt64, r: Int, p: Int, into out: Room) -> CInt {
        strongroom_scrypt(
            secret.baseAddress, secret.count, salt, salt.count, n, UInt32(r), UInt32(p), out.baseAddress, out.count)
    }

    /// Argon2id, RFC 9106, on one thread. `memory` is in KiB. Returns ``unsupported`` without libcrypto 3.2.
    static func argon2id(
        _ secret: Bytes, salt: [UInt8], passes: Int, memory: Int, lanes: Int, into out: Room
    ) -> CInt {
        strongroom_argon2id(
            secret.baseAddress, secret.count, salt, salt.count, UInt32(passes), UInt32(memory), UInt32(lanes),
            out.baseAddress, out.count)
    }

    /// The result if the library doesn't have the function.
    static var unsupported: CInt { CInt(STRONGROOM_UNSUPPORTED) }

    // MARK: - Key wrap: AES-256, RFC 3394

    static var wrappedKeySize: Int { Int(STRONGROOM_WRAPPED_KEY_SIZE) }

    static func wrap(_ key: Bytes, with wrapping: Bytes, into wrapped: inout [UInt8]) -> CInt {
        strongroom_wrap_key(
            wrapping.bindMemory(to: UInt8.self).baseAddress, key.bindMemory(to: UInt8.self).baseAddress, &wrapped)
    }

    /// Fails also if `wrapped` was not wrapped with that key.
    static func unwrap(_ wrapped: [UInt8], with wrapping: Bytes, into key: Room) -> CInt {
        strongroom_unwrap_key(
            wrapping.bindMemory(to: UInt8.self).baseAddress, wrapped, key.bindMemory(to: UInt8.self).baseAddress)
    }
}

/// A SHA-256 of bytes that come in parts: `strongroom_crypto.h`. Zero is success.
final class SHA256State {
    private let state: OpaquePointer

    /// Nil without memory, and if the library refuses.
    init?() {
        guard let state = strongroom_sha256_new() else { return nil }
        self.state = state
    }

    deinit { strongroom_sha256_free(state) }

    func add(_ bytes: UnsafeRawBufferPointer) -> CInt { strongroom_sha256_add(state, bytes.baseAddress, bytes.count) }

    /// Writes the 32 bytes of the digest. Nothing can be added afterwards.
    func end(into out: inout [UInt8]) -> CInt { strongroom_sha256_end(state, &out) }
}

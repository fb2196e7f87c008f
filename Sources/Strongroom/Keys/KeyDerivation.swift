/// The function that derives the key of a slot from its secret, and its cost.
///
/// A derivation outside of its bounds is refused, with the reason ``DatabaseError/Reason/weakKeyCost`` or
/// ``DatabaseError/Reason/excessiveKeyCost``, also if a slot file contains it. Below the bounds, guessing would be
/// cheap. Above them, opening could take minutes or all memory.
public enum KeyDerivation: Hashable, Sendable, CustomStringConvertible {
    /// scrypt with 2 to the power of `logN` (14 to 23) blocks of 128 × `r` bytes (8 to 32), `p` times (1 to 16), and at
    /// most 1 GiB of memory. <https://www.rfc-editor.org/rfc/rfc7914>
    case scrypt(logN: Int, r: Int, p: Int)
    /// Argon2id with `memory` KiB (19,456 to 1,048,576), `passes` passes (1 to 64) and `lanes` lanes (1 to 16). Needs
    /// libcrypto 3.2 or newer. <https://www.rfc-editor.org/rfc/rfc9106>
    case argon2id(memory: Int, passes: Int, lanes: Int)
    /// PBKDF2 with HMAC-SHA-512 and 210,000 to 16,777,216 rounds, for programs that are required to use it. It needs
    /// almost no memory, so that guesses are the cheapest. <https://www.rfc-editor.org/rfc/rfc8018>
    case pbkdf2(rounds: Int)
    /// HKDF with HMAC-SHA-256, for recovery codes only: they are random and can't be guessed.
    /// <https://www.rfc-editor.org/rfc/rfc5869>
    case hkdf

    /// scrypt with 128 MiB (`logN` 17, `r` 8, `p` 1), about a third of a second. If the provider has no scrypt, as on
    /// Apple's platforms, PBKDF2 with 600,000 rounds.
    public static var standard: KeyDerivation {
        providesScrypt ? .scrypt(logN: 17, r: 8, p: 1) : .pbkdf2(rounds: 600_000)
    }

    private static let providesScrypt: Bool = {
        var out: [UInt8] = [0]
        let empty = UnsafeRawBufferPointer(start: nil, count: 0)
        let result = out.withUnsafeMutableBytes { Provider.scrypt(empty, salt: [], n: 2, r: 1, p: 1, into: $0) }
        return result != Provider.unsupported
    }()

    /// The work, in units of scrypt's work on 1 KiB. Its sum limits the cost of a slot file.
    var work: Int {
        switch self {
        case .scrypt(let logN, let r, let p): (1 << logN) * r * p
        case .argon2id(let memory, let passes, _): memory * passes
        case .pbkdf2(let rounds): rounds
        case .hkdf: 0
        }
    }

    /// The greatest work of all slots of a slot file together: that of 64 standard ones.
    static let mostWork = 1 << 26

    /// Throws `SQLITE_MISUSE` with the reason `weakKeyCost` or `excessiveKeyCost` if the cost is out of bounds.
    func validate() throws {
        switch self {
        case .scrypt(let logN, let r, let p):
            try require("logN", logN, 14...23)
            try require("r", r, 8...32)
            try require("p", p, 1...16)
        case .argon2id(let memory, let passes, let lanes):
            try require("memory", memory, 19_456...1 << 20)
            try require("passes", passes, 1...64)
            try require("lanes", lanes, 1...16)
        case .pbkdf2(let rounds): try require("rounds", rounds, 210_000...1 << 24)
        case .hkdf: break
        }
        // One gigabyte, and some seconds.
        guard work <= 1 << 24, memory <= 1 << 20 else { throw excess("\(self)") }
    }

    /// The memory in KiB.
    private var memory: Int {
        switch self {
        case .scrypt(let logN, let r, _): (1 << logN) * r / 8
        case .argon2id(let memory, _, _): memory
        case .pbkdf2, .hkdf: 0
        }
    }

    private func require(_ name: String, _ value: Int, _ bounds: ClosedRange<Int>) throws {
        if value < bounds.lowerBound {
            throw DatabaseError(
                refusing: "key slot derivation: \(name) is \(value); the minimum is \(bounds.lowerBound)",
                reason: .weakKeyCost)
        }
        if value > bounds.upperBound { throw excess("\(name) = \(value)") }
    }

    private func excess(_ what: String) -> DatabaseError {
        DatabaseError(refusing: "the derivation of a key slot costs too much (\(what))", reason: .excessiveKeyCost)
    }
}

// MARK: - Deriving

extension KeyDerivation {
    /// Returns the key that wraps the data key.
    func key(from secret: SecretBytes, salt: [UInt8]) throws -> SecretBytes {
        try SecretBytes(count: KeySource.rawCount) { out in
            let result = try secret.withBytes { try derive($0, salt, into: out) }
            guard result != Int(Provider.unsupported) else {
                throw DatabaseError(
                    refusing: "the cryptographic provider has no \(name)", advice: "use another derivation",
                    reason: .unsupportedDerivation)
            }
            guard result == 0 else {
                throw DatabaseError(
                    .SQLITE_NOMEM, refusing: "the cryptographic provider refused \(name)",
                    advice: "make \(memory / 1024) MiB of memory available", reason: .unsupportedDerivation)
            }
        }
    }

    private func derive(
        _ secret: UnsafeRawBufferPointer, _ salt: [UInt8], into out: UnsafeMutableRawBufferPointer
    ) throws -> Int {
        let result: CInt =
            switch self {
            case .scrypt(let logN, let r, let p):
                Provider.scrypt(secret, salt: salt, n: 1 << UInt64(logN), r: r, p: p, into: out)
            case .argon2id(let memory, let passes, let lanes):
                Provider.argon2id(secret, salt: salt, passes: passes, memory: memory, lanes: lanes, into: out)
            case .pbkdf2(let rounds):
                Provider.pbkdf2(.sha512, secret, salt: salt, rounds: rounds, into: out)
            case .hkdf: expand(secret, salt, into: out)
            }
        return Int(result)
    }

    private func expand(
        _ secret: UnsafeRawBufferPointer, _ salt: [UInt8], into key: UnsafeMutableRawBufferPointer
    ) -> CInt {
        guard
            let extracted = try? SecretBytes(
                count: 32,
                fill: { out in
                    let digest = out.bindMemory(to: UInt8.self).baseAddress
                    let result = salt.withUnsafeBytes { Provider.hmac(.sha256, key: $0, secret, into: digest) }
                    if result != 0 { throw DatabaseError(.SQLITE_ERROR, message: nil) }
                })
        else { return 1 }
        let counter: [UInt8] = [1]
        return extracted.withBytes {
            Provider.hmac(.sha256, key: $0, counter, into: key.bindMemory(to: UInt8.self).baseAddress)
        }
    }

    /// The algorithm and its parameters, as in a slot file.
    public var description: String { text }

    /// The name of the algorithm in a slot file.
    public var name: String {
        switch self {
        case .scrypt: "scrypt"
        case .argon2id: "argon2id"
        case .pbkdf2: "pbkdf2-sha512"
        case .hkdf: "hkdf-sha256"
        }
    }
}

// MARK: - Text

extension KeyDerivation {
    /// The algorithm and its parameters.
    var text: String {
        switch self {
        case .scrypt(let logN, let r, let p): "\(name) \(logN) \(r) \(p)"
        case .argon2id(let memory, let passes, let lanes): "\(name) \(memory) \(passes) \(lanes)"
        case .pbkdf2(let rounds): "\(name) \(rounds)"
        case .hkdf: name
        }
    }

    init?(text: Substring) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard numbers.count == words.count - 1 else { return nil }
        switch (words.first, numbers.count) {
        case ("scrypt", 3): self = .scrypt(logN: numbers[0], r: numbers[1], p: numbers[2])
        case ("argon2id", 3): self = .argon2id(memory: numbers[0], passes: numbers[1], lanes: numbers[2])
        case ("pbkdf2-sha512", 1): self = .pbkdf2(rounds: numbers[0])
        case ("hkdf-sha256", 0): self = .hkdf
        default: return nil
        }
    }
}

/// The 16 bytes that make a passphrase derive another key in each file. Not secret, and not replaceable: without it,
/// the passphrase opens nothing.
struct Salt: Hashable, Sendable {
    static let count = 16
    let bytes: [UInt8]

    init(_ bytes: some Collection<UInt8>) throws {
        guard bytes.count == Salt.count else {
            throw DatabaseError(.SQLITE_MISUSE, message: "a salt has 16 bytes, not \(bytes.count)")
        }
        self.bytes = Array(bytes)
    }

    static func random() throws -> Salt {
        var bytes = [UInt8](repeating: 0, count: count)
        try bytes.withUnsafeMutableBytes { try fillWithRandomBytes($0) }
        return try Salt(bytes)
    }

    init?(hex: some StringProtocol) {
        guard let bytes = hexBytes(hex), bytes.count == Salt.count else { return nil }
        self.bytes = bytes
    }

    var hex: String { hexadecimal(bytes) }

    /// The salt from which SQLCipher derives its HMAC keys.
    var forAuthentication: [UInt8] { bytes.map { $0 ^ 0x3a } }
}

package func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }, as: UTF8.self)
}

package func hexDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? 48 + nibble : 87 + nibble
}

package func nibble(hexDigit: UInt8) -> UInt8? {
    switch hexDigit {
    case 48...57: hexDigit - 48
    case 97...102: hexDigit - 87
    case 65...70: hexDigit - 55
    default: nil
    }
}

func hexBytes(_ hex: some StringProtocol) -> [UInt8]? {
    let digits = Array(hex.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for at in stride(from: 0, to: digits.count, by: 2) {
        guard let high = nibble(hexDigit: digits[at]), let low = nibble(hexDigit: digits[at + 1]) else { return nil }
        bytes.append(high << 4 | low)
    }
    return bytes
}

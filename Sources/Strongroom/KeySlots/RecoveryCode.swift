import CStrongroom

/// A secret that a person can write down and type: 160 random bits as groups of letters and digits that are not
/// mistaken for one another, with a check.
///
///     4QX7M-9HTKC-R2D5V-W8JZA-B3NYE-G6PFS-T1K0M
///
/// The digits are those of Crockford's base 32. Case, spaces and hyphens are ignored, O is 0, and I and L are 1.
/// <https://www.crockford.com/base32.html>
public struct RecoveryCode: Sendable {
    /// The random bytes.
    let secret: SecretBytes

    private static let byteCount = 20, checkCount = 3, groupSize = 5
    private static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let digitCount = byteCount * 8 / 5 + checkCount

    /// Creates a random code.
    init() throws {
        secret = try SecretBytes(randomCount: RecoveryCode.byteCount)
    }

    /// Reads a code that was typed. Returns nil for another secret, and if the check does not fit.
    init?(typed text: UnsafeRawBufferPointer) throws {
        guard var values = RecoveryCode.values(in: text) else { return nil }
        defer { wipe(&values) }
        secret = try SecretBytes(count: RecoveryCode.byteCount) { RecoveryCode.unpack(values, into: $0) }
        let typed = values.suffix(RecoveryCode.checkCount)
        guard try RecoveryCode.check(of: secret).elementsEqual(typed) else { return nil }
    }

    /// Returns true if a text has the length and the characters of a code. If no slot opens with it, it was mistyped.
    static func resembles(_ text: UnsafeRawBufferPointer) -> Bool {
        guard var values = values(in: text) else { return false }
        wipe(&values)
        return true
    }

    /// Returns the digits of a text that has as many of them as a code, and otherwise only spaces and hyphens.
    private static func values(in text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count <= 64 else { return nil }
        var values: [UInt8] = []
        // Without a reallocation, which would leave a copy behind.
        values.reserveCapacity(64)
        for byte in text where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
            guard let value = value(of: byte) else { return nil }
            values.append(value)
        }
        return values.count == digitCount ? values : nil
    }

    /// Calls `body` with the code in groups of five. Show it to a person once, and keep no copy.
    public func withText<R>(_ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        let check = try RecoveryCode.check(of: secret)
        let count = RecoveryCode.digitCount, size = RecoveryCode.groupSize
        let text = try SecretBytes(count: count + count / size - 1) { out in
            let first = count - check.count
            for index in 0..<count {
                let value = index < first ? RecoveryCode.digit(index, of: secret) : check[index - first]
                let at = index + index / size
                out[at] = RecoveryCode.digits[Int(value)]
                if index % size == size - 1, at + 1 < out.count { out[at + 1] = UInt8(ascii: "-") }
            }
        }
        return try text.withBytes(body)
    }

    /// The code as a key, which opens the database.
    public var key: DatabaseKey {
        get throws { try withText { .passphrase($0) } }
    }

    // MARK: Digits

    private static func value(of byte: UInt8) -> UInt8? {
        let upper = (97...122).contains(byte) ? byte - 32 : byte
        switch upper {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        default: return digits.firstIndex(of: upper).map { UInt8($0) }
        }
    }

    /// Returns the digit for five of the bits.
    private static func digit(_ index: Int, of secret: SecretBytes) -> UInt8 {
        secret.withBytes { bytes in
            (0..<5).reduce(0) { value, bit in
                let at = index * 5 + bit
                return value << 1 | bytes[at / 8] >> UInt8(7 - at % 8) & 1
            }
        }
    }

    private static func unpack(_ values: [UInt8], into bytes: UnsafeMutableRawBufferPointer) {
        for at in 0..<byteCount * 8 where values[at / 5] >> UInt8(4 - at % 5) & 1 == 1 {
            bytes[at / 8] |= 1 << UInt8(7 - at % 8)
        }
    }

    /// Returns the digits of the check: 15 bits, which miss one error in about 30,000.
    private static func check(of secret: SecretBytes) throws -> [UInt8] {
        try secret.subkey("Strongroom recovery code 1 check").withBytes { [$0[0] & 31, $0[1] & 31, $0[2] & 31] }
    }
}

extension RecoveryCode: CustomStringConvertible, CustomReflectable {
    /// A text without the code.
    public var description: String { "RecoveryCode(…)" }
    /// A mirror without children, so that `dump` does not show the code.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

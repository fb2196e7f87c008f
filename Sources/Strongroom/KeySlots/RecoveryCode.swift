/// A secret that a person can write down and type: 160 random bits as groups of letters and digits that are not
/// mistaken for one another, with a check.
///
///     4QX7M-9HTKC-R2D5V-W8JZA-B3NYE-G6PFS-T1K0M
///
/// The digits are those of Crockford's base 32. Case, spaces, tabs, hyphens and the dashes of word processors are
/// ignored, O is 0, I and L are 1, and U is V. Three check digits distinguish a mistyped code from a wrong one.
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

    /// Returns true if a text that is no code looks like one with a mistake: its check does not fit, it has one or two
    /// digits more or fewer, or one or two characters that are no digits.
    static func resembles(_ text: UnsafeRawBufferPointer) -> Bool {
        guard var reading = Reading(text) else { return false }
        defer { wipe(&reading.values) }
        let excess = reading.values.count + reading.strangers - digitCount
        return reading.strangers <= 2 && (-2...2).contains(excess)
    }

    /// Returns the digits of a text that has as many of them as a code, and otherwise only separators.
    private static func values(in text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard var reading = Reading(text) else { return nil }
        guard reading.strangers == 0, reading.values.count == digitCount else {
            wipe(&reading.values)
            return nil
        }
        return reading.values
    }

    /// The digits of a text that may have been typed as a code.
    private struct Reading {
        var values: [UInt8] = []
        /// The number of characters that are neither digits nor separators.
        private(set) var strangers = 0

        private static let longest = 256

        init?(_ text: UnsafeRawBufferPointer) {
            guard text.count <= Self.longest else { return nil }
            // Without a reallocation, which would leave a copy behind.
            values.reserveCapacity(Self.longest)
            var at = 0
            while at < text.count {
                if let size = Self.sizeOfSeparator(text[at...]) {
                    at += size
                    continue
                }
                // The further bytes of a character are a part of it.
                if let value = RecoveryCode.value(of: text[at]) {
                    values.append(value)
                } else if text[at] & 0xC0 != 0x80 {
                    strangers += 1
                }
                at += 1
            }
        }

        /// Returns the size of a space or dash at the beginning of a text: also those that word processors put in.
        private static func sizeOfSeparator(_ text: Slice<UnsafeRawBufferPointer>) -> Int? {
            let bytes = text.prefix(3)
            switch bytes.first! {
            case UInt8(ascii: "-"), UInt8(ascii: " "), 0x09...0x0D: return 1
            // A space without a break, a soft hyphen.
            case 0xC2 where [0xA0, 0xAD].contains(bytes.dropFirst().first): return 2
            // U+2000 to U+2015 are spaces and dashes; a thin space without a break, a joiner of words, a minus.
            case 0xE2 where bytes.count == 3:
                let second = bytes[bytes.startIndex + 1], third = bytes[bytes.startIndex + 2]
                let isSeparator = second == 0x80 && ((0x80...0x95).contains(third) || third == 0xAF)
                return isSeparator || second == 0x81 && third == 0xA0 || second == 0x88 && third == 0x92 ? 3 : nil
            // A byte order mark.
            case 0xEF where bytes.dropFirst().elementsEqual([0xBB, 0xBF]): return 3
            default: return nil
            }
        }
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
        case UInt8(ascii: "U"): return 27
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

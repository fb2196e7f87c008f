/// Builds the bytes of an object. Numbers are big-endian.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    mutating func add(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Writes a number over four bytes that were added before.
    mutating func replace(at offset: Int, _ value: UInt32) {
        withUnsafeBytes(of: value.bigEndian) { new in
            for (index, byte) in new.enumerated() { bytes[offset + index] = byte }
        }
    }
}

/// Reads the bytes of an object that others may have made: each end is checked.
struct ByteReader {
    struct Ended: Error {}

    private let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var rest: Int { bytes.count - offset }

    mutating func take(_ count: Int) throws -> [UInt8] {
        guard count >= 0, count <= rest else { throw Ended() }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    mutating func number<T: FixedWidthInteger>(_ type: T.Type = T.self) throws -> T {
        try take(MemoryLayout<T>.size).reduce(0) { $0 << 8 | T($1) }
    }

    mutating func expect(_ text: StaticString) throws {
        let expected = text.withUTF8Buffer { Array($0) }
        guard try take(expected.count) == expected else { throw Ended() }
    }
}

extension [UInt8] {
    /// Lowercase hexadecimal digits.
    var hex: String {
        String(unsafeUninitializedCapacity: 2 * count) { text in
            for (index, byte) in enumerated() {
                text[2 * index] = Self.digit(byte >> 4)
                text[2 * index + 1] = Self.digit(byte & 15)
            }
            return 2 * count
        }
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }

    /// Reads hexadecimal digits. Returns nil for any other text.
    init?(hex text: some StringProtocol) {
        let digits = text.utf8.map { digit -> UInt8? in
            switch digit {
            case 48...57: digit - 48
            case 97...102: digit - 87
            case 65...70: digit - 55
            default: nil
            }
        }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { digits[$0]! << 4 | digits[$0 + 1]! }
    }
}

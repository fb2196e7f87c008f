import Foundation

/// A row as it is stored: the values of its columns, in the bytes of its payload.
///
/// Source: <https://www.sqlite.org/fileformat2.html#record_format>.
struct StoredRecord {
    enum Value {
        case null
        case integer(Int64)
        case real(Double)
        case text(Range<Int>)
        case blob(Range<Int>)
    }

    let bytes: [UInt8]
    let values: [Value]

    /// SQLite accepts no longer header: that of 32,767 columns of three bytes each.
    private static let longestHeader = 98_307

    /// Parses the record in `range` of `bytes`. Nil if the header and the values don't fill it exactly.
    init?(_ bytes: [UInt8], in range: Range<Int>) {
        guard range.lowerBound >= 0, range.upperBound <= bytes.count else { return nil }
        var at = range.lowerBound
        // Each column has a byte there at least: without a bound, a large blob could look like millions of columns.
        guard let size = bytes.varint(at: &at, end: range.upperBound), size >= 1, size <= Int64(range.count),
            size <= StoredRecord.longestHeader
        else { return nil }
        let end = range.lowerBound + Int(size)
        guard at <= end else { return nil }
        var values: [Value] = [], body = end
        values.reserveCapacity(min(Int(size), 64))
        while at < end {
            guard let type = bytes.varint(at: &at, end: end),
                let value = StoredRecord.value(type, bytes, at: &body, end: range.upperBound)
            else { return nil }
            values.append(value)
        }
        guard body == range.upperBound else { return nil }
        (self.bytes, self.values) = (bytes, values)
    }

    private static func value(_ type: Int64, _ bytes: [UInt8], at offset: inout Int, end: Int) -> Value? {
        guard type >= 0 else { return nil }
        let sizes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]
        if type >= 12 {
            let size = (type - 12) / 2
            guard size <= Int64(end - offset) else { return nil }
            let range = offset..<offset + Int(size)
            offset = range.upperBound
            return type % 2 == 0 ? .blob(range) : .text(range)
        }
        guard type < 10 else { return nil }
        let size = sizes[Int(type)]
        guard size <= end - offset else { return nil }
        defer { offset += size }
        switch type {
        case 0: return .null
        case 7: return .real(Double(bitPattern: UInt64(bitPattern: integer(bytes, offset, 8))))
        case 8, 9: return .integer(type - 8)
        default: return .integer(integer(bytes, offset, size))
        }
    }

    private static func integer(_ bytes: [UInt8], _ offset: Int, _ size: Int) -> Int64 {
        var value = bytes[offset] >= 0x80 ? Int64(-1) : 0
        for index in offset..<offset + size { value = value << 8 | Int64(bytes[index]) }
        return value
    }
}

/// The encoding of a database's texts, by SQLite's numbers.
enum TextEncoding: Int {
    case utf8Text = 1
    case utf16LittleText, utf16BigText

    /// Returns the text. Nil if the bytes are none in this encoding.
    func text(_ bytes: some Collection<UInt8>) -> String? {
        switch self {
        case .utf8Text: String(validatingUTF8Bytes: bytes)
        case .utf16LittleText: String(data: Data(bytes), encoding: .utf16LittleEndian)
        case .utf16BigText: String(data: Data(bytes), encoding: .utf16BigEndian)
        }
    }

    /// The name for `PRAGMA encoding`.
    var name: String {
        switch self {
        case .utf8Text: "UTF-8"
        case .utf16LittleText: "UTF-16le"
        case .utf16BigText: "UTF-16be"
        }
    }
}

extension StoredRecord {
    /// Returns a text. Nil for another value.
    func text(_ index: Int, _ encoding: TextEncoding) -> String? {
        guard index < values.count, case .text(let range) = values[index] else { return nil }
        return encoding.text(bytes[range])
    }

    func integer(_ index: Int) -> Int64? {
        guard index < values.count, case .integer(let value) = values[index] else { return nil }
        return value
    }
}

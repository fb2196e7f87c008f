/// The header of a file in an archive of tar, and the records before it for what the header has no room for.
///
/// Source: <https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html>.
struct TarHeader: Equatable {
    var name: String
    var size: Int64
    /// The kind of the entry. `0` for a file.
    var kind = UInt8(ascii: "0")

    static let blockSize = 512
    /// The kind of an entry that contains records for the next one.
    static let extended = UInt8(ascii: "x")

    /// Returns the number of zeros after a content of this size.
    static func padding(after size: Int64) -> Int { Int((512 - size % 512) % 512) }

    // MARK: - Writing

    /// The blocks of the header, after those of a record if the name or the size needs one.
    var blocks: [UInt8] {
        var records: [UInt8] = []
        if name.utf8.count > 100 || !name.utf8.allSatisfy({ $0 < 128 }) { records += Self.record("path", name) }
        if size > Self.greatestSize { records += Self.record("size", String(size)) }
        guard !records.isEmpty else { return block }
        let head = TarHeader(name: "pax", size: Int64(records.count), kind: Self.extended)
        return head.block + records + [UInt8](repeating: 0, count: Self.padding(after: head.size)) + block
    }

    private static let greatestSize: Int64 = 0o77_777_777_777

    /// The header itself. A name or a size without room in it is cut off.
    private var block: [UInt8] {
        var block = [UInt8](repeating: 0, count: Self.blockSize)
        func put(_ bytes: some Sequence<UInt8>, at offset: Int) {
            for (index, byte) in bytes.enumerated() { block[offset + index] = byte }
        }
        put(shortName.utf8, at: 0)
        for (offset, number, digits) in [(100, 0o600, 7), (108, 0, 7), (116, 0, 7), (136, 0, 11)] {
            put(Self.octal(Int64(number), digits), at: offset)
        }
        put(Self.octal(size > Self.greatestSize ? 0 : size, 11), at: 124)
        block[156] = kind
        put("ustar\u{0}00".utf8, at: 257)
        put(Self.octal(Self.checksum(of: block), 6), at: 148)
        block[155] = UInt8(ascii: " ")
        return block
    }

    /// The whole letters of the name in the first 100 bytes.
    private var shortName: String {
        var short = String.UnicodeScalarView(), count = 0
        for scalar in name.unicodeScalars {
            count += UTF8.width(scalar)
            if count > 100 { break }
            short.append(scalar)
        }
        return String(short)
    }

    private static func octal(_ number: Int64, _ digits: Int) -> [UInt8] {
        let text = String(number, radix: 8)
        return Array((String(repeating: "0", count: max(0, digits - text.count)) + text).utf8)
    }

    /// Returns the sum of the bytes, with spaces in the place of the sum.
    private static func checksum(of block: [UInt8]) -> Int64 {
        let sum = block.reduce(0) { $0 + Int64($1) }, stored = block[148..<156].reduce(0) { $0 + Int64($1) }
        return sum - stored + 8 * Int64(UInt8(ascii: " "))
    }

    /// Returns a record, which begins with its own length.
    private static func record(_ name: String, _ value: String) -> [UInt8] {
        let rest = " \(name)=\(value)\n"
        var length = rest.utf8.count
        while "\(length)".utf8.count + rest.utf8.count != length { length = "\(length)".utf8.count + rest.utf8.count }
        return Array("\(length)\(rest)".utf8)
    }

    // MARK: - Reading

    init(name: String, size: Int64, kind: UInt8 = UInt8(ascii: "0")) {
        (self.name, self.size, self.kind) = (name, size, kind)
    }

    /// Reads the block of a header. Nil if it is none.
    init?(block: [UInt8]) {
        // A long name may be cut off inside of a letter: the records before have the whole one.
        func text(_ range: Range<Int>) -> String { String(decoding: block[range].prefix { $0 != 0 }, as: UTF8.self) }
        func number(_ range: Range<Int>) -> Int64? {
            Int64(text(range).trimmingPrefix(" ").prefix { $0 != " " }, radix: 8)
        }
        guard block.count == Self.blockSize, block[257..<262].elementsEqual("ustar".utf8),
            number(148..<156) == Self.checksum(of: block), let size = number(124..<136), size >= 0
        else { return nil }
        self.init(name: text(0..<100), size: size, kind: block[156] == 0 ? UInt8(ascii: "0") : block[156])
    }

    /// Takes over what records say about this entry. Returns false if they are malformed.
    mutating func apply(records: [UInt8]) -> Bool {
        var rest = records[...]
        while let space = rest.firstIndex(of: UInt8(ascii: " ")) {
            guard let length = Int(String(decoding: rest[..<space], as: UTF8.self)),
                length > space - rest.startIndex + 1,
                length <= rest.count, rest[rest.startIndex + length - 1] == UInt8(ascii: "\n"),
                let (keyword, value) = Self.parts(of: rest[(space + 1)..<(rest.startIndex + length - 1)])
            else { return false }
            switch keyword {
            case "path": name = value
            case "size":
                guard let size = Int64(value), size >= 0 else { return false }
                self.size = size
            // Times and owners have no meaning here.
            default: break
            }
            rest = rest.dropFirst(length)
        }
        return rest.isEmpty
    }

    /// Returns the parts of a record before and after the first equals sign. Nil without one, or if they are not UTF-8.
    private static func parts(of record: ArraySlice<UInt8>) -> (keyword: String, value: String)? {
        guard let equals = record.firstIndex(of: UInt8(ascii: "=")),
            let keyword = String(bytes: record[..<equals], encoding: .utf8),
            let value = String(bytes: record[(equals + 1)...], encoding: .utf8)
        else { return nil }
        return (keyword, value)
    }
}

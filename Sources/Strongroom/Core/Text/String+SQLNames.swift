import Foundation

extension String {
    /// The string as an SQL identifier, in double quotes.
    public var quotedDatabaseIdentifier: String {
        "\"" + replacing(ascii: "\"", with: "\"\"") + "\""
    }

    /// Returns the text with each of an ASCII character replaced. Compares bytes: a quotation mark with a combining
    /// mark behind it is another character for Swift, and still ends a literal of SQL.
    package func replacing(ascii old: Unicode.Scalar, with new: String) -> String {
        let byte = UInt8(ascii: old)
        guard utf8.contains(byte) else { return self }
        let bytes = utf8.reduce(into: [UInt8]()) { bytes, next in
            if next == byte { bytes += new.utf8 } else { bytes.append(next) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Creates the text of bytes. Nil unless they are UTF-8.
    package init?(validatingUTF8Bytes bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }

    /// The name as a key: equal for names that SQLite takes for one, by bytes and without regard to the case of ASCII
    /// letters. Each byte that is not ASCII becomes a scalar for private use, because Swift takes strings for equal
    /// that look alike.
    package var foldedSQLName: String {
        guard utf8.contains(where: { $0 >= 0x80 || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) else {
            return self
        }
        var folded = String.UnicodeScalarView()
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): folded.append(Unicode.Scalar(byte | 0x20))
            case 0x80...: folded.append(Unicode.Scalar(Self.privateUse + UInt32(byte))!)
            default: folded.append(Unicode.Scalar(byte))
            }
        }
        return String(folded)
    }

    /// The name to show for a ``foldedSQLName``.
    var unfoldedSQLName: String {
        guard utf8.contains(where: { $0 >= 0x80 }) else { return self }
        return String(decoding: unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }, as: UTF8.self)
    }

    private static let privateUse: UInt32 = 0xE000

    /// The name of a collation in SQL, quoted unless it is a plain word.
    var sqlCollationName: String {
        let isPlain =
            utf8.first.map { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == true
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
        return isPlain ? self : quotedDatabaseIdentifier
    }
}

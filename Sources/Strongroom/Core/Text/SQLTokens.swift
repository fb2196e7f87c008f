/// The tokens of an SQL text, as SQLite's own tokenizer separates them, without space and comments.
///
/// Source: <https://www.sqlite.org/lang_comment.html>, <https://www.sqlite.org/lang_expr.html#varparam>.
struct SQLTokens: Sequence, IteratorProtocol {
    struct Token {
        enum Kind {
            /// A keyword, a name or a number.
            case word
            /// A string or a quoted name.
            case quoted
            /// `?`, `?1`, `:a`, `@a`, `#a`, `$a`, `$a::b` or `$a(b)`.
            case parameter
            /// A single character.
            case other
        }

        let kind: Kind

        /// The range of the token in the text, including quotes and prefixes.
        let range: Range<Int>
    }

    private let bytes: UnsafeBufferPointer<UInt8>

    /// The position after the latest token.
    private var index = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Returns the next token. Nil at the end.
    mutating func next() -> Token? {
        while index < bytes.count {
            let start = index, byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: " "), 0x09...0x0D: continue
            case 0xEF where follows(0xBB, 0xBF): index += 2
            case UInt8(ascii: "-") where follows(byte): skip { $0 == 0x0A }
            case UInt8(ascii: "/") where follows(UInt8(ascii: "*")): skipComment()
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
                // A doubled quote is read as two strings in sequence, with the same result.
                skip { $0 == byte }
                return Token(kind: .quoted, range: start..<index)
            case UInt8(ascii: "["):
                skip { $0 == UInt8(ascii: "]") }
                return Token(kind: .quoted, range: start..<index)
            case UInt8(ascii: "?"):
                // Digits only: the word that follows in `ATTACH ?KEY 'secret'` is a keyword.
                while index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) { index += 1 }
                return Token(kind: .parameter, range: start..<index)
            case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: "$"):
                skipParameter()
                return Token(kind: .parameter, range: start..<index)
            case _ where Self.isWord(byte):
                skipWord()
                return Token(kind: .word, range: start..<index)
            default: return Token(kind: .other, range: start..<index)
            }
        }
        return nil
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }

    private func follows(_ expected: UInt8...) -> Bool {
        index + expected.count <= bytes.count && expected.indices.allSatisfy { bytes[index + $0] == expected[$0] }
    }

    private mutating func skipWord() {
        while index < bytes.count, Self.isWord(bytes[index]) { index += 1 }
    }

    /// Skips a name with the parts that Tcl allows: `::`, and parentheses without space, which may contain quotes.
    private mutating func skipParameter() {
        let start = index
        while index < bytes.count {
            if Self.isWord(bytes[index]) {
                index += 1
            } else if bytes[index] == UInt8(ascii: "("), index > start {
                skip { $0 == UInt8(ascii: ")") || $0 == UInt8(ascii: " ") || (0x09...0x0D).contains($0) }
                return
            } else if bytes[index] == UInt8(ascii: ":"), follows(UInt8(ascii: ":"), UInt8(ascii: ":")) {
                index += 2
            } else {
                return
            }
        }
    }

    private mutating func skip(past isLast: (UInt8) -> Bool) {
        while index < bytes.count {
            index += 1
            if isLast(bytes[index - 1]) { return }
        }
    }

    private mutating func skipComment() {
        index += 1
        while index < bytes.count {
            index += 1
            if bytes[index - 1] == UInt8(ascii: "*"), follows(UInt8(ascii: "/")) {
                index += 1
                return
            }
        }
    }
}

/// The parameters of a statement that stand after `MATCH`, and nowhere else.
///
/// FTS5 takes a pattern that is NULL for a syntax error, where FTS3 and FTS4 find nothing. An empty phrase finds nothing
/// in any of them: such a parameter gets one for NULL.
///
/// Source: <https://www.sqlite.org/fts5.html#full_text_query_syntax>.
struct PatternParameters {
    private typealias Text = Slice<UnsafeBufferPointer<UInt8>>

    /// A pattern that no text matches.
    static let matchingNothing = "\"\"".databaseValue

    /// From 1, as SQLite counts them.
    private(set) var positions: [CInt] = []

    /// By position, the names of all parameters; nil for `?`.
    private let names: [String?]
    private var others: Set<CInt> = []
    private var greatest: CInt = 0
    private var isAfterMatch = false
    /// The token before, where it was a parameter after `MATCH`: a pattern, or the beginning of an expression.
    private var candidate: CInt?

    init(in sql: String, names: [String?]) {
        self.names = names
        var sql = sql
        sql.withUTF8 { bytes in
            var rest = bytes[...]
            while let token = Self.nextToken(in: &rest) { read(token) }
        }
        settle(isOperand: true)
        positions.removeAll(where: others.contains)
    }

    private mutating func read(_ token: Text) {
        settle(isOperand: !Self.bindingTighter.contains(token.first!))
        if let position = position(of: token) {
            greatest = max(greatest, position)
            if isAfterMatch { candidate = position } else { others.insert(position) }
        }
        isAfterMatch = token.elementsEqual("match".utf8) { $0 | 0x20 == $1 }
    }

    private mutating func settle(isOperand: Bool) {
        guard let candidate else { return }
        if isOperand { positions.append(candidate) } else { others.insert(candidate) }
        self.candidate = nil
    }

    /// How the operators begin that bind tighter than `MATCH`.
    private static let bindingTighter = Set("|+-*/%&<>".utf8)

    /// Nil for what is no parameter. <https://www.sqlite.org/lang_expr.html#varparam>
    private func position(of token: Text) -> CInt? {
        guard Self.parameterPrefixes.contains(token.first!) else { return nil }
        guard token.count > 1 else { return greatest + 1 }
        let name = String(decoding: token.dropFirst(), as: UTF8.self)
        return names.firstIndex(of: name).map { CInt($0 + 1) }
    }

    private static let parameterPrefixes = Set("?:@$".utf8)

    // MARK: - Tokens

    /// A word, with its prefix if it is a parameter; a string or a quoted name; or a single character. Nil at the end.
    private static func nextToken(in rest: inout Text) -> Text? {
        skipSpaceAndComments(&rest)
        guard let first = rest.first else { return nil }
        let start = rest
        rest = rest.dropFirst()
        switch first {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): skip(past: [first], &rest)
        case UInt8(ascii: "["): skip(past: Array("]".utf8), &rest)
        case _ where SQLText.isWord(first) || parameterPrefixes.contains(first): rest = rest.drop(while: SQLText.isWord)
        default: break
        }
        return start[start.startIndex..<rest.startIndex]
    }

    private static func skipSpaceAndComments(_ rest: inout Text) {
        while true {
            rest = rest.drop { $0 == UInt8(ascii: " ") || (0x09...0x0D).contains($0) }
            if rest.starts(with: "--".utf8) {
                skip(past: Array("\n".utf8), &rest)
            } else if rest.starts(with: "/*".utf8) {
                rest = rest.dropFirst(2)
                skip(past: Array("*/".utf8), &rest)
            } else {
                return
            }
        }
    }

    private static func skip(past end: [UInt8], _ rest: inout Text) {
        while !rest.isEmpty, !rest.starts(with: end) { rest = rest.dropFirst() }
        rest = rest.dropFirst(end.count)
    }
}

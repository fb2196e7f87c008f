/// The parameters of a statement that follow `MATCH`, and are not used elsewhere.
///
/// With a NULL pattern, FTS5 reports a syntax error, and FTS3 and FTS4 find nothing. An empty phrase finds nothing in
/// all of them. It replaces NULL in these parameters.
///
/// Source: <https://www.sqlite.org/fts5.html#full_text_query_syntax>.
struct PatternParameters {
    private typealias Text = Slice<UnsafeBufferPointer<UInt8>>

    /// A pattern that matches no text.
    static let matchingNothing = "\"\"".databaseValue

    /// The positions, from 1 as in SQLite.
    private(set) var positions: [CInt] = []

    /// The names of all parameters by position. Nil for `?`.
    private let names: [String?]
    private var others: Set<CInt> = []
    private var greatest: CInt = 0
    private var isAfterMatch = false
    /// The previous token, if it was a parameter after `MATCH`: a pattern, or the beginning of an expression.
    private var candidate: CInt?

    init(in sql: String, names: [String?]) {
        self.names = names
        var sql = sql
        sql.withUTF8 { bytes in
            for token in SQLTokens(bytes) { read(bytes[token.range], token.kind) }
        }
        settle(isOperand: true)
        positions.removeAll(where: others.contains)
    }

    private mutating func read(_ token: Text, _ kind: SQLTokens.Token.Kind) {
        settle(isOperand: !Self.bindingTighter.contains(token.first!))
        if kind == .parameter, let position = position(of: token) {
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

    /// The first characters of the operators that bind more tightly than `MATCH`.
    private static let bindingTighter = Set("|+-*/%&<>".utf8)

    /// Returns the number of a parameter. Nil for an unknown name. <https://www.sqlite.org/lang_expr.html#varparam>
    private func position(of token: Text) -> CInt? {
        guard token.count > 1 else { return greatest + 1 }
        let name = String(decoding: token.dropFirst(), as: UTF8.self)
        return names.firstIndex(of: name).map { CInt($0 + 1) }
    }
}

/// The names in the text of a statement that decide what it reads: those where SQL allows a table or a view, and those
/// of common table expressions.
///
/// SQLite's authorizer is not enough. It reports neither the columns that `USING` and `NATURAL JOIN` compare, nor a
/// view without columns, and its name of a view may be that of a common table expression. So each name is checked
/// here first, by the same tokens that SQLite reads. The lists may contain names that SQLite takes for something
/// else, and never lack one.
///
/// Source: <https://www.sqlite.org/lang_select.html>, and SQLite's `parse.y` for words that can be names.
struct SourceNames {
    struct Source {
        /// The folded name of the schema. Nil if there is none.
        let schema: String?
        let name: String
    }

    /// The tables, views and table-valued functions after `FROM`, `JOIN`, `IN` and commas between them, as they come.
    private(set) var sources: [Source] = []

    /// The folded names of common table expressions, and of windows.
    private(set) var commonTables: Set<String> = []

    /// The folded names of the columns in `USING`.
    private(set) var joinColumns: Set<String> = []

    /// True if the text contains `NATURAL`.
    private(set) var joinsNaturally = false

    /// The first word in lowercase. Empty if the text begins otherwise.
    private(set) var firstWord = ""

    private let lexemes: [Lexeme]

    private enum Lexeme: Equatable {
        /// An unquoted word, folded.
        case word(String)
        /// A quoted name, or a string that SQLite may take as one, without quotes and folded.
        case quoted(String)
        case symbol(UInt8)
        case parameter

        var name: String? {
            switch self {
            case .word(let name), .quoted(let name): name
            case .symbol, .parameter: nil
            }
        }

        static let open = Lexeme.symbol(UInt8(ascii: "(")), close = Lexeme.symbol(UInt8(ascii: ")"))
        static let comma = Lexeme.symbol(UInt8(ascii: ",")), dot = Lexeme.symbol(UInt8(ascii: "."))
    }

    /// The state between two parentheses.
    private enum Place {
        /// A source may come.
        case source
        /// After a source: a comma or `JOIN` announces another one.
        case sources
        case elsewhere
    }

    init(_ sql: String) {
        var sql = sql
        self = sql.withUTF8 { SourceNames($0) }
    }

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        lexemes = Self.lexemes(of: bytes)
        if case .word(let word)? = lexemes.first { firstWord = word }
        joinsNaturally = lexemes.contains(.word("natural"))
        findCommonTables()
        findJoinColumns()
        findSources()
    }

    /// Reads the tokens. A doubled quote is two tokens in sequence, and one name.
    private static func lexemes(of bytes: UnsafeBufferPointer<UInt8>) -> [Lexeme] {
        var lexemes: [Lexeme] = []
        var quoted: (range: Range<Int>, text: [UInt8])?
        func endQuoted() {
            if let text = quoted?.text { lexemes.append(.quoted(String(decoding: text, as: UTF8.self).foldedSQLName)) }
            quoted = nil
        }
        for token in SQLTokens(bytes) {
            let range = token.range
            if token.kind == .quoted {
                let isEnded = range.count > 1 && bytes[range.upperBound - 1] == closing(bytes[range.lowerBound])
                let text = bytes[(range.lowerBound + 1)..<(isEnded ? range.upperBound - 1 : range.upperBound)]
                let quote = bytes[range.lowerBound]
                if let former = quoted, former.range.upperBound == range.lowerBound, quote != UInt8(ascii: "["),
                    bytes[former.range.lowerBound] == quote
                {
                    quoted = (former.range.lowerBound..<range.upperBound, former.text + [quote] + text)
                } else {
                    endQuoted()
                    quoted = (range, Array(text))
                }
                continue
            }
            endQuoted()
            switch token.kind {
            case .word: lexemes.append(.word(String(decoding: bytes[range], as: UTF8.self).foldedSQLName))
            case .parameter: lexemes.append(.parameter)
            case .quoted, .other: lexemes.append(.symbol(bytes[range.lowerBound]))
            }
        }
        endQuoted()
        return lexemes
    }

    private static func closing(_ quote: UInt8) -> UInt8 { quote == UInt8(ascii: "[") ? UInt8(ascii: "]") : quote }

    private subscript(index: Int) -> Lexeme? { index < lexemes.count ? lexemes[index] : nil }

    // MARK: - Common table expressions

    /// Finds `name AS (`, `name (columns) AS (`, and both with `MATERIALIZED`.
    private mutating func findCommonTables() {
        for index in lexemes.indices {
            guard let name = lexemes[index].name else { continue }
            var next = index + 1
            if self[next] == .open {
                while let lexeme = self[next], lexeme != .close { next += 1 }
                next += 1
            }
            guard self[next] == .word("as") else { continue }
            next += 1
            if self[next] == .word("not") { next += 1 }
            if self[next] == .word("materialized") { next += 1 }
            if self[next] == .open { commonTables.insert(name) }
        }
    }

    private mutating func findJoinColumns() {
        for index in lexemes.indices where lexemes[index] == .word("using") && self[index + 1] == .open {
            var next = index + 2
            while let lexeme = self[next], lexeme != .close {
                if let name = lexeme.name { joinColumns.insert(name) }
                next += 1
            }
        }
    }

    // MARK: - Sources

    /// Words that end the sources of a query. None of them can be a name without quotes.
    private static let ends: Set = [
        "select", "values", "where", "group", "having", "order", "limit", "union", "except", "intersect", "set",
    ]

    private mutating func findSources() {
        var places = [Place.elsewhere]
        for (index, lexeme) in lexemes.enumerated() {
            let place = places[places.count - 1]
            switch lexeme {
            case .open:
                if place == .source { places[places.count - 1] = .sources }
                places.append(place == .source ? .source : .elsewhere)
            case .close:
                if places.count > 1 { places.removeLast() }
            case .comma:
                if place == .sources { places[places.count - 1] = .source }
            case .word("from") where index > 0 && lexemes[index - 1] == .word("distinct"):
                // The operator IS DISTINCT FROM.
                continue
            case .word("from"), .word("join"):
                places[places.count - 1] = .source
            case .word("with") where place == .source && index > 0 && lexemes[index - 1] == .open:
                // Common table expressions follow, and commas between them.
                places[places.count - 1] = .sources
            case .word(let word) where Self.ends.contains(word):
                places[places.count - 1] = .elsewhere
            default:
                // A name after IN stands for a table. So may each word there, to be safe.
                guard place == .source || index > 0 && lexemes[index - 1] == .word("in") else { continue }
                if readSource(at: index), place == .source { places[places.count - 1] = .sources }
            }
        }
    }

    /// Records the source at an index. Returns false if there is no name.
    private mutating func readSource(at index: Int) -> Bool {
        guard let name = lexemes[index].name else { return false }
        if self[index + 1] == .dot, let second = self[index + 2]?.name {
            sources.append(Source(schema: name, name: second))
        } else {
            sources.append(Source(schema: nil, name: name))
        }
        return true
    }
}

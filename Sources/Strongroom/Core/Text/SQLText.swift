/// The facts about an SQL statement that follow from its text: its end, and the key that it may contain.
///
/// SQLite's compiler is more precise, but only for statements that compile. Errors and logs show others, too.
package struct SQLText {
    /// The way in which a statement contains a key.
    enum KeyPlace: Equatable {
        /// `PRAGMA key`, `rekey` and their kin.
        case pragma(String)

        /// `ATTACH … KEY …`, with the length in bytes of the text before the key.
        case attachment(Int)

        /// `ATTACH 'file:…?key=…'`, and `VACUUM INTO` a URI with a key.
        case uri(String)

        /// True if the statement may give access to encrypted pages of another database.
        var attaches: Bool {
            switch self {
            case .attachment, .uri("ATTACH"): true
            case .pragma, .uri: false
            }
        }
    }

    /// The number of bytes, including the final semicolon.
    private(set) var length = 0

    /// True if the text only contains space, comments and semicolons.
    private(set) var isBlank = true

    private(set) var secret: KeyPlace?

    /// The database that `VACUUM … INTO` copies, in lowercase. Nil for other statements.
    private(set) var copiedSchema: String?

    /// The name of a `PRAGMA`, in lowercase and without quotes.
    private(set) var pragma: String?

    var isVacuum: Bool { verb == .vacuum }

    private var isTrigger = false
    private var verb = Verb.unknown
    private var vacuumedSchema = "main"

    /// The last two tokens: a trigger ends with `; END ;`.
    private var former = Token.other
    private var latest = Token.other

    private enum Verb { case unknown, create, pragma, pragmaName, attach, vacuum, other }

    private enum Token { case semicolon, end, word, other }

    /// Reads the first statement of `bytes`.
    init(first bytes: UnsafeBufferPointer<UInt8>) {
        for token in SQLTokens(bytes) {
            let range = token.range
            switch token.kind {
            case .word: read(.word, text(bytes, range.lowerBound, range.upperBound), end: range.upperBound)
            case .quoted: read(.other, text(bytes, range.lowerBound + 1, range.upperBound - 1), end: range.upperBound)
            case .parameter: read(.other, "", end: range.upperBound)
            case .other where bytes[range.lowerBound] == UInt8(ascii: ";"):
                // Only blanks so far: a statement may follow.
                if isBlank { continue }
                if !isTrigger || (latest == .end && former == .semicolon) {
                    length = range.upperBound
                    return
                }
                read(.semicolon, "", end: range.upperBound)
            case .other:
                read(.other, bytes[range.lowerBound] == UInt8(ascii: ".") ? "." : "", end: range.upperBound)
            }
        }
        length = bytes.count
    }

    /// Returns the text of the relevant tokens, in lowercase. Empty for all others, which may be long.
    private func text(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> String {
        guard start < end, verb != .other || isTrigger else { return "" }
        if verb == .attach || verb == .vacuum || end - start <= Self.longestWord {
            return String(decoding: bytes[start..<end], as: UTF8.self).lowercased()
        }
        return ""
    }

    /// `cipher_default_plaintext_header_size` has 36 bytes.
    private static let longestWord = 40

    // MARK: - Meaning

    private mutating func read(_ token: Token, _ text: String, end: Int) {
        isBlank = false
        former = latest
        latest = token == .word && text == "end" ? .end : token
        switch verb {
        case .unknown:
            readVerb(text)
        case .create:
            isTrigger = text == "trigger"
            if text != "temp", text != "temporary" { verb = .other }
        case .pragma:
            verb = .pragmaName
            pragma = text
            if Self.keyPragmas.contains(text) { secret = .pragma(text) }
        case .pragmaName:
            // The token before the dot was the name of a schema.
            verb = text == "." ? .pragma : .other
            if text == "." { secret = nil }
        case .attach:
            if token == .word, text == "key", secret == nil { secret = .attachment(end) }
            if token == .other, Self.isURIWithKey(text) { secret = .uri("ATTACH") }
        case .vacuum:
            if token == .word, text == "into" {
                copiedSchema = vacuumedSchema
            } else if copiedSchema == nil {
                vacuumedSchema = text
            }
            if token == .other, Self.isURIWithKey(text) { secret = .uri("VACUUM INTO") }
        case .other:
            break
        }
    }

    private mutating func readVerb(_ text: String) {
        switch text {
        case "explain", "query", "plan": verb = .unknown
        case "create": verb = .create
        case "pragma": verb = .pragma
        case "attach": verb = .attach
        case "vacuum": verb = .vacuum
        default: verb = .other
        }
    }

    /// Returns true for a URI with a key. Escapes are decoded, as SQLite does before SQLCipher reads the key.
    private static func isURIWithKey(_ text: String) -> Bool {
        text.contains("key=") || SQLiteURI(text)?.carriesKey == true
    }

    /// Returns true if one of the statements in a text contains a key.
    package static func mentionsKey(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBufferPointer { all in
            var start = 0
            while start < all.count {
                let statement = SQLText(first: UnsafeBufferPointer(rebasing: all[start...]))
                if statement.secret != nil { return true }
                guard statement.length > 0 else { return false }
                start += statement.length
            }
            return false
        }
    }

    static let keyPragmas: Set<String> = ["key", "hexkey", "textkey", "rekey", "hexrekey", "textrekey"]
}

extension SQLText {
    /// Reads the first statement of `characters`.
    init(first characters: UnsafeBufferPointer<CChar>) {
        self = characters.withMemoryRebound(to: UInt8.self) { SQLText(first: $0) }
    }

    /// Returns true if the text only contains space, comments and semicolons.
    static func isBlank(_ characters: UnsafeBufferPointer<CChar>) -> Bool {
        SQLText(first: characters).isBlank
    }

    /// Returns the SQL for errors and traces.
    static func showable(_ characters: UnsafeBufferPointer<CChar>) -> String {
        characters.withMemoryRebound(to: UInt8.self) { showable(String(decoding: $0, as: UTF8.self)) }
    }

    /// Reads the first statement of `sql`.
    init(_ sql: String) {
        var sql = sql
        self = sql.withUTF8 { SQLText(first: $0) }
    }

    /// Returns the SQL for errors and traces: without surrounding space and without keys, and truncated if it is very
    /// long.
    static func showable(_ sql: String) -> String {
        withoutKeys(sql).trimmingSQL()
    }

    /// Returns the SQL without its keys, truncated if it is very long.
    static func withoutKeys(_ sql: String) -> String {
        guard sql.utf8.count <= longest else {
            return showable(String(decoding: sql.utf8.prefix(shown), as: UTF8.self)) + "…"
        }
        var sql = sql
        return sql.withUTF8 { redact($0) } ?? sql
    }

    private static let longest = 1_000_000
    private static let shown = 1_000

    /// Returns the statements without their keys. Nil if they have none.
    private static func redact(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        var redacted: [UInt8] = []
        var hides = false
        var rest = bytes
        while !rest.isEmpty {
            let text = SQLText(first: rest)
            switch text.secret {
            case nil: redacted += rest.prefix(text.length)
            case .pragma(let name): redacted += Array("PRAGMA \(name) = '…';".utf8)
            case .attachment(let length): redacted += rest.prefix(length) + Array(" '…';".utf8)
            case .uri(let verb): redacted += Array("\(verb) '…';".utf8)
            }
            if text.secret != nil { hides = true }
            rest = UnsafeBufferPointer(rebasing: rest.dropFirst(text.length))
        }
        return hides ? String(decoding: redacted, as: UTF8.self) : nil
    }

    /// Returns true if `text`, such as a log line, contains a statement with a key.
    static func containsKey(_ text: String) -> Bool {
        let lowercase = SQLiteURI.decoded(text.utf8).lowercased()
        guard lowercase.contains("key") else { return false }
        return lowercase.contains("key=")
            || ["pragma", "attach", "vacuum"].contains { verb in
                lowercase.ranges(of: verb).contains { SQLText(String(lowercase[$0.lowerBound...])).secret != nil }
            }
    }
}

extension SQLText {
    /// Returns true if the text ends with the end of a statement. <https://www.sqlite.org/c3ref/complete.html>
    package static func isComplete(_ sql: String) -> Bool { SQLite.isComplete(sql) }

    /// Returns true if the text only contains whitespace.
    package static func isBlank(_ sql: String) -> Bool { sql.allSatisfy(\.isWhitespace) }
}

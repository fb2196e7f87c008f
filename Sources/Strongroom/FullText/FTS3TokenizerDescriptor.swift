/// A tokenizer of FTS3 and FTS4, with its arguments.
///
/// Source: <https://www.sqlite.org/fts3.html#tokenizer>.
public struct FTS3TokenizerDescriptor: Sendable {
    let name: String
    let arguments: [String]

    private init(_ name: String, _ arguments: [String] = []) {
        self.name = name
        self.arguments = arguments
    }

    /// Letters and digits of ASCII and all other characters beyond it make tokens; the case of ASCII letters does not
    /// count.
    public static let simple = FTS3TokenizerDescriptor("simple")

    /// As ``simple``, with English words reduced to their stems.
    public static let porter = FTS3TokenizerDescriptor("porter")

    /// Tokens are sequences of letters and digits of Unicode 6.1. Case is ignored, and by default accents are.
    ///
    /// - parameters:
    ///   - diacritics: the treatment of diacritics. Default: `.removeLegacy`.
    ///   - separators: characters that stand between tokens, although they are letters or digits.
    ///   - tokenCharacters: characters that are part of tokens, although they are neither.
    public static func unicode61(
        diacritics: FTS3.Diacritics = .removeLegacy,
        separators: Set<Character> = [],
        tokenCharacters: Set<Character> = []
    ) -> FTS3TokenizerDescriptor {
        var arguments: [String] = []
        switch diacritics {
        case .keep: arguments.append("remove_diacritics=0")
        case .removeLegacy: break
        case .remove: arguments.append("remove_diacritics=2")
        }
        if !separators.isEmpty { arguments.append("separators=" + separators.sortedString) }
        if !tokenCharacters.isEmpty { arguments.append("tokenchars=" + tokenCharacters.sortedString) }
        return FTS3TokenizerDescriptor("unicode61", arguments)
    }

    /// The option of `CREATE VIRTUAL TABLE`.
    var moduleArgument: String {
        "tokenize=" + ([name] + arguments.map(\.quotedDatabaseIdentifier)).joined(separator: " ")
    }
}

extension Set<Character> {
    /// The characters in a fixed order, because the SQL of tables is compared.
    var sortedString: String { String(sorted()) }
}

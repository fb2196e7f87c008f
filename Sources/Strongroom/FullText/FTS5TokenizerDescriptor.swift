/// A tokenizer of FTS5, by its name, with its arguments.
///
/// Source: <https://www.sqlite.org/fts5.html#tokenizers>.
public struct FTS5TokenizerDescriptor: Sendable {
    /// The name, and the arguments.
    public let components: [String]

    /// Creates the descriptor of a tokenizer by its name and arguments.
    ///
    /// - precondition: `components` is not empty.
    public init(components: [String]) {
        precondition(
            !components.isEmpty,
            "A tokenizer has a name: FTS5TokenizerDescriptor(components: [\"unicode61\"])")
        self.components = components
    }

    var name: String { components[0] }
    var arguments: [String] { Array(components.dropFirst()) }

    /// Tokens are sequences of ASCII letters and digits, and of all other characters beyond ASCII. The case of ASCII
    /// letters is ignored.
    ///
    /// - parameters:
    ///     - separators: characters that stand between tokens.
    ///     - tokenCharacters: further characters that are part of tokens.
    public static func ascii(
        separators: Set<Character> = [], tokenCharacters: Set<Character> = []
    ) -> FTS5TokenizerDescriptor {
        FTS5TokenizerDescriptor(components: ["ascii"] + exceptions(separators, tokenCharacters))
    }

    /// English words, reduced to their stems.
    ///
    /// - parameter base: what makes the words; nil for
    ///   ``unicode61(diacritics:categories:separators:tokenCharacters:)``.
    public static func porter(wrapping base: FTS5TokenizerDescriptor? = nil) -> FTS5TokenizerDescriptor {
        FTS5TokenizerDescriptor(components: ["porter"] + (base?.components ?? []))
    }

    /// Tokens are sequences of letters and digits of Unicode 6.1. Case is ignored, and by default accents are.
    ///
    /// - parameters:
    ///   - diacritics: the treatment of diacritics. Default: `.removeLegacy`.
    ///   - categories: the Unicode categories whose characters make tokens, such as `"L* N* Co"`; empty for the usual
    ///     ones.
    ///   - separators: characters that stand between tokens.
    ///   - tokenCharacters: further characters that are part of tokens.
    public static func unicode61(
        diacritics: FTS5.Diacritics = .removeLegacy,
        categories: String = "",
        separators: Set<Character> = [],
        tokenCharacters: Set<Character> = []
    ) -> FTS5TokenizerDescriptor {
        var components = ["unicode61"]
        switch diacritics {
        case .keep: components += ["remove_diacritics", "0"]
        case .removeLegacy: break
        case .remove: components += ["remove_diacritics", "2"]
        }
        if !categories.isEmpty { components += ["categories", categories] }
        return FTS5TokenizerDescriptor(components: components + exceptions(separators, tokenCharacters))
    }

    private static func exceptions(_ separators: Set<Character>, _ tokenCharacters: Set<Character>) -> [String] {
        var arguments: [String] = []
        if !separators.isEmpty { arguments += ["separators", separators.sortedString] }
        if !tokenCharacters.isEmpty { arguments += ["tokenchars", tokenCharacters.sortedString] }
        return arguments
    }

    /// The value of the option `tokenize`: a string, with further strings inside.
    var moduleArgument: String {
        components.map(\.sqlStringLiteral).joined(separator: " ").sqlStringLiteral
    }
}

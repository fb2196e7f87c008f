import Foundation

/// Rules that turn singular words into plural ones, and back.
///
/// A rule that is added later is tried first. Digits at the end of a word are ignored.
public struct Inflections: Sendable {
    private struct Rule: Sendable {
        let expression: NSRegularExpression
        let template: String
    }

    /// The rules for names of tables. Change them before the database is used: concurrent use and change is a data
    /// race. Default: English.
    nonisolated(unsafe) public static var `default` = Inflections.english

    private var pluralRules: [Rule] = []
    private var singularRules: [Rule] = []
    private var uncountables: Set<String> = []

    /// Creates an empty set of rules, which does not change words.
    public init() {}

    // MARK: - Rules

    /// Adds a rule for plurals.
    ///
    /// - parameters:
    ///   - pattern: a regular expression. An invalid one is a fatal error.
    ///   - options: the options of the expression. Default: case is ignored.
    ///   - template: the replacement of the match. `$1` is the first group.
    public mutating func plural(
        _ pattern: String, options: NSRegularExpression.Options = [.caseInsensitive], _ template: String
    ) {
        pluralRules.append(Self.rule(pattern, options, template))
    }

    /// Adds a rule for singulars.
    ///
    /// - parameters:
    ///   - pattern: a regular expression. An invalid one is a fatal error.
    ///   - options: the options of the expression. Default: case is ignored.
    ///   - template: the replacement of the match. `$1` is the first group.
    public mutating func singular(
        _ pattern: String, options: NSRegularExpression.Options = [.caseInsensitive], _ template: String
    ) {
        singularRules.append(Self.rule(pattern, options, template))
    }

    /// Adds words that are the same in singular and plural.
    public mutating func uncountableWords(_ words: [String]) {
        uncountables.formUnion(words.map { $0.lowercased() })
    }

    /// Adds a pair of words, or of endings of words: `person`, `people`.
    public mutating func irregularSuffix(_ singular: String, _ plural: String) {
        // The first letter keeps its case.
        let (singularEnd, pluralEnd) = (singular.dropFirst(), plural.dropFirst())
        let singularPattern = Self.suffixPattern(singular)
        let pluralPattern = Self.suffixPattern(plural)
        if singular.first == plural.first {
            self.plural(singularPattern, "$1" + pluralEnd)
            self.plural(pluralPattern, "$1" + pluralEnd)
            self.singular(pluralPattern, "$1" + singularEnd)
            self.singular(singularPattern, "$1" + singularEnd)
        } else {
            self.plural(singularPattern, plural)
            self.plural(pluralPattern, plural)
            self.singular(pluralPattern, singular)
            self.singular(singularPattern, singular)
        }
    }

    private static func suffixPattern(_ word: String) -> String {
        let first = NSRegularExpression.escapedPattern(for: String(word.prefix(1)))
        return "(\(first))\(NSRegularExpression.escapedPattern(for: String(word.dropFirst())))$"
    }

    private static func rule(_ pattern: String, _ options: NSRegularExpression.Options, _ template: String) -> Rule {
        do {
            return Rule(expression: try NSRegularExpression(pattern: pattern, options: options), template: template)
        } catch {
            fatalError("The inflection pattern \(pattern) is not a regular expression: \(error). Correct the pattern.")
        }
    }

    // MARK: - Use

    /// Returns the plural of a word.
    public func pluralize(_ string: String) -> String {
        inflect(string, pluralRules)
    }

    /// Returns the singular of a word.
    public func singularize(_ string: String) -> String {
        inflect(string, singularRules)
    }

    private func inflect(_ string: String, _ rules: [Rule]) -> String {
        let digits = string.reversed().prefix { $0.isASCII && $0.isNumber }.count
        let name = string.dropLast(digits)
        let word = String(Self.lastWord(of: String(name)))
        if name.isEmpty || (word.isEmpty && digits > 0) || uncountables.contains(word.lowercased()) { return string }
        let range = NSRange(word.startIndex..., in: word)
        for rule in rules.reversed() where rule.expression.firstMatch(in: word, range: range) != nil {
            let inflected = rule.expression.stringByReplacingMatches(
                in: word, range: range, withTemplate: rule.template)
            return name.dropLast(word.count) + inflected + string.suffix(digits)
        }
        return string
    }

    /// Returns the part of a name that is inflected: `News` of `latestNews`, `news` of `latest_news`.
    private static func lastWord(of name: String) -> Substring {
        if let separator = name.lastIndex(where: { !$0.isLetter }) { return name[name.index(after: separator)...] }
        guard name.contains(where: \.isLowercase), let start = name.lastIndex(where: \.isUppercase)
        else { return name[...] }
        return name[start...]
    }
}

extension Inflections {
    /// The rules of Ruby on Rails' inflector, and a few words more. Keys of associations depend on them, and programs
    /// on the keys. <https://api.rubyonrails.org/classes/ActiveSupport/Inflector.html>
    static let english: Inflections = {
        var inflections = Inflections()
        for (pattern, template) in [
            ("$", "s"), ("s$", "s"), ("^(ax|test)is$", "$1es"), ("(octop|vir)us$", "$1i"), ("(octop|vir)i$", "$1i"),
            ("(alias|status|lens|gas|bias|focus)$", "$1es"), ("(bu|canva)s$", "$1ses"),
            ("(buffal|tomat|her)o$", "$1oes"),
            ("([ti])um$", "$1a"), ("([ti])a$", "$1a"), ("sis$", "ses"), ("(?:([^f])fe|([lr])f)$", "$1$2ves"),
            ("(hive)$", "$1s"), ("([^aeiouy]|qu)y$", "$1ies"), ("(x|ch|ss|sh)$", "$1es"),
            ("(matr|vert|ind)(?:ix|ex)$", "$1ices"), ("^(m|l)ouse$", "$1ice"), ("^(m|l)ice$", "$1ice"),
            ("^(ox)$", "$1en"),
            ("^(oxen)$", "$1"), ("(quiz)$", "$1zes"),
        ] { inflections.plural(pattern, template) }
        for (pattern, template) in [
            ("s$", ""), ("(ss)$", "$1"), ("(n)ews$", "$1ews"), ("([ti])a$", "$1um"),
            ("((a)naly|(b)a|(d)iagno|(p)arenthe|(p)rogno|(s)ynop|(t)he)(sis|ses)$", "$1sis"),
            ("(^analy)(sis|ses)$", "$1sis"), ("([^f])ves$", "$1fe"), ("(hive)s$", "$1"), ("(tive)s$", "$1"),
            ("([lr])ves$", "$1f"), ("([^aeiouy]|qu)ies$", "$1y"), ("(s)eries$", "$1eries"), ("(m)ovies$", "$1ovie"),
            ("(x|ch|ss|sh)es$", "$1"), ("^(m|l)ice$", "$1ouse"), ("(bus|canvas)(es)?$", "$1"), ("(o)es$", "$1"),
            ("(shoe)s$", "$1"), ("(cris|test)(is|es)$", "$1is"), ("^(a)x[ie]s$", "$1xis"),
            ("(octop|vir)(us|i)$", "$1us"),
            ("(alias|status|lens|gas|bias|focus)(es)?$", "$1"), ("^(ox)en", "$1"), ("(vert|ind)ices$", "$1ex"),
            ("(matr)ices$", "$1ix"), ("(quiz)zes$", "$1"), ("(database)s$", "$1"),
        ] { inflections.singular(pattern, template) }
        for (singular, plural) in [
            ("person", "people"), ("man", "men"), ("child", "children"), ("sex", "sexes"), ("move", "moves"),
            ("zombie", "zombies"), ("leaf", "leaves"), ("foot", "feet"),
        ] { inflections.irregularSuffix(singular, plural) }
        inflections.uncountableWords([
            "advice", "corps", "dice", "equipment", "fish", "information", "jeans", "money", "offspring", "police",
            "rice", "sheep", "species",
        ])
        return inflections
    }()
}

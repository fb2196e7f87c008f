import Foundation
import Testing

/// The words that the article "Style and glossary" rules out.
@Suite("The words of the package")
struct WordTests {
    private static let package = SourceDocumentation.packageFolder

    /// The words in the first column of the table of the style guide.
    private static func avoided() throws -> [String] {
        let guide = try Articles.text("StyleGuide")
        let table = guide.components(separatedBy: "| Avoid | Write |").dropFirst().first ?? ""
        let rows = (table.components(separatedBy: "\n\n").first ?? "").split(separator: "\n")
        return rows.flatMap { row in
            (row.split(separator: "|").first ?? "").split(separator: "`").enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        }
    }

    /// Sources, tests and articles. The style guide and this file name the words.
    private static func files() throws -> [String] {
        let folders = ["Sources", "Tests", ".github"]
        let files = try folders.flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: package.appendingPathComponent(folder).path)
                .filter { ($0.hasSuffix(".swift") || $0.hasSuffix(".md")) && !$0.contains(".build/") }
                .map { "\(folder)/\($0)" }
        }
        return (files + ["README.md", "CHANGELOG.md"])
            .filter { !$0.hasSuffix("/StyleGuide.md") && !$0.hasSuffix("/WordTests.swift") }
    }

    /// Returns the places of the words: `line: word`. Quoted words are names, such as that of the user "nobody".
    private static func places(of words: [String], in text: String) throws -> [String] {
        let pattern = try NSRegularExpression(
            pattern: #"(?<!["'])\b(?:"# + words.joined(separator: "|") + #")\b(?!["'])"#)
        let content = text as NSString
        return pattern.matches(in: text, range: NSRange(location: 0, length: content.length)).map { match in
            let line = content.substring(to: match.range.location).count { $0 == "\n" } + 1
            return "\(line): \(content.substring(with: match.range))"
        }
    }

    @Test("The words of the package are not those that the style guide rules out")
    func avoidedWords() throws {
        let words = try Self.avoided()
        #expect(words.count > 10)
        let files = try Self.files()
        #expect(files.count > 500)
        let found = try files.flatMap { file in
            try Self.places(of: words, in: Articles.text(ofFile: file)).map { "\(file):\($0)" }
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test("The words of the package would be found")
    func control() throws {
        let text = "It ends at once.\nThe user \"nobody\" reads, and nobody writes.\nA meeting is not told."
        #expect(
            try Self.places(of: ["at once", "nobody", "told"], in: text) == ["1: at once", "2: nobody", "3: told"])
    }

    @Test("The words of the package open no comment with What, Whether, How, Who or The same", arguments: ["Tests"])
    func openings(folder: String) throws {
        let opening = try NSRegularExpression(
            pattern: #"^ */// (?:What|Whether|How|Who|Whoever|Whom|The same)\b.*"#, options: .anchorsMatchLines)
        let found = try Self.files().filter { $0.hasPrefix("\(folder)/") }.flatMap { file in
            let text = try Articles.text(ofFile: file) as NSString
            return opening.matches(in: text as String, range: NSRange(location: 0, length: text.length))
                .map { "\(file): \(text.substring(with: $0.range))" }
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }
}

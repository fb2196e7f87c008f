import Foundation

/// The lines of the sources by folder, and their public declarations.
struct SourceDocumentation {
    struct Line: CustomStringConvertible {
        let file: String
        let number: Int
        let text: String

        var description: String { "\(file):\(number): \(text)" }

        /// True for a line that is nothing but a comment.
        var isComment: Bool { text.drop { $0 == " " }.hasPrefix("//") }
    }

    struct Declaration: CustomStringConvertible {
        let line: Line
        let isDocumented: Bool

        var folder: String { String(line.file.prefix { $0 != "/" }) }
        var description: String { line.description }
    }

    static let packageFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The text of each file, by its path below `Sources/Strongroom`, or below `Sources` for other targets.
    private let files: [(path: String, text: String)]

    init(_ folder: URL) throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        files = try paths.sorted().map { path in
            let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            return (path.hasPrefix("Strongroom/") ? String(path.dropFirst("Strongroom/".count)) : path, text)
        }
    }

    func lines(in folder: String) -> [Line] {
        files.filter { $0.path.hasPrefix(folder + "/") }.flatMap { Self.lines(of: $0.text, file: $0.path) }
    }

    /// All but the constants of result codes, which have SQLite's names and documentation.
    var publicDeclarations: [Declaration] {
        files.filter { !$0.path.hasSuffix("+Names.swift") && !$0.path.hasPrefix("StrongroomCLI") }
            .flatMap { Self.publicDeclarations(in: $0.text, file: $0.path) }
    }

    static func publicDeclarations(in source: String, file: String) -> [Declaration] {
        let declaration =
            #/
            ^\x20*(?:@\w+(?:\([^)]*\))?\x20+)*(?:[a-z]+\x20+)*?(?:public|open)
            (?:\x20+[a-z]+(?:\([a-z]+\))?)*?\x20+
            (?:func|var|let|init|subscript|struct|class|enum|protocol|typealias|actor|associatedtype)\b
            /#
        let lines = lines(of: source, file: file)
        // Searching is a hundred times as fast as matching.
        let candidates = lines.indices.filter {
            (lines[$0].text.contains("public ") || lines[$0].text.contains("open ")) && !lines[$0].isComment
        }
        return candidates.filter { lines[$0].text.firstMatch(of: declaration) != nil }.map { index in
            let before = lines[..<index].last { !$0.text.trimmingCharacters(in: .whitespaces).hasPrefix("@") }
            let isDocumented = before?.text.trimmingCharacters(in: .whitespaces).hasPrefix("///") ?? false
            return Declaration(line: lines[index], isDocumented: isDocumented)
        }
    }

    private static func lines(of text: String, file: String) -> [Line] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map {
            Line(file: file, number: $0.offset + 1, text: String($0.element))
        }
    }

    // MARK: - Links

    /// A link to a symbol: ``Name/member(label:)``.
    static var symbolLink: Regex<(Substring, Substring)> { /``([A-Za-z_][^`\n]*)``/ }

    private var comments: [(file: String, text: String)] {
        files.flatMap { file in
            Self.lines(of: file.text, file: file.path).filter { $0.text.contains("//") }.map { (file.path, $0.text) }
        }
    }

    /// Addresses in angle brackets.
    var webLinks: [(file: String, target: String)] {
        comments.filter { $0.text.contains("<http") }.flatMap { line in
            line.text.matches(of: /<(https?:[^>\s]+)>/).map { (line.file, String($0.1)) }
        }
    }

    var symbolLinks: [(file: String, target: String)] {
        let link = Self.symbolLink
        return comments.filter { $0.text.contains("``") }.flatMap { line in
            line.text.matches(of: link).map { (line.file, String($0.1)) }
        }
    }

    /// The module, all names that the sources declare, and those of cases.
    var names: Set<String> {
        let keywords: Set = [
            "func", "var", "let", "struct", "class", "enum", "protocol", "typealias", "actor", "associatedtype", "case",
        ]
        return files.reduce(into: ["Strongroom", "init", "subscript"]) { names, file in
            for line in file.text.split(separator: "\n") {
                let words = line.utf8.split { !Self.isWord($0) }.map { Substring($0) }
                for (keyword, name) in zip(words, words.dropFirst()) where keywords.contains(String(keyword)) {
                    names.insert(String(name))
                }
                // Further cases of a line.
                let code = line.drop { $0 == " " }
                guard code.hasPrefix("case ") || code.hasPrefix("indirect case ") else { continue }
                names.formUnion(
                    code.split(separator: ",").compactMap { $0.split(separator: " ").first.map(String.init) })
            }
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }
}

import Foundation
import Testing

/// The tables of the documentation that name tests: each name is that of a test, and each sample is named.
@Suite("The tables of promises")
struct PromiseTableTests {
    private static let packageFolder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// All tests by their suite's type and function: `Suite.function`.
    private static let testNames: Result<Set<String>, any Error> = Result {
        let folder = packageFolder.appendingPathComponent("Tests")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
            ($0.hasSuffix("Tests.swift") || $0.hasSuffix("Samples.swift") || $0.contains("Tests+"))
                && !$0.contains(".build/")
        }
        return try files.reduce(into: []) { names, file in
            names.formUnion(
                Self.testNames(
                    inSource: try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)))
        }
    }

    private static func testNames(inSource source: String) -> Set<String> {
        var names: Set<String> = [], type = "", isTest = false
        for line in source.split(separator: "\n")
        where isTest || !line.hasPrefix(" ") || line.contains("@Test") {
            let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "@" && $0 != "_" }
            if !line.hasPrefix(" "),
                let keyword =
                    words.firstIndex(where: { ["struct", "extension", "enum", "class"].contains($0) }),
                keyword + 1 < words.count
            {
                type = String(words[keyword + 1])
            } else if words.first == "@Test" {
                isTest = true
            } else if isTest, let keyword = words.firstIndex(of: "func"), keyword + 1 < words.count {
                names.insert("\(type).\(words[keyword + 1])")
                isTest = false
            }
        }
        return names
    }

    /// The names in backquotes in the columns after the first, of the rows that follow a header with this first column.
    private static func namedTests(article: String, table: String) throws -> [String] {
        var names: [String] = [], type = "", isTable = false
        for line in try Articles.text(article).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("| \(table) |") { isTable = true } else if !line.hasPrefix("|") { isTable = false }
            guard isTable else { continue }
            for cell in line.split(separator: "|").dropFirst() {
                for (index, part) in cell.split(separator: "`", omittingEmptySubsequences: false)
                    .enumerated() where index % 2 == 1
                {
                    // A name without type belongs to the type before it.
                    if let dot = part.firstIndex(of: ".") { type = String(part[..<dot]) }
                    names.append(
                        part.contains(".") || part.first?.isUppercase == true
                            ? String(part)
                            : "\(type).\(part)")
                }
            }
        }
        return names
    }

    @Test(
        "The tables of promises name tests that exist",
        arguments: [("Promises", "Sample or promise", 100), ("Promises", "Promise", 40)])
    func names(article: String, table: String, atLeast: Int) throws {
        let tests = try Self.testNames.get()
        let suites = Set(tests.compactMap { $0.split(separator: ".").first.map(String.init) })
        let named = try Self.namedTests(article: article, table: table)
        #expect(named.count >= atLeast)
        let missing = named.filter { !tests.contains($0) && !suites.contains($0) }
        #expect(missing == [])
    }

    @Test("The tables of promises of stops name a test in each cell")
    func stops() throws {
        let tests = try Self.testNames.get()
        let rows = try Articles.text("Stops").split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2)
        #expect(rows.count == 11)
        for cell in rows.flatMap({ $0.split(separator: "|").dropFirst() }) where cell.contains(where: \.isLetter) {
            let named = cell.split(separator: "`").map(String.init).filter { $0.contains("Tests.") }
            #expect(!named.isEmpty, "\(cell)")
            #expect(named.filter { !tests.contains($0) } == [])
        }
    }

    @Test("The tables of promises name every sample")
    func samples() throws {
        let samples = try Self.testNames.get().filter { name in
            ["GuideSamples.", "PageSamples.", "ReferenceSamples."].contains { name.contains($0) }
        }
        let named = Set(try Self.namedTests(article: "Promises", table: "Sample or promise"))
        #expect(samples.count > 50)
        #expect(samples.subtracting(named) == [])
    }

    @Test("The tables of promises are read as they are meant: a name that is no test would be found")
    func control() {
        let names = Self.testNames(
            inSource: """
                @Suite("A") struct OneTests {
                    @Test("b")
                    func two() {}
                    func helper() {}
                }
                """)
        #expect(names == ["OneTests.two"])
    }
}

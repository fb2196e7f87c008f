import Foundation
import Testing

@Suite("The articles")
struct ArticleTextTests {
    private static let packageFolder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The text without the indentation of its lines, which depends on the surroundings.
    private static func unindented(_ text: some StringProtocol) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// The samples of an article.
    private static func samples(ofArticle name: String) throws -> [String] {
        let file = packageFolder.appendingPathComponent("Sources/Strongroom/Strongroom.docc/\(name).md")
        let parts = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "```")
        return parts.enumerated().filter { $0.offset % 2 == 1 && $0.element.hasPrefix("swift\n") }.map { unindented($0.element.dropFirst(6)) }
    }

    @Test("have samples that stand in the tests, word for word", arguments: [
        ("Connection", 5), ("RowsAndValues", 4), ("Records", 4), ("Requests", 7), ("SchemaAndMigrations", 3), ("Observation", 4),
        ("KeepingKeys", 2), ("Sharing", 4), ("FullText", 7), ("Associations", 5),
        ("GettingStarted", 6), ("Troubleshooting", 1), ("KeySlots", 6),
    ])
    func samples(article: String, count: Int) throws {
        let articles = [
            "ArticleSamples", "ObservationArticleSamples", "FullTextArticleSamples", "GettingStartedSamples", "KeySlotArticleSamples",
        ]
        let files = articles.map { "StrongroomTests/Articles/\($0)" } + ["NotesApp/KeyStore", "NotesApp/NotesDatabase"]
        let sources = try files.map {
            let file = Self.packageFolder.appendingPathComponent("Tests/\($0).swift")
            return Self.unindented(try String(contentsOf: file, encoding: .utf8))
        }
        let samples = try Self.samples(ofArticle: article)
        #expect(samples.count == count)
        for sample in samples {
            #expect(sources.contains { $0.contains(sample) }, "\(sample)")
        }
    }

    @Test("explain each reason of an error, and no other")
    func reasons() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: Self.packageFolder.appendingPathComponent("Sources/Strongroom/\(path)"), encoding: .utf8)
        }
        let declared = try text("Errors/DatabaseError+Reason.swift").matches(of: /public static let (\w+) = Self/).map { String($0.1) }
        let explained = try text("Strongroom.docc/Troubleshooting.md").matches(of: /(?m)^\| `(\w+)` \|/).map { String($0.1) }
        #expect(declared.count > 20)
        #expect(declared.sorted() == explained.sorted())
    }
}

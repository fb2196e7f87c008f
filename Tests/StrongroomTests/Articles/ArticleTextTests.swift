import Foundation
import Testing

@Suite("The articles")
struct ArticleTextTests {
    private static let packageFolder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The text without the indentation of its lines, which depends on the surroundings.
    private static func unindented(_ text: some StringProtocol) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            .joined(separator: "\n")
    }

    /// The samples of an article.
    private static func samples(ofArticle name: String) throws -> [String] {
        let parts = try Articles.text(name).components(separatedBy: "```")
        return parts.enumerated().filter { $0.offset % 2 == 1 && $0.element.hasPrefix("swift\n") }
            .map { unindented($0.element.dropFirst(6)) }
    }

    /// The sources that hold the samples: tests that run them, and programs that tests run.
    private static func sources() throws -> [String] {
        let tests = packageFolder.appendingPathComponent("Tests")
        let articles = try FileManager.default.contentsOfDirectory(
            atPath: tests.appendingPathComponent("StrongroomTests/Articles").path)
        let files =
            articles.filter { $0.hasSuffix("Samples.swift") }.map { "StrongroomTests/Articles/\($0)" }
            + [
                "NotesApp/NotesDatabase.swift", "Macros/Tests/Records.swift",
                "NotesServer/Tests/ServerArticleSamples.swift", "NotesServer/Sources/NotesServer/NotesServer.swift",
            ]
        return try files.map { try unindented(String(contentsOf: tests.appendingPathComponent($0), encoding: .utf8)) }
    }

    @Test("The articles have samples that stand in the tests, word for word")
    func samples() throws {
        let sources = try Self.sources()
        var count = 0
        // The program of the first article is built and run from the page: `FirstProgramTests`.
        for article in try Articles.names() where article != "GettingStarted" {
            // Blocks that are whole files name them; `MovingTests` builds these.
            for sample in try Self.samples(ofArticle: article) where !sample.hasPrefix("// ") {
                count += 1
                #expect(sources.contains { $0.contains(sample) }, "\(article):\n\(sample)")
            }
        }
        #expect(count >= 57)
    }

    @Test(
        "The articles have files as samples that are built",
        arguments: ["Package", "Sources/GRDB/GRDB", "Sources/GRDBSQLite/GRDBSQLite"])
    func files(name: String) throws {
        let samples = try Articles.names().flatMap { try Self.samples(ofArticle: $0) }
            .filter { $0.hasPrefix("// ") && !$0.hasPrefix("// swift-tools-version:") }
        #expect(samples.count == 3)
        #expect(samples.count { $0.hasPrefix("// \(name).swift\n") } == 1)
    }

    @Test("The articles explain each reason of an error, and no other")
    func reasons() throws {
        let source = try Articles.text(ofFile: "Sources/Strongroom/Errors/DatabaseError+Reason.swift")
        let declared = source.matches(of: /public static let (\w+) = Self/).map { String($0.1) }
        let explained = try Articles.text("Troubleshooting").matches(of: /(?m)^\| `(\w+)` \|/).map {
            String($0.1)
        }
        #expect(declared.count > 20)
        #expect(declared.sorted() == explained.sorted())
    }
}

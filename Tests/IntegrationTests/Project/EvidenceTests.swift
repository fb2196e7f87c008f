import Foundation
import TestSupport
import Testing

/// The figures that the first page repeats, against the pages on which runs have put them.
@Suite("The figures of the first page")
struct EvidenceTests {
    private static let maintainers = "Sources/Strongroom/Strongroom.docc/Maintainers/"

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Program.packageFolder.appendingPathComponent(path), encoding: .utf8)
    }

    /// The cells of the rows of all tables of a text.
    private static func rows(_ text: String) -> [[String]] {
        text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            line.components(separatedBy: " | ").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "| ")) }
        }
    }

    @Test("The figures of the first page are outcomes of the evidence, whose commands passed")
    func counts() throws {
        let outcomes: [String] = Self.rows(try Self.text(Self.maintainers + "Evidence.md"))
            .filter { $0.count == 7 && !$0[2].hasPrefix("**failed**") }
            .flatMap { $0[2].matches(of: /\d+/).map { String($0.output) } }
        let figures = try Self.text("README.md").matches(of: /\d{1,3}(?:,\d{3})+/)
            .map { String($0.output).replacing(",", with: "") }
        #expect(figures.count > 4)
        for figure in figures { #expect(outcomes.contains(figure), "\(figure)") }
    }

    @Test("The figures of the first page of opening a pool are those of the table of budgets")
    func opening() throws {
        let row = try #require(
            Self.rows(try Self.text(Self.maintainers + "Benchmarks.md"))
                .first { $0[0].hasPrefix("pool opened with a passphrase") })
        let spread = try #require(row[2].firstMatch(of: /(.*) (\(.*\))/))
        let readme = try Self.text("README.md")
        #expect(readme.contains("in \(spread.1) times \(spread.2) the time of"), "\(row)")
        let other = String(format: "%.1f", try #require(Double(row[1])))
        #expect(readme.contains("GRDB takes \(other) times"), "\(row)")
    }
}

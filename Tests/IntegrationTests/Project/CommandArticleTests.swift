import Foundation
import TestSupport
import Testing

@testable import StrongroomCLI

/// The lines for the shell in the articles and on the first page.
@Suite("The shell samples of the documentation")
struct CommandArticleTests {
    let scratch: TemporaryFolder
    init() throws { scratch = try TemporaryFolder() }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Program.packageFolder.appendingPathComponent(path), encoding: .utf8)
    }

    private static func article(_ name: String) throws -> String {
        try text("Sources/Strongroom/Strongroom.docc/Operators/\(name).md")
    }

    /// The blocks of a text in a language, or without one.
    private static func blocks(_ language: String, in text: String) -> [String] {
        text.components(separatedBy: "```").enumerated()
            .filter { $0.offset % 2 == 1 && $0.element.hasPrefix(language + "\n") }
            .map { String($0.element.dropFirst(language.count + 1)) }
    }

    @Test("The shell samples of the documentation of the commands run one after the other")
    func commands() async throws {
        let program = try Program(built: "strongroom").executable.path
        let blocks = Self.blocks("sh", in: try Self.article("Commands"))
        #expect(blocks.count == 31)
        let script = "set -e\nstrongroom() { '\(program)' \"$@\"; }\ncd '\(scratch.path)'\n" + blocks.joined()
        let outcome = try await Program("sh", "-c", script).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("Buy milk"))
        #expect(scratch.text("notes.sql").contains("CREATE TABLE note"))
        #expect(try scratch.names().contains("notes.db-salt"))
        #expect(try !scratch.names().contains("plain.db"))
    }

    @Test("The shell samples of the documentation explain each command under a heading of its own")
    func headings() throws {
        let text = try Self.article("Commands")
        let headings = Set(text.matches(of: /(?m)^## ([a-z-]+)$/).map { String($0.1) })
        let commands = StrongroomCommand.configuration.subcommands.filter { $0.configuration.shouldDisplay }
        let names = Set(commands.map { $0._commandName })
        // Some groups of commands have articles of their own instead.
        let single = commands.filter { $0.configuration.subcommands.isEmpty }.map { $0._commandName }
        #expect(headings.isSuperset(of: single) && headings.isSubset(of: names))
    }

    @Test(
        "The shell samples of the documentation name commands and options that exist",
        arguments: [
            "Sources/Strongroom/Strongroom.docc/Operators/CommandLine.md",
            "Sources/Strongroom/Strongroom.docc/Operators/BeyondOneMachine.md", "README.md",
        ])
    func options(file: String) async throws {
        let lines = Self.blocks("", in: try Self.text(file)).flatMap { $0.split(separator: "\n") }
            .filter { $0.hasPrefix("strongroom ") }.map { $0.split(separator: "  ")[0] }
        #expect(!lines.isEmpty)
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            #expect(Arguments.commands.contains(words[1]), "\(line)")
            var program = try Program(built: "strongroom")
            program.arguments = ["help", words[1]]
            let help = try await program.run().output
            for option in words where option.hasPrefix("--") { #expect(help.contains(option), "\(line)") }
        }
    }

    @Test("The shell samples of the documentation stand on a first page of less than 150 lines")
    func length() throws {
        #expect(try Self.text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count < 150)
    }
}

import Foundation
import Testing

@testable import StrongroomCLI

/// The lines for the shell in the articles and on the first page.
@Suite("The shell samples of the documentation")
struct CommandArticleTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Program.packageFolder.appendingPathComponent(path), encoding: .utf8)
    }

    private static func article(_ name: String) throws -> String {
        try text("Sources/Strongroom/Strongroom.docc/\(name).md")
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
        #expect(blocks.count == 19)
        let script = "set -e\nstrongroom() { '\(program)' \"$@\"; }\ncd '\(scratch.folder.path)'\n" + blocks.joined()
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
        // Groups of commands have articles of their own.
        let single = commands.filter { $0.configuration.subcommands.isEmpty }.map { $0._commandName }
        #expect(headings == Set(single))
    }

    @Test("The shell samples of the documentation name commands and options that exist", arguments: [
        "Sources/Strongroom/Strongroom.docc/CommandLine.md", "Sources/Strongroom/Strongroom.docc/BeyondOneMachine.md",
        "Sources/Strongroom/Strongroom.docc/GettingStarted.md", "README.md",
    ])
    func options(file: String) async throws {
        let lines = Self.blocks("", in: try Self.text(file)).flatMap { $0.split(separator: "\n") }
            .filter { $0.hasPrefix("strongroom ") }.map { $0.split(separator: "  ")[0] }
        #expect(file.contains("GettingStarted") || !lines.isEmpty)
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            #expect(Arguments.commands.contains(words[1]), "\(line)")
            var program = try Program(built: "strongroom")
            program.arguments = ["help", words[1]]
            let help = try await program.run().output
            for option in words where option.hasPrefix("--") { #expect(help.contains(option), "\(line)") }
        }
    }

    @Test(
        "The shell samples of the documentation begin a package whose manifest Swift reads",
        .enabled(if: SwiftCompiler.isAvailable, "there is no swiftc"))
    func package() async throws {
        let blocks = Self.blocks("", in: try Self.article("GettingStarted"))
        let commands = try #require(blocks.first { $0.contains("swift package init") })
        let begun = try await Program("sh", "-c", "set -e; cd '\(scratch.folder.path)'; \(commands)").run()
        #expect(begun.status == 0, "\(begun.errors)")
        for parts in [try #require(blocks.first { $0.hasPrefix("dependencies:") }), try #require(
            Self.blocks("swift", in: try Self.text("README.md")).first { $0.hasPrefix("dependencies:") })] {
            let manifest = "// swift-tools-version: 6.1\nimport PackageDescription\n"
                + "let package = Package(name: \"Notes\", platforms: [.iOS(.v15), .macOS(.v12)],\n\(parts))\n"
            try scratch.write(Data(manifest.utf8), to: "Notes/Package.swift")
            let read = try await Program("swift", "package", "--package-path", scratch.path("Notes"), "dump-package")
                .run()
            #expect(read.status == 0, "\(read.errors)")
            #expect(read.output.contains("\"Strongroom\""))
        }
    }

    @Test(
        "The shell samples of the documentation come with a first program that compiles as it stands",
        .enabled(if: SwiftCompiler.isAvailable, "there is no swiftc"))
    func firstProgram() async throws {
        let blocks = Self.blocks("swift", in: try Self.text("README.md"))
        let program = try #require(blocks.first { $0.contains("import Strongroom") })
        try scratch.write(Data(program.utf8), to: "main.swift")
        #expect(try await SwiftCompiler.diagnostics("-typecheck", scratch.path("main.swift")) == "")
    }

    @Test("The shell samples of the documentation stand on a first page of less than 150 lines")
    func length() throws {
        #expect(try Self.text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count < 150)
    }
}

import Foundation
import TestSupport
import Testing

/// The programs of the first page and of the first article.
@Suite("The first program of the documentation", .enabled(if: SwiftCompiler.isAvailable, "there is no swiftc"))
struct FirstProgramTests {
    private static let firstPage = "README.md"
    private static let firstArticle = "Sources/Strongroom/Strongroom.docc/GettingStarted.md"

    @Test("The first program of the documentation compiles as it stands", arguments: [firstPage, firstArticle])
    func compiles(page: String) async throws {
        let scratch = try TemporaryFolder()
        try scratch.write(Data(try Page(page).program.utf8), to: "main.swift")
        #expect(try await SwiftCompiler.diagnostics("-typecheck", scratch.path("main.swift")) == "")
    }

    @Test(
        "The first program of the documentation has a manifest that Swift reads", arguments: [firstPage, firstArticle])
    func manifest(page: String) async throws {
        let scratch = try TemporaryFolder(), page = try Page(page)
        let manifest = page.blocks.filter(\.isManifest).map(\.text)
        #expect(manifest.count == 1)
        for text in try manifest + [page.manifest(clone: "../of-any-name")] {
            try scratch.write(Data(text.utf8), to: "Package.swift")
            let read = try await Program("swift", "package", "--package-path", scratch.path, "dump-package")
                .run()
            #expect(read.status == 0, "\(read.errors)")
            #expect(read.output.contains("\"Strongroom\""))
        }
    }

    @Test(
        "The first program of the documentation runs three times, as the first page says",
        .enabled(if: Form.isWhole, "scripts/test --all builds it"))
    func readme() async throws {
        let page = try Page(Self.firstPage)
        let start = try #require(page.text.firstMatch(of: /`(swift package init [^`]+)`/)).1
        let script = [
            "mkdir Notes && cd Notes && \(start)",
            // "Replace the contents of `Sources` by one file."
            "rm -r Sources/*",
            Self.writing(try page.manifest(clone: Program.packageFolder.path), to: "Package.swift"),
            Self.writing(page.program, to: "Sources/main.swift"),
        ]
        let printed = try await Self.threeRuns(after: script, in: "readme")
        #expect(printed == (1...3).map { "encrypted notes: \($0)\n" })
        for number in [1, 3] { #expect(page.text.contains("`encrypted notes: \(number)`")) }
    }

    @Test(
        "The first program of the documentation runs three times, as the first article says",
        .enabled(if: Form.isWhole, "scripts/test --all builds it"))
    func gettingStarted() async throws {
        let page = try Page(Self.firstArticle)
        var script: [String] = []
        for block in page.blocks where block.text != "swift run\n" {
            switch block.language {
            case "sh": script.append(block.text)
            case "swift" where block.isManifest:
                let manifest = try page.manifest(clone: Program.packageFolder.path)
                script.append(Self.writing(manifest, to: "Package.swift"))
            case "swift": script.append(Self.writing(block.text, to: "Sources/main.swift"))
            default: #expect(block.language == "text", "the reader can't know what to do with \(block)")
            }
        }
        #expect(page.blocks("sh").last == "swift run\n")
        let printed = try await Self.threeRuns(after: script, in: "getting-started")
        let first = page.blocks("text")
        #expect(first.count == 2)
        #expect(Array(printed.prefix(2)) == first)
        #expect(
            printed.last == first.last?.replacing("notes: 3", with: "notes: 5").replacing("notes: 4", with: "notes: 6"))
    }

    /// A line of a script that adds a text to a file. The manifest replaces its file.
    private static func writing(_ text: String, to file: String) -> String {
        "cat \(file == "Package.swift" ? ">" : ">>") \(file) <<'END OF BLOCK'\n\(text)\nEND OF BLOCK"
    }

    /// Runs a script in an empty folder, and then the program three times. Returns what each run printed.
    ///
    /// The library is built in `.build/first-program/build`, which stays: later runs build the program only.
    private static func threeRuns(after script: [String], in name: String) async throws -> [String] {
        let builds = Program.packageFolder.appendingPathComponent(".build/first-program")
        let folder = builds.appendingPathComponent(name)
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let runs = (1...3).map { "swift run > ../run-\($0)" }
        let lines =
            ["set -e", "cd '\(folder.path)'", "export SWIFTPM_BUILD_DIR='\(builds.path)/build'"] + script + runs
        let shell = try Program("sh", "-c", lines.joined(separator: "\n"))
        let outcome = try await RunningProgram(shell.executable, shell.arguments, patience: 1800).outcome()
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        return try (1...3).map {
            try String(contentsOf: folder.appendingPathComponent("run-\($0)"), encoding: .utf8)
        }
    }
}

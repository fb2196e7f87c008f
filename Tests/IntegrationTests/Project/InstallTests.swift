import Foundation
import TestSupport
import Testing

@Suite("Installation")
struct InstallTests {
    static let commands = [
        "create", "encrypt", "decrypt", "info", "check", "verify-key", "rotate", "migrate", "backup", "backups",
        "salvage", "replicate", "restore", "replicas", "verify", "prune", "forget", "vacuum", "query", "shell",
        "keygen", "key", "former-keys", "completions",
    ]

    /// The pages of the manual, without `strongroom-`.
    static let pages = commands + KeyUsageTests.subcommands.map { "key-" + $0 }

    let scratch: TemporaryFolder
    init() throws { scratch = try TemporaryFolder() }

    @Test("Installation puts program, manual pages and completions in place, and names the packages for a server")
    func install() async throws {
        let program = try Program(built: "strongroom").executable.path, prefix = scratch.path("prefix")
        let outcome = try await Program(script: "install", "--program", program, prefix).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("libsqlcipher"))
        let pages = try FileManager.default.contentsOfDirectory(atPath: prefix + "/share/man/man1").sorted()
        #expect(pages == (["strongroom.1"] + Self.pages.map { "strongroom-\($0).1" }).sorted())
        for file in [
            "bin/strongroom", "share/bash-completion/completions/strongroom", "share/zsh/site-functions/_strongroom",
            "share/fish/vendor_completions.d/strongroom.fish",
        ] { #expect(FileManager.default.fileExists(atPath: "\(prefix)/\(file)"), "\(file)") }
        #expect(try await Program("sh", "-c", "'\(prefix)/bin/strongroom' --version").run().status == 0)
    }

    @Test("A folder that can't be written is refused before anything is built")
    func refused() async throws {
        try scratch.write(Data(), to: "file")
        let outcome = try await Program(script: "install", scratch.path("file")).run()
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("give another PREFIX"))
    }

    @Test("Each page has its options, examples, files and exit status")
    func pages() async throws {
        #expect(try await strongroom("manual", scratch.path).status == 0)
        for command in Self.pages {
            let page = scratch.text("strongroom-\(command).1")
            let list = command == "key" ? "COMMANDS" : "OPTIONS"
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", list, "FILES", "EXIT STATUS", "EXAMPLES"] {
                #expect(page.contains(".Sh \(section)\n"), "\(command): \(section)")
            }
            let words = command.hasPrefix("key-") ? ["key", String(command.dropFirst(4))] : [command]
            let help = try await strongroom(words + ["--help"]).output
            for option in help.matches(of: /--[a-z-]+/).map({ String($0.output) })
            where option != "--version" && command != "key" {
                let escaped = option.replacingOccurrences(of: "-", with: "\\-")
                #expect(page.contains(escaped), "\(command): \(option)")
            }
        }
    }

    @Test("A formatter accepts each manual page", .enabled(if: (try? Program("groff")) != nil))
    func formatted() async throws {
        #expect(try await strongroom("manual", scratch.path).status == 0)
        for name in try scratch.names() {
            let outcome = try await Program("groff", "-mandoc", "-Tutf8", "-ww", scratch.path(name)).run()
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(name): \(outcome.errors)")
        }
    }

    @Test("The examples of the pages are lines that the program understands")
    func examples() async throws {
        #expect(try await strongroom("manual", scratch.path).status == 0)
        for name in try scratch.names() {
            let page = scratch.text(name).replacingOccurrences(of: "\\-", with: "-").replacingOccurrences(
                of: "\\e",
                with: "\\")
            for match in page.matches(of: /\.Bd -literal\n(.*)\n/) {
                let words = match.output.1.split(separator: " ").map(String.init)
                let start = try #require(words.firstIndex(of: "strongroom"))
                #expect(Self.commands.contains(words[start + 1]), "\(match.output.1)")
                // A group has the options of its commands in their own help.
                let isGroup = ["key", "former-keys"].contains(words[start + 1])
                let command = Array(words[(start + 1)...(start + (isGroup ? 2 : 1))])
                let help = try await strongroom(command + ["--help"]).output
                for option in words where option.hasPrefix("--") { #expect(help.contains(option), "\(match.output.1)") }
            }
        }
    }
}

import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("strongroom as a program")
struct UsageTests {
    func strongroom(_ arguments: String...) async throws -> Outcome {
        var program = try Program(built: "strongroom")
        program.arguments = arguments
        return try await program.run()
    }

    @Test(
        "strongroom ends with 2 at a usage it does not understand, and says so on standard error",
        arguments: [
            [], ["rotat"], ["rotate"], ["info"], ["encrypt", "one"], ["check", "file", "--unknown"],
            ["check", "file", "--passphrase-file"],
        ])
    func usage(_ arguments: [String]) async throws {
        var program = try Program(built: "strongroom")
        program.arguments = arguments
        let outcome = try await program.run()
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("strongroom"))
        #expect(outcome.output.isEmpty)
    }

    @Test("strongroom has no option that takes a passphrase as its value", arguments: ["encrypt", "check", "rotate"])
    func noPassphraseArgument(_ command: String) async throws {
        let help = try await strongroom(command, "--help")
        #expect(help.status == 0)
        #expect(help.output.contains("--passphrase-file"))
        #expect(!help.output.contains("--passphrase "))
        #expect(try await strongroom(command, "file", "--passphrase", "x").status == 2)
    }

    @Test("strongroom prints help on standard output when it is requested")
    func help() async throws {
        let outcome = try await strongroom("--help")
        #expect(outcome.status == 0)
        for word in ["encrypt", "info", "check", "rotate", "130", "interrupted"] {
            #expect(outcome.output.contains(word))
        }
        #expect(outcome.errors.isEmpty)
    }

    @Test("Each command explains itself, by --help and by help COMMAND", arguments: InstallTests.commands)
    func helpOfCommands(_ command: String) async throws {
        for outcome in [try await strongroom(command, "--help"), try await strongroom("help", command)] {
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("USAGE: strongroom \(command)"))
            #expect(outcome.errors.isEmpty)
        }
    }

    @Test("Each command shows an example and its exit statuses", arguments: InstallTests.commands)
    func helpParts(_ command: String) async throws {
        // Lines are wrapped at 80 columns.
        let help = try await strongroom(command, "--help").output.replacing("\n", with: " ")
        #expect(help.contains("EXAMPLE:   strongroom "))
        #expect(help.contains(/EXIT STATUS: 0 done; 1 failed for any other reason; .*2 wrong usage/))
        #expect(help.contains("strongroom \(command)"))
    }

    @Test(
        "strongroom groups the options: key, format, key slots, output",
        arguments: [
            ("rotate", ["KEY OPTIONS:", "NEW KEY OPTIONS:", "FORMAT OPTIONS:", "SLOT OPTIONS:", "OUTPUT OPTIONS:"]),
            ("encrypt", ["KEY OPTIONS:", "SLOT OPTIONS:", "OUTPUT OPTIONS:"]), ("keygen", ["OUTPUT OPTIONS:"]),
        ])
    func groups(_ command: String, _ titles: [String]) async throws {
        let lines = try await strongroom(command, "--help").output.split(separator: "\n").map(String.init)
        let found = lines.filter { $0.hasSuffix(" OPTIONS:") }
        #expect(found == titles)
    }

    @Test(
        "strongroom reports a wrong usage in one line: event, state and remedy",
        arguments: [
            (["rotate"], "strongroom help rotate lists the options."),
            (["check", "file", "--unknown"], "strongroom help check lists the options."),
            ([], "strongroom --help lists the commands."),
        ])
    func usageLine(_ arguments: [String], _ remedy: String) async throws {
        var program = try Program(built: "strongroom")
        program.arguments = arguments
        let lines = try await program.run().errors.split(separator: "\n")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("strongroom: ") == true)
        #expect(lines.first?.hasSuffix(". " + remedy) == true, "\(lines)")
        // A command that only reads has nothing to say about it.
        #expect(lines.first?.contains("; nothing was changed.") == (arguments.first != "check"))
    }

    @Test("The completions of bash offer commands, and the topics of help")
    func completions() async throws {
        let program = try Program(built: "strongroom").executable.path
        for (words, count) in [("strongroom ro", 1), ("strongroom help ro", 2), ("strongroom key ad", 2)] {
            let line = """
                source <('\(program)' completions bash); COMP_WORDS=(\(words)); COMP_CWORD=\(count); \
                _strongroom strongroom "${COMP_WORDS[\(count)]}"; echo "${COMPREPLY[*]}"
                """
            let outcome = try await Program("bash", "-c", line).run()
            #expect(["rotate\n", "add\n"].contains(outcome.output), "\(words): \(outcome.output)\(outcome.errors)")
        }
        #expect(try await strongroom("completions", "zsh").output.contains("'*:topic:(create "))
        #expect(try await strongroom("completions", "fish").output.contains("seen_subcommand_from help' -fa 'create "))
    }

    @Test("strongroom names everything that it is made of")
    func version() async throws {
        let outcome = try await strongroom("--version")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(lines.map { $0.prefix(while: { $0 != " " }) } == ["strongroom", "SQLCipher", "SQLite", "Crypto"])
        // The stock shell may have another library: `scripts/check/package`.
        let linked = try await DatabaseQueue().read { db in
            try ["PRAGMA cipher_version", "SELECT sqlite_version()"].compactMap { try String.fetchOne(db, sql: $0) }
        }
        #expect(linked.count == 2)
        for version in linked { #expect(outcome.output.contains(" \(version)")) }
    }

    @Test("strongroom says in --version and info whether this SQLite has the WAL-reset bug, and that it is fenced")
    func walReset() async throws {
        let scratch = try TemporaryFolder(), hasBug = Database.libraryHasWALResetBug
        let database = try await scratch.encryptedDatabase(passphrase: "secret")
        let version = try await strongroom("--version"), text = try await strongroom("info", database)
        let facts = try await strongroom("info", database, "--json").object
        for output in [version.output, text.output] {
            #expect(
                output.contains("with the WAL-reset bug: fenced here, not in other programs that checkpoint") == hasBug)
        }
        #expect(facts["has_wal_reset_bug"] as? Bool == hasBug)
        #expect(facts["is_fenced"] as? Bool == hasBug)
        #expect(version.output.contains(try #require(facts["sqlite_version"] as? String)))
    }

    @Test("strongroom without a terminal requires a passphrase file", .enabled(if: PseudoTerminal.isAvailable))
    func noTerminal() async throws {
        let scratch = try TemporaryFolder()
        let database = try await scratch.encryptedDatabase(passphrase: "secret")
        let strongroom = try Program(built: "strongroom").executable.path
        let outcome = try await Program("setsid", "--wait", strongroom, "check", database).run(input: "secret\n")
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("--passphrase-file"))
    }
}

import Foundation
import TestSupport
import Testing

@Suite("Keys from the environment, from standard input, and with their salt")
struct KeySourceTests {
    let scratch: TemporaryFolder
    let database: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase(passphrase: "right")
        _ = try scratch.secret("right", in: "old")
        _ = try scratch.secret("new", in: "new")
    }

    func run(_ environment: [String], _ arguments: [String], input: String = "") async throws -> Outcome {
        var program = try Program("env")
        program.arguments = environment + [try Program(built: "strongroom").executable.path] + arguments
        return try await program.run(input: input)
    }

    @Test("The environment names the file or the command", arguments: ["FILE=PATH", "COMMAND=cat PATH"])
    func environment(_ setting: String) async throws {
        func variable(_ role: String, _ name: String) -> String {
            "STRONGROOM_\(role)PASSPHRASE_" + setting.replacingOccurrences(of: "PATH", with: scratch.path(name))
        }
        let opened = try await run([variable("", "old")], ["verify-key", database])
        #expect(opened.status == 0, "\(opened.errors)")
        let rotated = try await run([variable("", "old"), variable("NEW_", "new")], ["rotate", database])
        #expect(rotated.status == 0, "\(rotated.errors)")
        #expect(try await run([variable("", "new")], ["check", database]).status == 0)
    }

    @Test("An option goes before the environment")
    func optionFirst() async throws {
        let outcome = try await run(
            ["STRONGROOM_PASSPHRASE_FILE=\(scratch.path("new"))"],
            [
                "verify-key", database, "--passphrase-file",
                scratch.path("old"),
            ])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("A file and a command together are a wrong usage")
    func both() async throws {
        let outcome = try await run(
            ["STRONGROOM_PASSPHRASE_FILE=a", "STRONGROOM_PASSPHRASE_COMMAND=b"],
            ["verify-key", database])
        #expect(outcome.status == 2)
    }

    @Test("A command for the passphrase does not read what the command itself is to read")
    func commandInput() async throws {
        let outcome = try await run(
            [],
            [
                "query", database, "--output", "csv", "--passphrase-command",
                "cat > '\(scratch.path("swallowed"))'; printf right",
            ], input: "SELECT 7 AS a")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output == "a\n7\n")
        #expect(try scratch.bytes("swallowed").isEmpty)
    }

    @Test("- is standard input", arguments: ["--passphrase-file", "--raw-key-file"])
    func standardInput(_ option: String) async throws {
        let raw = String(repeating: "3c", count: 32), isRaw = option.contains("raw")
        let path = isRaw ? try await scratch.encryptedDatabase("raw.db", passphrase: "x'\(raw)'") : database
        let outcome = try await run([], ["verify-key", path, option, "-"], input: isRaw ? raw : "right\n")
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test(
        "Standard input can't be two things",
        arguments: [
            ["rotate", "FILE", "--passphrase-file", "-", "--new-passphrase-file", "-"],
            [
                "query", "FILE",
                "--passphrase-file", "-",
            ],
            ["shell", "FILE", "--passphrase-file", "-"],
        ])
    func twice(_ arguments: [String]) async throws {
        let outcome = try await run([], arguments.map { $0 == "FILE" ? database : $0 }, input: "right")
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("tandard input"))
    }

    @Test("A raw key comes with its salt", arguments: [true, false])
    func keyWithSalt(isText: Bool) async throws {
        let digits = (0..<48).map { String(format: "%02x", $0) }.joined(), path = scratch.path("salted.db")
        try await StockShell(
            path: path,
            passphrase: "x'\(digits)'"
        ).run("PRAGMA cipher_plaintext_header_size = 32; CREATE TABLE t (x);")
        try scratch.write(isText ? Data((digits + "\n").utf8) : Data(0..<48), to: "raw")
        let outcome = try await strongroom("check", path, "--raw-key-file", scratch.path("raw"))
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("--salt-file takes the file that stands beside a database")
    func ownSaltFile() async throws {
        let path = scratch.path("header.db"), key = ["--passphrase-file", scratch.path("old")]
        #expect(try await strongroom(["create", path, "--plaintext-header"] + key).status == 0)
        try FileManager.default.moveItem(atPath: path + "-salt", toPath: scratch.path("kept"))
        let outcome = try await strongroom(["check", path, "--salt-file", scratch.path("kept")] + key)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("--salt-file takes the latest salt of a file that has several")
    func formerSalts() async throws {
        let path = scratch.path("header.db")
        let old = ["--passphrase-file", scratch.path("old")], new = ["--passphrase-file", scratch.path("new")]
        #expect(try await strongroom(["create", path, "--plaintext-header"] + old).status == 0)
        let rotated = try await strongroom(["rotate", path, "--new-passphrase-file", scratch.path("new")] + old)
        #expect(rotated.status == 0, "\(rotated.errors)")
        try FileManager.default.moveItem(atPath: path + "-salt", toPath: scratch.path("kept"))
        let outcome = try await strongroom(["check", path, "--salt-file", scratch.path("kept")] + new)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("--salt-file distinguishes a folder from an absent file")
    func saltFolder() async throws {
        let outcome = try await strongroom(
            "check", database, "--salt-file", scratch.path, "--passphrase-file", scratch.path("old"))
        #expect(outcome.status == 1)
        let words = "the salt cannot be read (Is a directory)"
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }

    @Test("A raw key is no passphrase to the messages")
    func nouns() async throws {
        let raw = String(repeating: "3c", count: 32)
        for arguments in [
            ["verify-key", database], ["rotate", database, "--dry-run"], ["check", database],
            ["backup", database, scratch.path("out")],
        ] {
            let outcome = try await strongroom(arguments + ["--raw-key-file", try scratch.secret(raw, in: "raw")])
            #expect(outcome.status == 12)
            #expect(outcome.errors.contains("this raw key does not open it"), "\(outcome.errors)")
            #expect(!outcome.errors.contains("passphrase"), "\(outcome.errors)")
        }
    }

    @Test("JSON distinguishes the database from the key file that could not be read")
    func keyFileMember() async throws {
        let outcome = try await strongroom("check", database, "--json", "--passphrase-file", scratch.path("nowhere"))
        #expect(outcome.status == 10)
        #expect(try outcome.object["file"] as? String == database)
        #expect(try outcome.object["key_file"] as? String == scratch.path("nowhere"))
    }
}

@Suite("Typed keys", .enabled(if: PseudoTerminal.isAvailable))
struct TypedKeyTests {
    let scratch: TemporaryFolder
    let terminal: PseudoTerminal
    let database: String

    init() async throws {
        scratch = try TemporaryFolder()
        terminal = try PseudoTerminal()
        database = try await scratch.encryptedDatabase(passphrase: "right")
    }

    @Test(
        "Typed keys may be typed three times",
        arguments: [
            ["check"], ["verify-key"], ["query", "SELECT 1"], ["backup", "OUT"], ["rotate", "--dry-run"],
            [
                "migrate",
                "OUT",
            ],
        ])
    func threeTries(_ command: [String]) async throws {
        let rest = command.dropFirst().map { $0 == "OUT" ? scratch.path("out.db") : $0 }
        var program = try Program(built: "strongroom")
        program.arguments = [command[0], database] + rest
        let running = try terminal.start(program)
        for _ in 0..<2 {
            try terminal.expect("Passphrase of \(database): ")
            terminal.type("wrong\n")
            try terminal.expect("Try again.")
        }
        try terminal.expect("Passphrase of \(database): ")
        terminal.type("right\n")
        #expect(await running.outcome().status == 0, "\(terminal.transcript())")
    }

    @Test("Typed keys are wrong for good at the third time")
    func thirdTime() async throws {
        let running = try terminal.start(try Program(built: "strongroom", "check", database))
        for _ in 0..<3 {
            try terminal.expect("Passphrase of \(database): ")
            terminal.type("wrong\n")
        }
        #expect(await running.outcome().status == 12)
        #expect(terminal.transcript().contains("this passphrase does not open it"))
    }

    @Test("Typed keys are not echoed after Ctrl-Z and fg, and are prompted for again")
    func stopped() async throws {
        let program = try Program(built: "strongroom").executable.path
        let running = try terminal.start(
            try Program(
                "bash", "-c",
                "set -m; '\(program)' check '\(database)'; echo stopped; fg > /dev/null; echo \"status $?\""))
        try terminal.expect("Passphrase of \(database): ")
        terminal.type("\u{1A}")
        try terminal.expect("stopped")
        try terminal.expect("Passphrase of \(database): ")
        #expect(!terminal.echoes)
        terminal.type("right\n")
        #expect(await running.outcome().status == 0)
        #expect(terminal.transcript().contains("status 0"), "\(terminal.transcript())")
        #expect(!terminal.transcript().contains("right"))
        #expect(terminal.echoes)
    }

    @Test("Typed keys query on a terminal says that it waits for SQL")
    func queryWaits() async throws {
        let running = try terminal.start(
            try Program(
                built: "strongroom", "query", database, "--passphrase-file",
                try scratch.secret("right")))
        try terminal.expect("Reading SQL from the terminal; Ctrl-D ends it")
        terminal.type("SELECT count(*) AS books FROM book;\n\u{4}")
        #expect(await running.outcome().status == 0)
        #expect(terminal.transcript().contains("300"))
    }
}

import Foundation
import TestSupport
import Testing

@testable import StrongroomCLI

/// A person at the shell, on a terminal.
@Suite("strongroom shell on a terminal", .enabled(if: PseudoTerminal.isAvailable), .timeLimit(.minutes(2)))
struct ShellTerminalTests {
    let scratch: TemporaryFolder
    let terminal: PseudoTerminal
    let database: String
    let key: String
    private var history: String { scratch.path(".strongroom_history") }

    init() async throws {
        scratch = try TemporaryFolder()
        terminal = try PseudoTerminal()
        database = try await scratch.encryptedDatabase(rawKey: "right")
        key = try scratch.rawKey("right")
    }

    private func start(_ more: String..., on terminal: PseudoTerminal? = nil) throws -> RunningProgram {
        var program = try Program(
            "env", "HOME=\(scratch.path)", "TERM=dumb", try Program(built: "strongroom").executable.path, "shell",
            database, "--raw-key-file", key)
        program.arguments += more
        return try (terminal ?? self.terminal).start(program)
    }

    private func end(_ running: RunningProgram) async throws {
        try terminal.expect("strongroom> ")
        terminal.type(".quit\n")
        #expect(await running.outcome().status == 0, "\(terminal.transcript())")
    }

    @Test("edits lines: what was typed by mistake is taken back, at the end and in the middle")
    func editing() async throws {
        let running = try start()
        try terminal.expect("strongroom> ")
        terminal.type("SELECT 4x\u{7F}3 AS n;\n")
        try terminal.expect("43")
        try terminal.expect("strongroom> ")
        // To the beginning of the line, and to its end.
        terminal.type("ELECT 5\u{1}S\u{5}6 AS n;\n")
        try terminal.expect("56")
        try await end(running)
    }

    @Test("has a history of this session and of former ones, which only its owner can read")
    func history() async throws {
        let first = try start()
        try terminal.expect("strongroom> ")
        terminal.type("SELECT 6 * 7\n")
        try terminal.expect("...> ")
        terminal.type("AS n;\n")
        try terminal.expect("42")
        try terminal.expect("strongroom> ")
        // The line before, again.
        terminal.type("\u{10}\n")
        try terminal.expect("42")
        try await end(first)
        #expect(scratch.text(".strongroom_history").hasPrefix("SELECT 6 * 7 AS n;\n"))
        var status = stat()
        #expect(stat(history, &status) == 0 && status.st_mode & 0o777 == 0o600)

        let second = try start()
        try terminal.expect("strongroom> ")
        terminal.type("\u{10}\u{10}\n")
        try terminal.expect("42")
        try await end(second)
    }

    @Test("keeps no statement with a key, and with --no-history none at all")
    func secrets() async throws {
        let first = try start()
        for line in [
            "PRAGMA key = 'a secret';", "ATTACH 'x.db' AS x KEY 'a secret';", "ATTACH 'file:x.db?key=a%20secret' AS x;",
            "SELECT 1; PRAGMA rekey = 'a secret';", "SELECT 'kept' AS n;",
        ] {
            try terminal.expect("strongroom> ")
            terminal.type(line + "\n")
        }
        try await end(first)
        #expect(scratch.text(".strongroom_history") == "SELECT 'kept' AS n;\n.quit\n")
        try FileManager.default.removeItem(atPath: history)
        let second = try start("--no-history")
        try terminal.expect("strongroom> ")
        terminal.type("SELECT 'kept' AS n;\n")
        try await end(second)
        #expect(!FileManager.default.fileExists(atPath: history))
    }

    @Test("ends a statement at Ctrl-C, and not the session", arguments: [[], ["--write"]])
    func controlCInStatement(_ more: [String]) async throws {
        let running = try more.isEmpty ? start() : start("--write")
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n;"
        for _ in 1...2 {
            try terminal.expect("strongroom> ")
            terminal.type(endless + "\n")
            try terminal.expect("FROM n;")
            // The statement runs when the echo has ended; earlier, Ctrl-C would end the line.
            usleep(300_000)
            terminal.type("\u{3}")
            try terminal.expect("interrupted; ")
        }
        try terminal.expect("strongroom> ")
        terminal.type("SELECT 6 * 7 AS n;\n")
        try terminal.expect("42")
        try await end(running)
    }

    @Test("takes back what is typed at Ctrl-C, and nothing at an empty prompt")
    func controlCAtPrompt() async throws {
        let running = try start()
        try terminal.expect("strongroom> ")
        terminal.type("\u{3}")
        try terminal.expect("strongroom> ")
        terminal.type("SELECT 1,\n")
        try terminal.expect("...> ")
        terminal.type("half of\u{3}")
        try terminal.expect("strongroom> ")
        terminal.type("SELECT 6 * 7 AS n;\n")
        try terminal.expect("42")
        try await end(running)
        #expect(!terminal.transcript().contains("syntax error"))
    }

    @Test("goes on after an error, and ends at Ctrl-D and at SIGTERM, the terminal as it was")
    func ends() async throws {
        let first = try start()
        try terminal.expect("strongroom> ")
        terminal.type("SELEC;\n")
        try terminal.expect("syntax error")
        try terminal.expect("strongroom> ")
        terminal.type("\u{4}")
        #expect(await first.outcome().status == 0)
        #expect(terminal.echoes)
        let second = try start("--write")
        try terminal.expect("strongroom> ")
        let pid = try #require(try ProcessTable().identifier(mentioning: "shell \(database)"))
        kill(pid, SIGTERM)
        #expect(await second.outcome().status == 130, "\(terminal.transcript())")
        #expect(terminal.echoes)
    }

    @Test("edits text that is not English")
    func characters() async throws {
        let running = try start()
        try terminal.expect("strongroom> ")
        terminal.type("SELECT 'Zoë’s' || 'é\u{7F}e' AS n;\n")
        try terminal.expect("Zoë’se")
        try await end(running)
    }
}

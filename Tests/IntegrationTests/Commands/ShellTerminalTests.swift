import Foundation
import TestSupport
import Testing

/// A person at the shell, on a terminal.
@Suite("strongroom shell on a terminal", .enabled(if: PseudoTerminal.isAvailable), .timeLimit(.minutes(2)))
struct ShellTerminalTests {
    let scratch: TemporaryFolder
    let database: String
    let key: String
    private var history: String { scratch.path(".strongroom_history") }

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase(rawKey: "right")
        key = try scratch.rawKey("right")
    }

    /// A shell and its terminal.
    private struct Session {
        let terminal: PseudoTerminal
        let running: RunningProgram

        func type(_ text: String) { terminal.type(text) }
        func expect(_ text: String) throws { try terminal.expect(text) }

        /// Types at the next prompt.
        func enter(_ text: String) throws {
            try terminal.expect("strongroom> ")
            try terminal.enter(text)
        }

        func end() async throws {
            try enter(".quit\n")
            #expect(await running.outcome().status == 0, "\(terminal.transcript())")
        }

        /// Waits for the end of the line, while a statement runs: the shell has left the terminal as it was.
        func waitForStatement() throws { try terminal.wait { terminal.echoes } }
    }

    private func start(_ more: String...) throws -> Session {
        var program = try Program(
            "env", "HOME=\(scratch.path)", "TERM=vt100", Program(built: "strongroom").executable.path, "shell",
            database, "--raw-key-file", key)
        program.arguments += more
        let terminal = try PseudoTerminal()
        return Session(terminal: terminal, running: try terminal.start(program))
    }

    @Test("edits lines: what was typed by mistake is taken back, at the end and in the middle")
    func editing() async throws {
        let session = try start()
        try session.enter("SELECT 4x\u{7F}3 AS n;\n")
        try session.expect("43")
        // To the beginning of the line, and to its end.
        try session.enter("ELECT 5\u{1}S\u{5} + 50 AS n;\n")
        try session.expect("55")
        try await session.end()
    }

    @Test("has a history of this session and of former ones, which only its owner can read")
    func history() async throws {
        let first = try start()
        try first.enter("SELECT 6 * 7\n")
        try first.expect("...> ")
        first.type("AS n;\n")
        try first.expect("42")
        // The line before, again.
        try first.enter("\u{10}\n")
        try first.expect("42")
        try await first.end()
        #expect(scratch.text(".strongroom_history").hasPrefix("SELECT 6 * 7 AS n;\n"))
        var status = stat()
        #expect(stat(history, &status) == 0 && status.st_mode & 0o777 == 0o600)

        let second = try start()
        try second.enter("\u{10}\u{10}\n")
        try second.expect("42")
        try await second.end()
    }

    @Test("keeps no statement with a key, and with --no-history none at all")
    func secrets() async throws {
        let first = try start()
        for line in [
            "PRAGMA key = 'a secret';", "ATTACH 'x.db' AS x KEY 'a secret';", "ATTACH 'file:x.db?key=a%20secret' AS x;",
            "SELECT 1; PRAGMA rekey = 'a secret';", "SELECT 'kept' AS n;",
        ] { try first.enter(line + "\n") }
        try await first.end()
        #expect(scratch.text(".strongroom_history") == "SELECT 'kept' AS n;\n.quit\n")
        try FileManager.default.removeItem(atPath: history)
        let second = try start("--no-history")
        try second.enter("SELECT 'kept' AS n;\n")
        try await second.end()
        #expect(!FileManager.default.fileExists(atPath: history))
    }

    @Test("ends a statement at Ctrl-C, and not the session", arguments: [false, true])
    func controlCInStatement(writes: Bool) async throws {
        let session = try writes ? start("--write") : start()
        for _ in 1...2 {
            try session.enter("WITH n AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT max(1) FROM n;\n")
            try session.waitForStatement()
            session.type("\u{3}")
            try session.expect("strongroom: interrupted")
        }
        try session.enter("SELECT 6 * 7 AS n;\n")
        try session.expect("42")
        try await session.end()
    }

    @Test("takes back what is typed at Ctrl-C, and nothing at an empty prompt")
    func controlCAtPrompt() async throws {
        let session = try start()
        try session.enter("\u{3}")
        try session.enter("SELECT 1,\n")
        try session.expect("...> ")
        session.type("half of\u{3}")
        try session.enter("SELECT 6 * 7 AS n;\n")
        try session.expect("42")
        try await session.end()
        #expect(!session.terminal.transcript().contains("syntax error"))
    }

    @Test("goes on after an error, and ends at Ctrl-D and at SIGTERM, the terminal as it was")
    func ends() async throws {
        let first = try start()
        try first.enter("SELEC;\n")
        try first.expect("syntax error")
        try first.enter("\u{4}")
        #expect(await first.running.outcome().status == 0)
        #expect(first.terminal.echoes)
        let second = try start("--write")
        try second.expect("strongroom> ")
        let shells = try ProcessTable().mentioning("shell\u{0}\(database)").filter { process in
            let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")
            return program?.hasSuffix("/strongroom") == true
        }
        #expect(shells.count == 1)
        for process in shells { kill(process, SIGTERM) }
        #expect(await second.running.outcome().status == 130, "\(second.terminal.transcript())")
        #expect(second.terminal.echoes)
    }

    @Test("edits text that is not English")
    func characters() async throws {
        let session = try start()
        try session.enter("SELECT 'Zoë’s' || 'é\u{7F}e' AS n;\n")
        try session.expect("Zoë’se")
        try await session.end()
    }
}

import Foundation
import TestSupport
import Testing

@Suite("strongroom on a terminal", .enabled(if: PseudoTerminal.isAvailable))
struct PromptTests {
    let scratch: TemporaryFolder
    let terminal: PseudoTerminal

    init() throws {
        scratch = try TemporaryFolder()
        terminal = try PseudoTerminal()
    }

    @Test("strongroom on a terminal asks for the passphrase without echo")
    func asks() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "quite secret")
        let running = try terminal.start(try Program(built: "strongroom", "check", database))
        try terminal.expect("Passphrase of \(database): ")
        #expect(!terminal.echoes)
        terminal.type("quite secret\n")
        #expect(await running.outcome().status == 0)
        #expect(terminal.transcript().contains("ok"))
        #expect(!terminal.transcript().contains("quite secret"))
        #expect(terminal.echoes)
    }

    @Test("strongroom on a terminal asks twice for a new passphrase")
    func asksTwice() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "old secret")
        let running = try terminal.start(try Program(built: "strongroom", "rotate", database))
        try terminal.expect("Passphrase of \(database): ")
        terminal.type("old secret\n")
        try terminal.expect("New passphrase for \(database): ")
        terminal.type("new secret\n")
        try terminal.expect("Repeat passphrase: ")
        terminal.type("new secret\n")
        #expect(await running.outcome().status == 0, "\(terminal.transcript())")
        #expect(!terminal.transcript().contains("new secret"))
        #expect(
            try await StockShell(path: database, passphrase: "new secret").run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
    }

    @Test("strongroom on a terminal asks again when the two answers differ")
    func askedAgain() async throws {
        let clear = try await scratch.clearDatabase(), out = scratch.path("out.sqlite")
        let running = try terminal.start(try Program(built: "strongroom", "encrypt", clear, out))
        for second in ["anotther", "another"] {
            try terminal.expect("New passphrase for \(out): ")
            terminal.type("another\n")
            try terminal.expect("Repeat passphrase: ")
            terminal.type(second + "\n")
        }
        #expect(await running.outcome().status == 0, "\(terminal.transcript())")
        #expect(terminal.transcript().contains("the two passphrases differ."))
        #expect(try await strongroom("check", out, "--passphrase-file", scratch.secret("another")).status == 0)
    }

    @Test("strongroom on a terminal changes nothing when the two answers differ three times")
    func slip() async throws {
        let clear = try await scratch.clearDatabase()
        let out = scratch.path("out.sqlite")
        let running = try terminal.start(try Program(built: "strongroom", "encrypt", clear, out))
        for _ in 1...3 {
            try terminal.expect("New passphrase for \(out): ")
            terminal.type("one\n")
            try terminal.expect("Repeat passphrase: ")
            terminal.type("another\n")
        }
        #expect(await running.outcome().status == 1)
        #expect(terminal.transcript().contains("differ"))
        #expect(try scratch.names() == ["clear.sqlite"])
    }

    @Test("strongroom on a terminal refuses an empty answer")
    func empty() async throws {
        let clear = try await scratch.clearDatabase()
        let running = try terminal.start(try Program(built: "strongroom", "encrypt", clear, scratch.path("out.sqlite")))
        try terminal.expect(": ")
        terminal.type("\n")
        #expect(await running.outcome().status == 1)
        #expect(terminal.transcript().contains("empty"))
        #expect(try scratch.names() == ["clear.sqlite"])
    }

    @Test("strongroom on a terminal reports a wrong passphrase before it asks for the new one")
    func wrongPassphraseFirst() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "right")
        let running = try terminal.start(try Program(built: "strongroom", "rotate", database))
        for _ in 0..<3 {
            try terminal.expect("Passphrase of \(database): ")
            terminal.type("wrong\n")
        }
        #expect(await running.outcome().status == 12)
        #expect(!terminal.transcript().contains("New passphrase"))
    }

    @Test("strongroom on a terminal stops a rotation at Ctrl-C, ends with 130 and says which passphrase holds")
    func controlCWhileRotating() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "old")
        let shell = StockShell(path: database, passphrase: "old")
        try await shell.run("CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(60000000));")
        let running = try terminal.start(
            try Program(
                built: "strongroom", "rotate", database, "--passphrase-file", try scratch.secret("old", in: "old.key"),
                "--new-passphrase-file", try scratch.secret("new", in: "new.key")))
        try terminal.expect("rotating ")
        terminal.type("\u{3}")
        #expect(await running.outcome().status == 130)
        #expect(terminal.transcript().contains("interrupted"))
        #expect(terminal.transcript().contains("The old passphrase opens it"))
        #expect(try await shell.run(TemporaryFolder.sampleQuery) == TemporaryFolder.sampleAnswer)
        #expect(try await shell.run("SELECT length(a) FROM bulk;") == "60000000")
    }

    @Test("strongroom on a terminal shows a bar while it rotates, and nothing of it when it is done")
    func bar() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "old")
        try await StockShell(path: database, passphrase: "old").run(
            "CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(20000000));")
        let running = try terminal.start(
            try Program(
                built: "strongroom", "rotate", database, "--passphrase-file", try scratch.secret("old", in: "old.key"),
                "--new-passphrase-file", try scratch.secret("new", in: "new.key")))
        #expect(await running.outcome().status == 0)
        let screen = terminal.transcript()
        #expect(screen.contains("\rrotating [##########"))
        #expect(screen.contains("] 50 %"))
        let last = try #require(screen.components(separatedBy: "\u{1B}[K").last)
        #expect(last.hasPrefix("\(database): rotated and checked."))
    }

    @Test(
        "strongroom on a terminal asks before it writes clear text, and accepts only yes",
        arguments: [("yes", Int32(0)), ("y", 1), ("", 1)])
    func decryptConfirmed(_ answer: String, _ status: Int32) async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "right"), out = scratch.path("clear.sqlite")
        let running = try terminal.start(
            try Program(
                built: "strongroom", "decrypt", database, out, "--passphrase-file", try scratch.secret("right")))
        try terminal.expect("Write clear text to \(out)? Type yes: ")
        terminal.type(answer + "\n")
        #expect(await running.outcome().status == status, "\(terminal.transcript())")
        #expect(try scratch.names().contains("clear.sqlite") == (status == 0))
    }

    @Test("strongroom on a terminal does not ask with decrypt --yes")
    func decryptUnasked() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "right")
        let running = try terminal.start(
            try Program(
                built: "strongroom", "decrypt", database, scratch.path("clear.sqlite"), "--yes", "--passphrase-file",
                try scratch.secret("right")))
        #expect(await running.outcome().status == 0)
        #expect(!terminal.transcript().contains("Type yes"))
    }

    @Test("A passphrase that is typed shows in no argument and no environment of any process")
    func typedSecrecy() async throws {
        let secret = "typed-\(UUID().uuidString)"
        let database = try await scratch.encryptedDatabase(passphrase: secret)
        let running = try terminal.start(try Program(built: "strongroom", "rotate", database))
        try terminal.expect("Passphrase of \(database): ")
        terminal.type(secret + "\n")
        try terminal.expect("New passphrase for \(database): ")
        #expect(try ProcessTable().mentioning(secret) == [])
        terminal.type("\u{3}")
        #expect(await running.outcome().status == 130)
        #expect(!terminal.transcript().contains(secret))
    }

    @Test("An interrupted rotation is finished with the new passphrase, after another prompt for it")
    func asksForTheNewOneAfterAnInterruption() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "old")
        let shell = StockShell(path: database, passphrase: "old")
        try await shell.run("PRAGMA journal_mode = wal;")
        let reader = try await shell.holding("BEGIN; SELECT count(*) FROM book;")
        let first = try await strongroom(
            "rotate", database, "--passphrase-file", try scratch.secret("old", in: "old.key"),
            "--new-passphrase-file", try scratch.secret("new", in: "new.key"))
        #expect(first.status == 15, "\(first.errors)")
        reader.endInput()
        _ = await reader.outcome()

        let running = try terminal.start(try Program(built: "strongroom", "rotate", database))
        try terminal.expect("Passphrase of \(database): ")
        terminal.type("old\n")
        try terminal.expect("New passphrase for \(database): ")
        terminal.type("new\n")
        try terminal.expect("Repeat passphrase: ")
        terminal.type("new\n")
        #expect(await running.outcome().status == 0, "\(terminal.transcript())")
        #expect(terminal.transcript().contains("it is finished now, and checked"))
    }

    @Test(
        "strongroom on a terminal ends with 130 at Ctrl-C and Ctrl-\\, echo switched on again and nothing changed",
        arguments: ["\u{3}", "\u{1C}"])
    func controlC(_ typed: String) async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "right")
        let before = try scratch.bytes("encrypted.sqlite")
        let running = try terminal.start(try Program(built: "strongroom", "rotate", database))
        try terminal.expect("Passphrase of \(database): ")
        terminal.type(typed)
        #expect(await running.outcome().status == 130)
        #expect(terminal.transcript().contains("interrupted"))
        #expect(terminal.echoes)
        #expect(try scratch.bytes("encrypted.sqlite") == before)
    }
}

import Foundation
import TestSupport
import Testing

@testable import StrongroomCLI

@Suite("strongroom key")
struct KeyCommandTests {
    let scratch: TemporaryFolder
    let database: String
    let first: String, second: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = scratch.path("notes.db")
        first = try scratch.secret("first\n", in: "first")
        second = try scratch.secret("second\n", in: "second")
        let created = try await strongroom(
            "create", database, "--slots", "--cost", "14", "--label", "mine",
            "--passphrase-file", first)
        try #require(created.status == 0, "\(created.errors)")
    }

    private func opens(_ secret: String) async throws -> Bool {
        try await strongroom("verify-key", database, "--passphrase-file", secret).status == 0
    }

    private func slots() async throws -> [[String: Any]] {
        try #require(try await strongroom("key", "list", database, "--json").object["slots"] as? [[String: Any]])
    }

    @Test("strongroom key passwd changes a passphrase that create set, and no page")
    func passwd() async throws {
        #expect(
            try await strongroom(
                "query", database, "--write", "CREATE TABLE t(a)",
                "--passphrase-file", first
            ).status == 0)
        let before = try scratch.bytes("notes.db")
        let outcome = try await strongroom(
            "key", "passwd", database, "--passphrase-file", first,
            "--new-passphrase-file", second)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try scratch.bytes("notes.db") == before)
        #expect(try await opens(second))
        #expect(try await !opens(first))
        #expect(try scratch.names() == ["first", "notes.db", "notes.db-keys", "second"])
    }

    @Test("strongroom key lists slots without a key, for people and programs, and refuses a wrong one")
    func list() async throws {
        let text = try await strongroom("key", "list", database)
        #expect(text.status == 0 && text.output.contains("scrypt 14 8 1") && text.output.contains("mine"))
        let slot = try #require(try await slots().first)
        #expect(slot["label"] as? String == "mine" && slot["kind"] as? String == "passphrase")
        #expect(Set(slot.keys) == ["id", "label", "created", "kind", "derivation"])
        #expect(try await strongroom("key", "list", database, "--passphrase-file", second).status == 12)
        #expect(try await strongroom("--json", "key", "list", database).object["command"] as? String == "key")
    }

    @Test("strongroom key adds slots and removes them, but not the last, and not the one in use")
    func addAndRemove() async throws {
        let added = try await strongroom(
            "key", "add", database, "--label", "laptop", "--cost", "14", "--passphrase-file", first,
            "--new-passphrase-file", second)
        #expect(added.status == 0, "\(added.errors)")
        #expect(try await slots().count == 2)
        #expect(
            try await strongroom(
                "verify-key", database, "--key-hint", "laptop",
                "--passphrase-file", second
            ).status == 0)
        let own = try await strongroom("key", "remove", database, "mine", "--passphrase-file", first)
        #expect(own.status == 1 && own.errors.contains("nothing was changed"))
        #expect(try await strongroom("key", "remove", database, "mine", "--passphrase-file", second).status == 0)
        #expect(try await !opens(first))
        #expect(try await strongroom("key", "remove", database, "laptop", "--passphrase-file", second).status == 1)
        #expect(try await strongroom("key", "remove", database, "nobody", "--passphrase-file", second).status == 1)
        #expect(try await opens(second))
    }

    @Test("strongroom key makes a recovery code that opens, typed as people type")
    func recoveryCode() async throws {
        let outcome = try await strongroom("key", "add", database, "--recovery-code", "--passphrase-file", first)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let code = outcome.output.trimmingCharacters(in: .newlines)
        #expect(try await opens(scratch.secret(code, in: "code")))
        #expect(try await opens(scratch.secret(code.lowercased().replacingOccurrences(of: "-", with: " "), in: "code")))
        let slip = (code.hasPrefix("A") ? "B" : "A") + code.dropFirst()
        #expect(
            try await strongroom(
                "verify-key", database, "--passphrase-file",
                scratch.secret(slip, in: "code")
            ).status == 12)
        #expect(!scratch.text("notes.db-keys").contains(code))
    }

    @Test("strongroom key exports a key for the stock shell, to a private file or to standard output")
    func export() async throws {
        let outcome = try await strongroom("key", "export", database, scratch.path("key"), "--passphrase-file", first)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try scratch.mode("key") == 0o600)
        let digits = scratch.text("key").trimmingCharacters(in: .newlines)
        #expect(digits.count == 96)
        #expect(try await strongroom("verify-key", database, "--raw-key-file", scratch.path("key")).status == 0)
        let sql = "PRAGMA key = \"x'\(digits)'\"; SELECT count(*) FROM sqlite_master;"
        let shell = try await StockShell(path: database).attempt(sql)
        #expect(shell.output.hasSuffix("0\n"), "\(shell)")
        #expect(try await strongroom("key", "export", database, "--passphrase-file", first).output == digits + "\n")
        #expect(
            try await strongroom(
                "key", "export", database, scratch.path("key"),
                "--passphrase-file", first
            ).status == 1)
    }

    @Test("strongroom key backs the slot file up, and restores it")
    func backup() async throws {
        let copy = scratch.path("copy")
        #expect(try await strongroom("key", "backup", database, copy, "--passphrase-file", first).status == 0)
        try FileManager.default.removeItem(atPath: database + "-keys")
        #expect(try await strongroom("key", "restore", database, copy, "--passphrase-file", second).status == 12)
        #expect(try await strongroom("key", "restore", database, copy, "--passphrase-file", first).status == 0)
        #expect(try await opens(first))
        #expect(try await strongroom("key", "restore", database, copy, "--passphrase-file", first).status == 1)
        #expect(
            try await strongroom(
                "key", "restore", database, copy, "--force",
                "--passphrase-file", first
            ).status == 0)
    }

    @Test("strongroom rotate changes the passphrase of the slot, and with --data-key every page")
    func rotate() async throws {
        let before = try scratch.bytes("notes.db")
        let passphrase = try await strongroom(
            "rotate", database, "--json", "--passphrase-file", first,
            "--new-passphrase-file", second)
        #expect(try passphrase.object["changed"] as? String == "passphrase")
        #expect(try scratch.bytes("notes.db") == before)
        #expect(
            try await strongroom(
                "key", "add", database, "--recovery-code",
                "--passphrase-file", second
            ).status == 0)
        let refused = try await strongroom("rotate", database, "--data-key", "--json", "--passphrase-file", second)
        #expect(refused.status == 1)
        #expect((try refused.object["dropped_slots"] as? [Any])?.count == 1)
        #expect(try scratch.bytes("notes.db") == before)
        let pages = try await strongroom(
            "rotate", database, "--data-key", "--drop-other-slots", "--json",
            "--passphrase-file", second)
        #expect(pages.status == 0, "\(pages)")
        #expect(try pages.object["changed"] as? String == "pages")
        #expect(try scratch.bytes("notes.db") != before)
        #expect(try await opens(second))
        #expect(try await slots().count == 1)
    }

    @Test("strongroom backup and vacuum keep the slots, and a new file replaces no slot file")
    func copies() async throws {
        let copy = scratch.path("copy.db")
        #expect(
            try await strongroom(
                "key", "add", database, "--label", "b", "--cost", "14", "--passphrase-file", first,
                "--new-passphrase-file", second
            ).status == 0)
        #expect(try await strongroom("backup", database, copy, "--passphrase-file", first).status == 0)
        #expect(try await strongroom("verify-key", copy, "--passphrase-file", second).status == 0)
        #expect(try scratch.mode("copy.db-keys") == 0o600)
        #expect(try await strongroom("vacuum", database, "--passphrase-file", first).status == 0)
        #expect(try await opens(second))
        try FileManager.default.removeItem(atPath: copy)
        let refused = try await strongroom("create", copy, "--force", "--passphrase-file", first)
        #expect(refused.status == 1 && refused.errors.contains("key slots"))
    }

    @Test("strongroom rotate --slots gives slots to a database that has none, and --no-slots takes them away")
    func conversions() async throws {
        let plain = scratch.path("plain.db")
        #expect(try await strongroom("create", plain, "--passphrase-file", first).status == 0)
        let given = try await strongroom(
            "rotate", plain, "--slots", "--cost", "14", "--label", "desk", "--json", "--passphrase-file", first)
        #expect(given.status == 0, "\(given)")
        #expect(try given.object["changed"] as? String == "pages")
        #expect(try (given.object["slots"] as? [[String: Any]])?.map { $0["label"] as? String } == ["desk"])
        #expect(try await strongroom("verify-key", plain, "--passphrase-file", first).status == 0)
        let again = try await strongroom("rotate", plain, "--slots", "--passphrase-file", first)
        #expect(again.status == 0 && again.errors.contains("it has key slots already"))
        let code = try await strongroom("key", "add", plain, "--recovery-code", "--passphrase-file", first).output
        let paper = try scratch.secret(code, in: "code")
        let byCode = try await strongroom("rotate", plain, "--no-slots", "--passphrase-file", paper)
        #expect(byCode.status == 1 && byCode.errors.contains("--new-passphrase-file"), "\(byCode)")
        let taken = try await strongroom(
            "rotate", plain, "--no-slots", "--passphrase-file", first, "--new-passphrase-file", second)
        #expect(taken.status == 0, "\(taken)")
        #expect(try scratch.names().filter { $0.hasPrefix("plain") } == ["plain.db"])
        let sql = "PRAGMA key = 'second'; SELECT count(*) FROM sqlite_master;"
        let shell = try await StockShell(path: plain).attempt(sql)
        #expect(shell.output.hasSuffix("0\n"), "\(shell)")
        #expect(try await strongroom("rotate", plain, "--no-slots", "--passphrase-file", second).status == 0)
    }

    @Test("strongroom encrypt --slots makes an encrypted copy with slots")
    func encrypt() async throws {
        let clear = scratch.path("clear.db"), copy = scratch.path("copy.db")
        #expect(try await strongroom("decrypt", "--yes", database, clear, "--passphrase-file", first).status == 0)
        let outcome = try await strongroom(
            "encrypt", "--slots", "--cost", "14", "--label", "copied", clear, copy, "--passphrase-file", second)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try scratch.mode("copy.db-keys") == 0o600)
        #expect(try await strongroom("key", "list", copy).output.contains("copied"))
        #expect(try await strongroom("verify-key", copy, "--passphrase-file", second).status == 0)
        #expect(try await strongroom("verify-key", copy, "--passphrase-file", first).status == 12)
    }

    @Test("strongroom info shows the slots without a key, and warns of problems of their file")
    func info() async throws {
        func problems() async throws -> [String] {
            try #require(try await strongroom("info", database, "--json").object["slot_file_problems"] as? [String])
        }
        #expect(try await strongroom("info", database).output.contains("mine"))
        #expect(try await problems() == ["noRecoveryCode"])
        #expect(chmod(database + "-keys", 0o644) == 0)
        #expect(try await strongroom("key", "add", database, "--recovery-code", "--passphrase-file", first).status == 0)
        #expect(try await problems() == [])
        #expect(chmod(database + "-keys", 0o644) == 0)
        #expect(try await problems() == ["readableByOthers"])
        let old = try scratch.bytes("notes.db-keys")
        #expect(
            try await strongroom(
                "rotate", database, "--data-key", "--drop-other-slots",
                "--passphrase-file", first
            ).status == 0)
        try scratch.write(old, to: "notes.db-keys")
        #expect(chmod(database + "-keys", 0o644) == 0)
        #expect(try await problems() == ["foreign", "readableByOthers"])
        #expect(try await strongroom("verify-key", database, "--passphrase-file", first).status == 1)
        try scratch.write(Data("rubbish".utf8), to: "notes.db-keys")
        #expect(try await problems() == ["unreadable"])
        #expect(try await strongroom("verify-key", database, "--passphrase-file", first).status == 13)
        #expect(try await strongroom("key", "list", database).status == 13)
    }

    @Test("strongroom key reports that a database has no slots")
    func plain() async throws {
        let plain = scratch.path("plain.db")
        #expect(try await strongroom("create", plain, "--passphrase-file", first).status == 0)
        let outcome = try await strongroom("key", "list", plain)
        #expect(outcome.status == 1 && outcome.errors.contains("no key slots"))
    }
}

@Suite("The usage of strongroom key")
struct KeyUsageTests {
    @Test(
        "strongroom key ends with 2 at a usage it does not understand",
        arguments: [
            ["key", "remove", "db"], ["key", "list", "db", "slot"], ["key", "backup", "db"], ["key", "rename", "db"],
            ["key"], ["key", "list", "db", "--label", "a"], ["key", "remove", "db", "a", "--recovery-code"],
            ["create", "db", "--label", "a"],
            ["rotate", "db", "--drop-other-slots"], ["rotate", "a", "b", "--data-key"],
            ["rotate", "a", "b", "--slots"], ["rotate", "db", "--slots", "--data-key"],
            ["rotate", "db", "--label", "a"],
            ["rotate", "db", "--no-slots", "--cost", "14"], ["encrypt", "a", "b", "--label", "c"],
        ])
    func usage(_ arguments: [String]) async throws {
        #expect(try await strongroom(arguments).status == 2)
    }

    static let subcommands = ["list", "add", "passwd", "remove", "export", "backup", "restore"]

    @Test("Each subcommand of strongroom key explains itself, with its own options", arguments: subcommands)
    func help(_ name: String) async throws {
        for outcome in [
            try await strongroom("key", name, "--help"), try await strongroom("help", "key", name),
        ] {
            let help = outcome.output
            #expect(outcome.status == 0 && help.contains("USAGE: strongroom key \(name)"), "\(outcome.errors)")
            #expect(help.contains("EXAMPLE:\n  strongroom key \(name)") && help.contains("EXIT STATUS:"))
            #expect(help.contains("--new-passphrase-file") == (name == "add" || name == "passwd"))
            #expect(help.contains("--cost") == (name == "add" || name == "passwd"))
            #expect(help.contains("--label") == (name == "add") && help.contains("--recovery-code") == (name == "add"))
            #expect(help.contains("--force") == (name == "restore"))
        }
    }

    @Test("A wrong usage of a subcommand of strongroom key names its help", arguments: subcommands)
    func usageLine(_ name: String) async throws {
        let outcome = try await strongroom("key", name)
        #expect(outcome.errors.hasSuffix("strongroom help key \(name) lists the options.\n"), "\(outcome.errors)")
        #expect(try await strongroom("key").errors.contains("strongroom help key lists the commands."))
        let nearest = try await strongroom("key", "lits", "db")
        #expect(
            nearest.errors.contains("there is no command key lits") && nearest.errors.contains("Did you mean list?"))
    }

    @Test("The completions of a slot are those of the database before it")
    func completions() async throws {
        let scratch = try TemporaryFolder(), database = scratch.path("notes.db")
        let secret = try scratch.secret("secret")
        let create = ["create", database, "--slots", "--label", "laptop", "--cost", "14", "--passphrase-file", secret]
        #expect(try await strongroom(create).status == 0)
        let names = SlotNames.completions(["strongroom", "key", "remove", database, ""], 4, "")
        #expect(names.contains("laptop") && names.count == 2)
        #expect(SlotNames.completions(["strongroom", "key", "remove", database + "x", ""], 4, "").isEmpty)
    }
}

import Foundation
import TestSupport
import Testing

@Suite("Arguments of strongroom")
struct ArgumentTests {
    let scratch: TemporaryFolder
    let secret: String

    init() throws {
        scratch = try TemporaryFolder()
        secret = try scratch.rawKey("right")
    }

    /// A line of the shell in the folder of the databases; `strongroom` is the program.
    func here(_ line: String) async throws -> Outcome {
        let program = try Program(built: "strongroom").executable.path
        return try await Program(
            "sh", "-c",
            "strongroom() { '\(program)' \"$@\"; }; cd '\(scratch.path)'; \(line)"
        ).run()
    }

    @Test("A file whose name begins with a dash is a file", arguments: ["rotate", "check", "verify-key"])
    func dash(_ command: String) async throws {
        for name in ["-dash.db", "a.db"] { _ = try await scratch.encryptedDatabase(name, rawKey: "right") }
        _ = try scratch.rawKey("new", in: "new")
        let more = command == "rotate" ? "--new-raw-key-file new" : ""
        let outcome = try await here("strongroom \(command) *.db --raw-key-file secret \(more) --json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.object["done"] as? Int == 2)
    }

    @Test("A word with a dash that is no option and no file is a wrong usage")
    func noOption() async throws {
        let outcome = try await here("strongroom rotate -dash.db")
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("there is no option -dash.db"))
        #expect(outcome.output.isEmpty)
    }

    @Test(
        "A command that does not exist is a wrong usage, and the nearest one is named",
        arguments: [
            ("rotat", "rotate"), ("help chekc", "check"), ("verify-kee", "verify-key"), ("--json bakcup", "backup"),
        ])
    func misspelt(_ line: String, _ meant: String) async throws {
        let outcome = try await here("strongroom \(line)")
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("Did you mean \(meant)?"), "\(outcome.errors)")
        if line.contains("--json") { #expect(try outcome.object["status"] as? Int == 2) }
    }

    @Test("--json and --quiet alone name no command", arguments: ["--json", "--quiet --json"])
    func noCommand(_ line: String) async throws {
        let outcome = try await here("strongroom \(line)")
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("no command given"), "\(outcome.errors)")
        #expect(try outcome.object["status"] as? Int == 2)
    }

    @Test("Help of no command is a wrong usage")
    func helpOfNothing() async throws {
        let outcome = try await here("strongroom help nosuch")
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("there is no command nosuch"))
    }

    @Test(
        "--json and --quiet stand before or after the command",
        arguments: ["--json verify-key FILE", "verify-key FILE --json", "--quiet --json verify-key FILE"])
    func commonOptions(_ line: String) async throws {
        let path = try await scratch.encryptedDatabase(rawKey: "right")
        let outcome = try await here(
            "strongroom \(line.replacingOccurrences(of: "FILE", with: path)) --raw-key-file secret")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.object["command"] as? String == "verify-key")
    }

    @Test(
        "A name that looks like a URI is the name of a file",
        arguments: ["file:a.db", "file:..%2fvictim.db", ":memory:", "a?mode=memory"])
    func uri(_ name: String) async throws {
        _ = try await scratch.encryptedDatabase("victim.db", rawKey: "right")
        try FileManager.default.createDirectory(atPath: scratch.path("folder"), withIntermediateDirectories: true)
        try scratch.copy("victim.db", to: "folder/\(name)")
        let before = try scratch.bytes("victim.db"), key = "--raw-key-file ../secret"
        _ = try scratch.rawKey("new", in: "new")
        for line in [
            "check '\(name)'", "info '\(name)'", "query '\(name)' 'SELECT 1'",
            "rotate * --new-raw-key-file ../new",
        ] {
            let outcome = try await here("cd folder; strongroom \(line) \(key)")
            #expect(outcome.status == 0, "\(line): \(outcome.errors)")
        }
        #expect(try scratch.bytes("victim.db") == before)
        #expect(
            try await strongroom(
                "verify-key", scratch.path("folder/\(name)"), "--raw-key-file",
                scratch.path("new")
            ).status == 0)
    }

    @Test("An empty name and one that is not UTF-8 are refused", arguments: ["''", "\"$(printf 'a\\377.db')\""])
    func badName(_ name: String) async throws {
        let outcome = try await here("strongroom check \(name) --raw-key-file secret")
        #expect(outcome.status == 2)
        #expect(outcome.errors.hasPrefix("strongroom: "))
        #expect(!outcome.errors.contains(": :"))
    }

    @Test(
        "A path that leads to a name which is not UTF-8 is refused, and not called absent",
        arguments: ["link.db", "link/a.db", "link/new.db"])
    func foreignName(_ name: String) async throws {
        let line =
            """
            mkdir "$(printf 'd\\377')"; ln -s "$(printf 'd\\377')" link; : > link/a.db; \
            ln -s "$(printf 'd\\377')/a.db" link.db;
            """
        let outcome = try await here("\(line) strongroom create \(name) --force --raw-key-file secret")
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("a name that is not UTF-8; nothing was changed"))
        #expect(!outcome.errors.contains("symlink"))
    }

    @Test("A database is known by a symlink, too")
    func symlink() async throws {
        let path = scratch.path("header.db"), link = scratch.path("link.db")
        #expect(try await strongroom("create", path, "--plaintext-header", "--raw-key-file", secret).status == 0)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let info = try await strongroom("info", link, "--json").object
        #expect(info["has_salt_file"] as? Bool == true)
        #expect(info["file"] as? String == link)
        #expect(try await strongroom("check", link, "--raw-key-file", secret).status == 0)
    }

    @Test("A rotation that was killed is found by a symlink, too")
    func symlinkOfPending() async throws {
        let path = try await scratch.encryptedDatabase(rawKey: "old"), link = scratch.path("link.db")
        try await StockShell(path: path, rawKey: "old").run("PRAGMA journal_mode = wal;")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let keys = [
            "--raw-key-file", try scratch.rawKey("old", in: "old"), "--new-raw-key-file",
            try scratch.rawKey("new", in: "new"),
        ]
        let reader = try await StockShell(path: path, rawKey: "old").holding("BEGIN; SELECT count(*) FROM book;")
        _ = try await strongroom(["rotate", path] + keys)
        let info = try await strongroom("info", link, "--json").object
        reader.endInput()
        _ = await reader.outcome()
        #expect(info["is_rotation_pending"] as? Bool == true)
        #expect(try await strongroom(["rotate", link, "--json"] + keys).object["outcome"] as? String == "finished")
    }

    @Test("A signal ends the work on several files")
    func interruptedFiles() async throws {
        let path = try await scratch.encryptedDatabase("a.db", rawKey: "right")
        try await StockShell(path: path, rawKey: "right").run(
            "CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(60000000));")
        _ = try await scratch.encryptedDatabase("b.db", rawKey: "right")
        let running = try Program(
            built: "strongroom", "check", path, scratch.path("b.db"), "--json", "--progress", "json",
            "--raw-key-file", secret
        ).start()
        try await running.waitForErrors("\"percent\":5")
        kill(running.process.processIdentifier, SIGINT)
        let outcome = await running.outcome()
        #expect(outcome.status == 130, "\(outcome.errors)")
        let files = try #require(try outcome.object["files"] as? [[String: Any]])
        #expect(files.map { $0["status"] as? Int } == [130, 130])
        #expect((files[1]["error"] as? String)?.contains("before its turn") == true)
    }

    @Test(
        "Several files have an object each, and the exit status is the worst",
        arguments: [
            ("check", Int32(13)), ("verify-key", 12), ("info --unlock", 12),
        ])
    func severalFiles(_ command: String, _ status: Int32) async throws {
        _ = try await scratch.encryptedDatabase("a.db", rawKey: "right")
        _ = try await scratch.encryptedDatabase("b.db", rawKey: "another")
        _ = try await scratch.encryptedDatabase("c.db", rawKey: "right")
        try scratch.damage("c.db", at: 3 * 4096 + 1000)
        let outcome = try await here("strongroom \(command) a.db b.db c.db nowhere.db --json --raw-key-file secret")
        #expect(outcome.status == status, "\(outcome.errors)")
        let object = try outcome.object
        #expect(object["file"] is NSNull)
        let files = try #require(object["files"] as? [[String: Any]])
        #expect(files.map { $0["file"] as? String } == ["a.db", "b.db", "c.db", "nowhere.db"])
        #expect(files.map { $0["status"] as? Int } == [0, 12, command == "check" ? 13 : 0, 10])
        let plain = try await here("strongroom \(command) a.db b.db --raw-key-file secret")
        #expect(plain.status == 12)
        #expect(plain.errors.contains("2 databases: "))
    }
}

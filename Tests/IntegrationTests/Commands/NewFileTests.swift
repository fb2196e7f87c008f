import Foundation
import TestSupport
import Testing

@Suite("Databases that commands create")
struct NewFileTests {
    let scratch: TemporaryFolder
    let source: String
    let secret: String

    init() async throws {
        scratch = try TemporaryFolder()
        source = try await scratch.encryptedDatabase("source.db", rawKey: "right")
        secret = try scratch.rawKey("right")
    }

    func backup(to out: String, _ more: String...) async throws -> Outcome {
        try await strongroom(["backup", source, out, "--raw-key-file", secret] + more)
    }

    /// The program in the folder of the databases.
    func here(_ arguments: String..., input: String = "") async throws -> Outcome {
        let program = try Program(built: "strongroom").executable.path
        let line = "cd '\(scratch.path)' && exec '\(program)' \"$@\""
        var shell = try Program("sh", "-c", line, "strongroom")
        shell.arguments += arguments
        return try await shell.run(input: input)
    }

    @Test("A name that leaves no room for those of its log and its salt is refused", arguments: [246, 300])
    func longName(_ length: Int) async throws {
        let name = String(repeating: "x", count: length)
        let outcome = try await strongroom("create", scratch.path(name), "--raw-key-file", secret)
        #expect(outcome.status == 1)
        let words = "its name leaves no room for those of its log and its salt; nothing was changed"
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
        #expect(try scratch.names() == ["secret", "source.db"])
    }

    @Test(
        "New databases may have names of one character",
        arguments: [["create", "x"], ["backup", "source.db", "x"], ["decrypt", "source.db", "x", "--yes"]])
    func shortName(_ arguments: [String]) async throws {
        let program = try Program(built: "strongroom").executable.path
        var shell = try Program("sh", "-c", "cd '\(scratch.path)' && exec '\(program)' \"$@\"", "strongroom")
        shell.arguments += arguments + ["--raw-key-file", secret]
        let outcome = try await shell.run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try scratch.names() == ["secret", "source.db", "x"])
    }

    @Test(
        "New databases are refused where the name is none of a file",
        arguments: [
            ("-", "standard output"), (":memory:", "in memory"), ("file:x.db", "URI"),
            (
                "file:///tmp/x.db?mode=rwc",
                "URI"
            ), ("", "empty name"),
        ])
    func noFile(_ name: String, _ words: String) async throws {
        let before = try scratch.snapshot()
        let outcome = try await here("create", name, "--raw-key-file", secret, "--force")
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
        #expect(try scratch.snapshot() == before)
    }

    @Test(
        "New databases are never the source itself, by whatever name",
        arguments: ["source.db", "link", "hard", "./source.db", "source.db-wal", "source.db-salt"])
    func itself(_ out: String) async throws {
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: source)
        try FileManager.default.linkItem(atPath: source, toPath: scratch.path("hard"))
        let before = try scratch.snapshot()
        for more in [[], ["--force"]] {
            for command in ["backup", "migrate", "decrypt"] {
                let outcome = try await strongroom(
                    [
                        command, source, scratch.path(out), "--raw-key-file",
                        secret,
                    ] + more + (command == "decrypt" ? ["--yes"] : []))
                #expect(outcome.status == 1)
                #expect(
                    outcome.errors.contains("taken for a part of") || outcome.errors.contains("it is \(source) itself"),
                    "\(outcome.errors)")
            }
        }
        #expect(try scratch.snapshot() == before)
    }

    @Test(
        "New databases name themselves and not the source when they can't be made",
        arguments: [
            ("nowhere/out.db", Int32(10), "its folder does not exist"),
            ("secret/out.db", 10, "its folder does not exist"),
        ])
    func namedInErrors(_ out: String, _ status: Int32, _ words: String) async throws {
        let outcome = try await backup(to: scratch.path(out))
        #expect(outcome.status == status)
        #expect(outcome.errors.hasPrefix("strongroom: \(scratch.path(out)): \(words)"), "\(outcome.errors)")
    }

    @Test("New databases name themselves when the disk is full", .enabled(if: SmallDisk.isAvailable))
    func fullDisk() async throws {
        let disk = scratch.path("disk"), program = try Program(built: "strongroom").executable.path
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        try await StockShell(
            path: source,
            rawKey: "right"
        ).run("CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(1200000));")
        let outcome = try await SmallDisk.run(
            size: "1m", on: disk,
            "'\(program)' backup '\(source)' '\(disk)/out.db' --raw-key-file '\(secret)'; echo $?; ls -A '\(disk)'")
        #expect(outcome.output == "14\n")
        #expect(outcome.errors.contains("strongroom: \(disk)/out.db: the disk is full"), "\(outcome.errors)")
    }

    @Test(
        "New databases replace no file that another program has open, forced or not, in both journal modes",

        arguments: ["delete", "wal"])
    func inUse(_ mode: String) async throws {
        let out = try await scratch.encryptedDatabase("out.db", rawKey: "right")
        let shell = StockShell(path: out, rawKey: "right")
        try await shell.run("PRAGMA journal_mode = \(mode);")
        let holder = try await shell.holding("SELECT count(*) FROM book;")
        let before = try scratch.snapshot()
        let outcome = try await backup(to: out, "--force")
        let after = try scratch.snapshot()
        holder.endInput()
        _ = await holder.outcome()
        #expect(outcome.status == 11, "\(outcome.errors)")
        #expect(outcome.errors.contains("another program has it open"))
        #expect(after == before)
    }

    @Test(
        "New databases leave the log of the old database where the replacement fails",
        .enabled(if: SmallDisk.isAvailable))
    func failingReplacement() async throws {
        let out = try await scratch.databaseWithLog("out.db", rawKey: "right", keepingIndex: false)
        let before = try scratch.snapshot(), program = try Program(built: "strongroom").executable.path
        // A file that something is mounted on can't be renamed over.
        let outcome = try await SmallDisk.run(
            size: "1m", on: "/mnt",
            """
            touch '\(scratch.path)/mount' && rm '\(scratch.path)/mount'
            mount --bind '\(out)' '\(out)' && '\(program)' backup '\(source)' '\(out)' --force --raw-key-file \
            '\(secret)'; echo $?
            """)
        #expect(outcome.output == "1\n", "\(outcome.errors)")
        #expect(outcome.errors.contains("it cannot be replaced"), "\(outcome.errors)")
        #expect(try scratch.snapshot() == before)
        #expect(try await StockShell(path: out, rawKey: "right").run("SELECT count(*) FROM author;") == "3")
    }

    @Test("New databases remove the files that a killed run left, clear text included")
    func leftOvers() async throws {
        try await StockShell(path: source, rawKey: "right").run(
            """
            CREATE TABLE bulk (a);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) INSERT INTO bulk \
            SELECT zeroblob(1000) FROM n;
            """)
        let running = try Program(
            built: "strongroom", "decrypt", source, scratch.path("clear.db"), "--yes", "--raw-key-file", secret,
            "--progress", "json"
        ).start()
        try await running.waitForErrors("\"percent\":20")
        kill(running.process.processIdentifier, SIGKILL)
        _ = await running.outcome()
        #expect(try scratch.names().contains { $0.hasPrefix(".strongroom-") })
        // Another command, for another file.
        #expect(try await strongroom("create", scratch.path("new.db"), "--raw-key-file", secret).status == 0)
        #expect(try scratch.names() == ["new.db", "secret", "source.db"])
    }

    @Test(
        "New databases remove the salt of a database that a killed run did not name, and no other",

        arguments: [true, false])
    func killedBetweenNames(isWhole: Bool) async throws {
        let path = scratch.path("header.db"), folder = scratch.path(".strongroom-killed")
        let create = ["create", path, "--plaintext-header", "--raw-key-file", secret]
        #expect(try await strongroom(create).status == 0)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try scratch.copy("header.db-salt", to: ".strongroom-killed/database-salt")
        try scratch.write(Data("header.db".utf8), to: ".strongroom-killed/database-destination")
        try FileManager.default.moveItem(atPath: path, toPath: folder + "/database")
        if !isWhole { try scratch.write(scratch.bytes("header.db-salt").prefix(30), to: "header.db-salt") }
        try scratch.write(Data("Strongroom salt 1\nsalt 00".utf8), to: "moved.db-salt")
        #expect(try await strongroom(create).status == 0)
        #expect(try await strongroom("verify-key", path, "--raw-key-file", secret).status == 0)
        #expect(try scratch.names() == ["header.db", "header.db-salt", "moved.db-salt", "secret", "source.db"])
        let outcome = try await strongroom("create", scratch.path("moved.db"), "--raw-key-file", secret)
        #expect(
            outcome.status == 1 && outcome.errors.contains("is not replaced") && !outcome.errors.contains("--force"))
    }

    @Test(
        "New databases give a database its log back where a run was killed before it replaced it",
        arguments: [true, false])
    func killedReplacing(isReplaced: Bool) async throws {
        let out = try await scratch.databaseWithLog("database.db", rawKey: "right", keepingIndex: false)
        let before = try scratch.snapshot(), folder = scratch.path(".strongroom-killed")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: out + "-wal", toPath: folder + "/-database.db-wal")
        // The new database stands there as long as it has not taken the place of the old one.
        if !isReplaced { try scratch.write(Data("new".utf8), to: ".strongroom-killed/database") }
        #expect(try await strongroom("create", scratch.path("new.db"), "--raw-key-file", secret).status == 0)
        var expected = before
        if isReplaced { expected["database.db-wal"] = nil }
        #expect(try scratch.snapshot(leavingOut: ["new.db"]) == expected)
    }

    @Test("New databases leave the folder of a run that is at work alone")
    func atWork() async throws {
        try await StockShell(path: source, rawKey: "right").run(
            """
            CREATE TABLE bulk (a);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) INSERT INTO bulk \
            SELECT zeroblob(1000) FROM n;
            """)
        let running = try Program(
            built: "strongroom", "backup", source, scratch.path("copy.db"), "--raw-key-file", secret, "--progress",
            "json"
        ).start()
        try await running.waitForErrors("\"percent\":5")
        kill(running.process.processIdentifier, SIGSTOP)
        #expect(try await strongroom("create", scratch.path("new.db"), "--raw-key-file", secret).status == 0)
        kill(running.process.processIdentifier, SIGCONT)
        let outcome = await running.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try scratch.names() == ["copy.db", "new.db", "secret", "source.db"])
    }

    @Test(
        "New databases don't touch files that another program made meanwhile, including its salt",
        arguments: [
            ["create", "OUT", "--plaintext-header"], ["migrate", "FILE", "OUT", "--plaintext-header", "on"],
            [
                "encrypt",
                "CLEAR", "OUT", "--plaintext-header",
            ],
        ])
    func race(_ command: [String]) async throws {
        let out = scratch.path("out.db"), clear = try await scratch.clearDatabase(), pipe = scratch.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let words = command.map { ["OUT": out, "FILE": source, "CLEAR": clear][$0] ?? $0 }
        var program = try Program(built: "strongroom")
        program.arguments = words + ["--raw-key-file", pipe]
        let running = try program.start()
        // It has looked for the file, and waits for its key.
        let writer = try await running.writing(to: pipe)
        #expect(try await strongroom("create", out, "--plaintext-header", "--raw-key-file", secret).status == 0)
        let before = try scratch.snapshot(leavingOut: ["pipe"])
        writer.write(try Data(contentsOf: URL(fileURLWithPath: secret)))
        try writer.close()
        let outcome = await running.outcome()
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("exists already"), "\(outcome.errors)")
        #expect(try scratch.snapshot(leavingOut: ["pipe"]) == before)
        #expect(try await strongroom("verify-key", out, "--raw-key-file", secret).status == 0)
    }
}

@Suite("Backups")
struct BackupFormatTests {
    let scratch: TemporaryFolder
    let secret: String

    init() throws {
        scratch = try TemporaryFolder()
        secret = try scratch.secret("right")
    }

    @Test("Backups open as the original does, in every format", arguments: ForeignFormat.chosen.filter { !$0.isRaw })
    func formats(_ format: ForeignFormat) async throws {
        let path = scratch.path("foreign.db"), copy = scratch.path("copy.db")
        try await StockShell(path: path, passphrase: "right").run(format.pragmas + TemporaryFolder.sampleSQL)
        let outcome = try await strongroom(["backup", path, copy, "--passphrase-file", secret] + format.options)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            try await StockShell(
                path: copy,
                passphrase: "right"
            ).run(format.pragmas + TemporaryFolder.sampleQuery) == TemporaryFolder.sampleAnswer)
    }

    @Test("Backups have the plaintext header of the original, and a salt beside them")
    func header() async throws {
        let path = scratch.path("header.db"), copy = scratch.path("copy.db")
        #expect(
            try await strongroom(
                "create", path, "--plaintext-header", "--page-size", "8192", "--passphrase-file",
                secret
            ).status == 0)
        let outcome = try await strongroom("backup", path, copy, "--passphrase-file", secret)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try scratch.names() == ["copy.db", "copy.db-salt", "header.db", "header.db-salt", "secret"])
        let info = try await strongroom("info", copy, "--json", "--passphrase-file", secret).object
        #expect(info["plaintext_header_size"] as? Int == 32)
        #expect(info["page_size"] as? Int == 8192)
    }
}

@Suite("Backups over other backups", .timeLimit(.minutes(5)))
struct BackupReplacementTests {
    let scratch: TemporaryFolder
    let secret: String

    init() throws {
        scratch = try TemporaryFolder()
        secret = try scratch.secret("right")
    }

    private func create(_ name: String, _ options: [String]) async throws {
        let cost = options.contains("--slots") ? ["--cost", "14"] : []
        let outcome = try await strongroom(
            ["create", scratch.path(name), "--passphrase-file", secret] + options + cost)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let write = ["query", scratch.path(name), "--write", "CREATE TABLE \(name)(a)", "--passphrase-file", secret]
        try #require(try await strongroom(write).status == 0)
    }

    @Test(
        "Backups with --force replace a backup together with its slot file and its salt",
        arguments: [[], ["--slots"], ["--plaintext-header"]], [["--slots"], ["--slots", "--plaintext-header"], []])
    func replaced(former: [String], next: [String]) async throws {
        try await create("source", next)
        try await create("out", former)
        let refused = try await strongroom(
            "backup", scratch.path("source"), scratch.path("out"), "--passphrase-file", secret)
        #expect(refused.status == 1)
        let outcome = try await strongroom(
            "backup", scratch.path("source"), scratch.path("out"), "--force", "--passphrase-file", secret)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let tables = try await strongroom("info", scratch.path("out"), "--json", "--passphrase-file", secret)
        #expect(tables.status == 0, "\(tables.errors)")
        let rows = try await strongroom(
            "query", scratch.path("out"), "SELECT name FROM sqlite_master", "--passphrase-file", secret)
        #expect(rows.status == 0 && rows.output.contains("source"), "\(rows.errors)")
        #expect(try scratch.names().contains("out-keys") == next.contains("--slots"))
        #expect(try !scratch.names().contains { $0.hasPrefix(".") || $0.hasSuffix("-next") })
    }

    @Test("Backups with --force replace no database whose key is being changed, and no slot file that stands alone")
    func refused() async throws {
        try await create("source", ["--slots"])
        try await create("out", ["--slots"])
        try scratch.copy("out-keys", to: "out-keys-next")
        try scratch.copy("out-keys", to: "moved-keys")
        let before = try scratch.snapshot()
        for name in ["out", "moved"] {
            let outcome = try await strongroom(
                "backup", scratch.path("source"), scratch.path(name), "--force", "--passphrase-file", secret)
            #expect(outcome.status == 1 && outcome.errors.contains("is not replaced"), "\(outcome.errors)")
        }
        #expect(try scratch.snapshot() == before)
    }
}

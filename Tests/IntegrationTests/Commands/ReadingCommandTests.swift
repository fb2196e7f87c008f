import Foundation
import TestSupport
import Testing

/// A command that reads, on FILE.
struct ReadingCommand: Sendable, CustomStringConvertible {
    let words: [String]
    var description: String { words.joined(separator: " ") }

    static let all = [
        ["check"], ["verify-key"], ["info", "--unlock"], ["query", "SELECT count(*) FROM author"],
        [
            "rotate",
            "--dry-run",
        ],
        ["backup", "OUT"], ["migrate", "OUT"], ["decrypt", "OUT", "--yes"],
    ].map(ReadingCommand.init)

    func run(on path: String, _ scratch: TemporaryFolder) async throws -> Outcome {
        let rest = words.dropFirst().map { $0 == "OUT" ? scratch.path("out.db") : $0 }
        return try await strongroom([words[0], path] + rest + ["--raw-key-file", scratch.rawKey("right")])
    }
}

@Suite("Commands that read")
struct ReadingCommandTests {
    static let own: Set = ["out.db", "secret"]
    let scratch: TemporaryFolder
    init() throws { scratch = try TemporaryFolder() }

    @Test(
        "Commands that read leave a database in WAL mode as it was, with nothing beside it",
        arguments: ReadingCommand.all)
    func cleanLog(_ command: ReadingCommand) async throws {
        let path = try await scratch.encryptedDatabase(rawKey: "right")
        try await StockShell(path: path, rawKey: "right").run("PRAGMA journal_mode = wal;")
        let before = try scratch.snapshot()
        let outcome = try await command.run(on: path, scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try scratch.snapshot(leavingOut: Self.own) == before)
    }

    @Test(
        "Commands that read read the log that a killed program left, and leave it as it was",
        arguments: ReadingCommand.all,
        [true, false])
    func leftLog(_ command: ReadingCommand, _ keepingIndex: Bool) async throws {
        let path = try await scratch.databaseWithLog(rawKey: "right", keepingIndex: keepingIndex)
        let before = try scratch.snapshot()
        let outcome = try await command.run(on: path, scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        if command.words[0] == "query" { #expect(outcome.output.contains("3")) }
        #expect(try scratch.snapshot(leavingOut: Self.own) == before)
    }

    @Test(
        "Commands that read leave no file beside a database that this user may not write",
        .enabled(if: geteuid() == 0),
        arguments: [false, true], [0o755, 0o777] as [mode_t])
    func anotherUser(_ hasLog: Bool, _ folderMode: mode_t) async throws {
        let path =
            hasLog
            ? try await scratch.databaseWithLog(rawKey: "right", keepingIndex: false)
            : try await scratch.encryptedDatabase(rawKey: "right")
        if !hasLog { try await StockShell(path: path, rawKey: "right").run("PRAGMA journal_mode = wal;") }
        let secret = try scratch.rawKey("right", mode: 0o644), before = try scratch.snapshot()
        for name in try scratch.names() { chmod(scratch.path(name), 0o644) }
        chmod(scratch.path, folderMode)
        for command in [["check"], ["verify-key"], ["info", "--unlock"], ["query", "SELECT count(*) FROM author"]] {
            var program = try Program(built: "strongroom")
            program.arguments = [command[0], path] + command.dropFirst() + ["--raw-key-file", secret]
            let outcome = try await program.unprivileged(as: 65534).run()
            // A log without its index can't be read without making one.
            #expect(outcome.status == (hasLog ? 1 : 0), "\(command): \(outcome.errors)")
            #expect(!hasLog || outcome.errors.contains("by a user who may write it"))
            #expect(try scratch.snapshot() == before)
        }
    }

    @Test("Commands that read leave all as it was beside a program that writes", arguments: ReadingCommand.all)
    func besideWriter(_ command: ReadingCommand) async throws {
        let path = try await scratch.encryptedDatabase(rawKey: "right")
        let shell = StockShell(path: path, rawKey: "right")
        try await shell.run("PRAGMA journal_mode = wal;")
        let writer = try await shell.holding(
            "INSERT INTO author VALUES (3, 'Ibn Khaldun'); BEGIN IMMEDIATE; DELETE FROM book;")
        let before = try scratch.snapshot(leavingOut: ["encrypted.sqlite-shm"]), names = try scratch.names()
        let outcome = try await command.run(on: path, scratch)
        let after = try scratch.snapshot(leavingOut: Self.own.union(["encrypted.sqlite-shm"]))
        let namesAfter = try scratch.names().filter { !Self.own.contains($0) }
        writer.endInput()
        _ = await writer.outcome()
        // A dry run reports files that would be busy.
        #expect(outcome.status == (command.words[0] == "rotate" ? 11 : 0), "\(outcome.errors)")
        #expect(after == before)
        #expect(namesAfter == names)
    }

    @Test(
        "Commands that read leave a journal that must be rolled back to others, and say so",
        arguments: ReadingCommand.all)
    func journal(_ command: ReadingCommand) async throws {
        let path = try await scratch.databaseWithJournal(rawKey: "right")
        let before = try scratch.snapshot()
        let outcome = try await command.run(on: path, scratch)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("must be rolled back"))
        #expect(!outcome.errors.contains("permissions"))
        #expect(try scratch.snapshot(leavingOut: ["secret"]) == before)
        let line = [
            "query", path, "--write", "SELECT count(*) FROM author", "--raw-key-file",
            scratch.path("secret"),
        ]
        let rolledBack = try await strongroom(line)
        #expect(rolledBack.status == 0, "\(rolledBack.errors)")
        #expect(
            try await StockShell(path: path, rawKey: "right").run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
    }

    @Test("Commands that read encrypt leaves the log of its source as it was")
    func encrypt() async throws {
        let clear = try await scratch.clearDatabase("live.db")
        let writer = try await StockShell(path: clear).holding(
            "PRAGMA journal_mode = wal; INSERT INTO author VALUES (3, 'Ibn Khaldun');")
        for ending in ["", "-wal"] { try scratch.copy("live.db" + ending, to: "left.db" + ending) }
        writer.endInput()
        _ = await writer.outcome()
        let before = try scratch.snapshot()
        let outcome = try await strongroom(
            "encrypt", scratch.path("left.db"), scratch.path("out.db"), "--raw-key-file", try scratch.rawKey("right")
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try scratch.snapshot(leavingOut: Self.own) == before)
        #expect(
            try await StockShell(
                path: scratch.path("out.db"),
                rawKey: "right"
            ).run("SELECT count(*) FROM author;") == "3")
    }

    @Test("Commands that read end with 130 at a signal, and nothing beside the database")
    func interrupted() async throws {
        let path = try await scratch.encryptedDatabase(rawKey: "right")
        try await StockShell(path: path, rawKey: "right").run("PRAGMA journal_mode = wal;")
        let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        let running = try Program(
            built: "strongroom", "query", path, sql, "--raw-key-file",
            try scratch.rawKey("right")
        ).start()
        try await running.wait { FileManager.default.fileExists(atPath: path + "-shm") }
        kill(running.process.processIdentifier, SIGINT)
        #expect(await running.outcome().status == 130)
        #expect(try scratch.names() == ["encrypted.sqlite", "secret"])
    }

    @Test(
        "SQL without --write writes to no file at all",
        arguments: [
            "PRAGMA cipher_log = 'FOLDER/log'", "PRAGMA cipher_profile = 'FOLDER/profile'",
            "ATTACH 'FOLDER/other.db' AS o",
            "ATTACH 'FOLDER/other.db' AS o KEY ''", "VACUUM INTO 'FOLDER/copy.db'", "PRAGMA journal_mode = wal",
            "PRAGMA user_version = 3",
            "PRAGMA wal_checkpoint(TRUNCATE)", "SELECT load_extension('x')", "SELECT sqlcipher_export('main')",
            "PRAGMA query_only = 0",
            "CREATE TABLE t (x)", "PRAGMA optimize", "PRAGMA rekey = 'x'", "PRAGMA cipher_migrate",
            "PRAGMA locking_mode = EXCLUSIVE",
        ])
    func writingSQL(_ sql: String) async throws {
        let path = try await scratch.encryptedDatabase(rawKey: "right"), secret = try scratch.rawKey("right")
        _ = try await scratch.clearDatabase("other.db")
        let before = try scratch.snapshot()
        let line = sql.replacingOccurrences(of: "FOLDER", with: scratch.path)
        let outcome = try await strongroom("query", path, line, "--raw-key-file", secret)
        #expect(outcome.status == 1, "\(outcome.output)\(outcome.errors)")
        #expect(
            outcome.errors.contains("writes") || outcome.errors.contains("rekey"),
            "\(outcome.errors)")
        #expect(try scratch.snapshot() == before)
    }

    @Test(
        "SQL without --write can use all pragmas and functions that only read",
        arguments: [
            "PRAGMA journal_mode", "PRAGMA table_info(book)", "PRAGMA integrity_check(1)",
            "SELECT * FROM pragma_table_xinfo('book')",
            "PRAGMA foreign_key_list('book')", "PRAGMA cipher_version", "EXPLAIN QUERY PLAN SELECT * FROM book",
            "PRAGMA user_version",
        ])
    func readingSQL(_ sql: String) async throws {
        let path = try await scratch.encryptedDatabase(rawKey: "right")
        let outcome = try await strongroom("query", path, sql, "--raw-key-file", try scratch.rawKey("right"))
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(!outcome.output.isEmpty)
    }

    @Test(
        "A query says how many texts are not UTF-8", arguments: ["table", "csv", "json", "jsonl"],
        [("CAST(x'61ff' AS TEXT), CAST(x'fe' AS TEXT)", true), ("char(65533), x'ff'", false)])
    func otherText(_ form: String, _ values: (sql: String, isOther: Bool)) async throws {
        let path = try await scratch.encryptedDatabase(rawKey: "right")
        let outcome = try await ReadingCommand(words: ["query", "SELECT \(values.sql)", "--output", form])
            .run(on: path, scratch)
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("\u{FFFD}"))
        #expect(outcome.errors.contains("not UTF-8 in 2 texts; hex(COLUMN)") == values.isOther, "\(outcome.errors)")
    }
}

import Foundation
import TestSupport
import Testing

/// Every number that the program promises, each by what really leads to it.
@Suite("Exit status of strongroom")
struct ExitCodeTests {
    let scratch: TemporaryFolder
    let database: String
    let key: [String]

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase(rawKey: "right")
        key = ["--raw-key-file", try scratch.rawKey("right")]
    }

    @Test("0: done")
    func done() async throws {
        #expect(try await strongroom(["verify-key", database] + key).status == 0)
    }

    @Test("1: failed otherwise")
    func other() async throws {
        #expect(try await strongroom(["query", database, "SELECT nothing"] + key).status == 1)
    }

    @Test(
        "2: wrong usage, with an object for --json",
        arguments: [
            ["check", "--json"], ["check", "file", "--json", "--passphrase-fd", "x"],
            ["check", "file", "--json", "--page-size", "1000"], ["check", "file", "--json", "--page-size", "512"],
            ["check", "file", "--json", "--passphrase-env", "A", "--passphrase-fd", "5"],
        ])
    func usage(_ arguments: [String]) async throws {
        let outcome = try await strongroom(arguments)
        #expect(outcome.status == 2)
        let object = try outcome.object
        #expect(object["command"] as? String == "check")
        #expect(object["status"] as? Int == 2)
        #expect((object["error"] as? String)?.isEmpty == false)
        #expect(object["remedy"] is String)
    }

    @Test("2: a command that does not exist, in JSON too")
    func unknownCommand() async throws {
        let outcome = try await strongroom("rotat", "--json")
        #expect(outcome.status == 2)
        #expect(try outcome.object["command"] is NSNull)
    }

    @Test("10: no such file")
    func absent() async throws {
        #expect(try await strongroom(["check", scratch.path("nowhere")] + key).status == 10)
    }

    @Test("11: busy")
    func busy() async throws {
        let holder = try await StockShell(path: database, rawKey: "right").holding("BEGIN EXCLUSIVE;")
        let outcome = try await strongroom(["query", database, "SELECT 1"] + key)
        holder.endInput()
        _ = await holder.outcome()
        #expect(outcome.status == 11, "\(outcome.errors)")
    }

    @Test("12: wrong key")
    func wrongKey() async throws {
        #expect(
            try await strongroom("verify-key", database, "--raw-key-file", try scratch.rawKey("wrong", in: "wrong"))
                .status == 12)
    }

    @Test("13: damaged")
    func damaged() async throws {
        try scratch.damage("encrypted.sqlite", at: 2 * 4096 + 1000)
        #expect(try await strongroom(["check", database] + key).status == 13)
    }

    @Test("130: interrupted", arguments: [SIGINT, SIGTERM, SIGHUP])
    func interrupted(_ signal: Int32) async throws {
        let clear = try await scratch.clearDatabase()
        // One table, whose rows alone take a while.
        try await StockShell(path: clear).run(
            """
            CREATE TABLE bulk (a);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) INSERT INTO bulk \
            SELECT zeroblob(1000) FROM n;
            """)
        let before = try scratch.names()
        var program = try Program(
            built: "strongroom", "encrypt", clear, scratch.path("out.sqlite"), "--progress", "json")
        program.arguments += key
        let running = try program.start()
        try await running.waitForErrors("\"percent\":5")
        kill(running.process.processIdentifier, signal)
        let outcome = await running.outcome()
        #expect(outcome.status == 130, "\(outcome.errors)")
        #expect(outcome.errors.contains("interrupted; nothing was changed"))
        #expect(!outcome.errors.contains("\"percent\":100"))
        #expect(try scratch.names() == before)
    }
}

@Suite("strongroom on a full disk", .enabled(if: SmallDisk.isAvailable))
struct FullDiskTests {
    let scratch: TemporaryFolder
    let database: String
    let secret: String
    let disk: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase(rawKey: "right")
        try await StockShell(path: database, rawKey: "right").run(
            "CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(1200000));")
        secret = try scratch.rawKey("right")
        disk = scratch.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    }

    func run(_ line: String) async throws -> Outcome {
        let strongroom = try Program(built: "strongroom").executable.path
        return try await SmallDisk.run(size: "2m", on: disk, "cd '\(disk)'; strongroom='\(strongroom)'; \(line)")
    }

    @Test("Rotate ends with 14 before it begins, reports the space that it needs, and the old passphrase holds")
    func rotate() async throws {
        let new = try scratch.rawKey("new", in: "new")
        let outcome = try await run(
            """
            cp '\(database)' a.db
            $strongroom rotate a.db --raw-key-file '\(secret)' --new-raw-key-file '\(new)'; echo "rotate: $?"; \
            ls -A
            $strongroom check a.db --quiet --raw-key-file '\(secret)'; echo "check: $?"
            """)
        #expect(outcome.output == "rotate: 14\na.db\ncheck: 0\n", "\(outcome.errors)")
        #expect(outcome.errors.contains("a rotation needs 1.3 MB of free space beside it"))
    }

    @Test(
        "A copy that does not fit ends with 14 and leaves nothing",
        arguments: ["backup", "encrypt", "decrypt --yes", "migrate"])
    func copy(_ command: String) async throws {
        var source = database
        if command == "encrypt" {
            source = try await scratch.clearDatabase()
            try await StockShell(path: source).run(
                "CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(1200000));")
        }
        let outcome = try await run(
            """
            head -c 1500000 /dev/zero > filler
            $strongroom \(command) '\(source)' out.db --raw-key-file '\(secret)'; echo "status: $?"; ls -A
            """)
        #expect(outcome.output == "status: 14\nfiller\n", "\(outcome.errors)")
        #expect(outcome.errors.contains("Make room"))
    }

    @Test("A write that does not fit ends with 14, and is undone when the command ends", arguments: ["query", "shell"])
    func write(_ command: String) async throws {
        // A small cache, so that pages are written before the disk is full.
        let outcome = try await run(
            """
            cp '\(database)' a.db; size=$(stat -c %s a.db)
            echo 'PRAGMA cache_size = 10; INSERT INTO bulk SELECT zeroblob(1200000);' \
                | $strongroom \(command) a.db --write --raw-key-file '\(secret)'; echo "status: $?"; ls -A
            test $size = $(stat -c %s a.db) && echo same size
            $strongroom check a.db --quiet --raw-key-file '\(secret)'; echo "check: $?"
            """)
        #expect(outcome.output == "status: 14\na.db\nsame size\ncheck: 0\n", "\(outcome.errors)")
    }

    @Test(
        "An error while rows are written is not ignored",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func standardOutput() async throws {
        let strongroom = try Program(built: "strongroom").executable.path
        let outcome = try await Program(
            "sh", "-c",
            "'\(strongroom)' query '\(database)' 'SELECT * FROM book' --raw-key-file '\(secret)' > /dev/full"
        ).run()
        #expect(outcome.status == 14)
        #expect(
            outcome.errors.hasSuffix(
                """
                strongroom: standard output: it cannot be written (No space left on device); the output is incomplete. \
                Make room, then run this again.

                """), "\(outcome.errors)")
    }
}

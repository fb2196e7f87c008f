import Foundation
import TestSupport
import Testing

@Suite("strongroom rotate --dry-run")
struct DryRunTests {
    let scratch: TemporaryFolder
    let keys: [String]

    init() throws {
        scratch = try TemporaryFolder()
        keys = [
            "--raw-key-file", try scratch.rawKey("old", in: "old"), "--new-raw-key-file",
            try scratch.rawKey("new", in: "new"),
        ]
    }

    /// The reports of the dry run and of the real one: for each file its status, and for both the exit status.
    func both(_ files: [String]) async throws -> (dry: Outcome, real: Outcome) {
        let dry = try await strongroom(["rotate", "--dry-run", "--json"] + files + keys)
        return (dry, try await strongroom(["rotate", "--json"] + files + keys))
    }

    func statuses(_ outcome: Outcome) throws -> [Int] {
        try #require(try outcome.object["files"] as? [[String: Any]]).compactMap { $0["status"] as? Int }
    }

    @Test("strongroom rotate --dry-run predicts the real run, file for file, exit status included")
    func predicts() async throws {
        var files: [String] = []
        for (name, key) in [
            ("a.db", "old"), ("done.db", "new"), ("odd.db", "another"), ("damaged.db", "old"),
            ("linked.db", "old"),
        ] {
            files.append(try await scratch.encryptedDatabase(name, rawKey: RawKey(key)))
        }
        try scratch.damage("damaged.db", at: 3 * 4096 + 1000)
        try FileManager.default.linkItem(atPath: scratch.path("linked.db"), toPath: scratch.path("other-name"))
        files += [try await scratch.clearDatabase(), scratch.path("nowhere.db")]
        let before = try scratch.snapshot()
        let dry = try await strongroom(["rotate", "--dry-run", "--json"] + files + keys)
        #expect(try scratch.snapshot() == before)
        let real = try await strongroom(["rotate", "--json"] + files + keys)
        #expect(dry.status == real.status)
        #expect(try statuses(dry) == statuses(real))
        #expect(try statuses(dry) == [0, 0, 12, 13, 1, 1, 10])
        let outcomes = try #require(try dry.object["files"] as? [[String: Any]]).map { $0["outcome"] as? String }
        #expect(outcomes == ["planned", "already", "failed", "failed", "failed", "failed", "failed"])
    }

    @Test("strongroom rotate --dry-run predicts the remaining work after a finished and a partial rotation")
    func partial() async throws {
        let files = [
            try await scratch.encryptedDatabase("a.db", rawKey: "old"),
            try await scratch.encryptedDatabase("b.db", rawKey: "old"),
        ]
        #expect(try await strongroom(["rotate", files[0]] + keys).status == 0)
        let words = try await strongroom(["rotate", "--dry-run"] + files + keys).errors
        #expect(words.contains(": 1 can be rotated, 1 with the new key already, 0 failed"), "\(words)")
        let (dry, real) = try await both(files)
        #expect(dry.status == 0 && real.status == 0, "\(dry.errors)")
        let outcomes = try #require(try dry.object["files"] as? [[String: Any]]).map { $0["outcome"] as? String }
        #expect(outcomes == ["already", "planned"])
        let (again, reallyAgain) = try await both([files[0]])
        #expect(again.status == 0 && reallyAgain.status == 0)
        #expect(try again.object["outcome"] as? String == "already")
    }

    @Test("strongroom rotate --dry-run predicts that a writer is in the way", arguments: ["delete", "wal"])
    func busy(_ mode: String) async throws {
        let path = try await scratch.encryptedDatabase(rawKey: "old")
        let shell = StockShell(path: path, rawKey: "old")
        try await shell.run("PRAGMA journal_mode = \(mode);")
        let writer = try await shell.holding("BEGIN IMMEDIATE;")
        let (dry, real) = try await both([path])
        writer.endInput()
        _ = await writer.outcome()
        #expect(dry.status == 11 && real.status == 11, "\(dry.errors)\(real.errors)")
        #expect(dry.errors.contains("The old key opens it"))
    }

    @Test(
        "strongroom rotate --dry-run predicts that a reader keeps pages of the old passphrase",
        arguments: [("delete", Int32(11)), ("wal", 15)])
    func reader(_ mode: String, _ status: Int32) async throws {
        let path = try await scratch.encryptedDatabase(rawKey: "old")
        let shell = StockShell(path: path, rawKey: "old")
        try await shell.run("PRAGMA journal_mode = \(mode);")
        let reader = try await shell.holding("BEGIN; SELECT count(*) FROM book;")
        let (dry, real) = try await both([path])
        let (again, reallyAgain) = try await both([path])
        reader.endInput()
        _ = await reader.outcome()
        #expect(dry.status == status && real.status == status, "\(dry.errors)\(real.errors)")
        #expect(again.status == status && reallyAgain.status == status, "\(again.errors)\(reallyAgain.errors)")
    }

    @Test("strongroom rotate --dry-run predicts that the new passphrase is the one in use")
    func same() async throws {
        let path = try await scratch.encryptedDatabase(rawKey: "old")
        let same = ["--raw-key-file", scratch.path("old"), "--new-raw-key-file", scratch.path("old")]
        for more in [["--dry-run"], []] { #expect(try await strongroom(["rotate", path] + same + more).status == 1) }
    }

    @Test("strongroom rotate --dry-run counts interruptions apart from failures")
    func interruptedSums() async throws {
        var files: [String] = []
        for name in ["a.db", "b.db", "c.db"] {
            files.append(try await scratch.encryptedDatabase(name, rawKey: "old"))
            try await StockShell(
                path: files.last!,
                rawKey: "old"
            ).run("CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(40000000));")
        }
        var program = try Program(built: "strongroom", "rotate", "--progress", "json")
        program.arguments += files + keys
        let running = try program.start()
        try await running.waitForErrors("\"percent\":5")
        kill(running.process.processIdentifier, SIGINT)
        let outcome = await running.outcome()
        #expect(outcome.status == 130)
        #expect(outcome.errors.contains("0 failed, 3 interrupted or not begun"), "\(outcome.errors)")
    }

    @Test(
        "strongroom rotate and --dry-run end with 14 when the jobs together need more room than there is",
        .enabled(if: SmallDisk.isAvailable), arguments: [("4", Int32(14)), ("1", 0)])
    func roomForJobs(_ jobs: String, _ status: Int32) async throws {
        let names = ["a.db", "b.db", "c.db", "d.db"], disk = scratch.path("disk")
        for name in names {
            let path = try await scratch.encryptedDatabase(name, rawKey: "old")
            try await StockShell(path: path, rawKey: "old").run(
                "CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(2200000));")
        }
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        let rotate =
            "'\(try Program(built: "strongroom").executable.path)' rotate --jobs \(jobs) "
            + (names + keys).map { "'\($0)'" }.joined(separator: " ")
        let outcome = try await SmallDisk.run(
            size: "12m", on: disk,
            """
            cp '\(scratch.path)'/*.db '\(disk)' && cd '\(disk)' || exit; \
            \(rotate) --dry-run --json; echo $?; cat *.db | cksum; \
            \(rotate) --json; echo $?; cat *.db | cksum
            """)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 6, "\(outcome.output)\(outcome.errors)")
        #expect([lines[1], lines[4]] == ["\(status)", "\(status)"], "\(outcome.errors)")
        #expect((lines[2] == lines[5]) == (status == 14))
        guard status == 14 else { return }
        for line in [lines[0], lines[3]] {
            #expect(line.contains("4 rotations at the same time need 9.") && line.contains("\"failed\":4"), "\(line)")
        }
    }
}

import Foundation
import TestSupport
import Testing

@Suite("The restore command")
struct RestoreCommandTests {
    let scratch: TemporaryFolder
    let database: String
    let backup: String
    let secret: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase("notes.db", rawKey: "right")
        secret = try scratch.rawKey("right")
        backup = scratch.path("backup.db")
        try #require(try await strongroom("backup", database, backup, "--raw-key-file", secret).status == 0)
        try await shell(database).run("UPDATE book SET title = 'later';")
    }

    private func shell(_ path: String) -> StockShell { StockShell(path: path, rawKey: "right") }

    private func restore(_ more: String...) async throws -> Outcome {
        try await strongroom(["restore", backup, database] + more)
    }

    private func title(_ path: String) async throws -> String {
        try await shell(path).run("SELECT max(title = 'later') FROM book;")
    }

    @Test("puts the backup back, and says where the former database is")
    func restored() async throws {
        let outcome = try await restore("--raw-key-file", secret, "--json").object
        let former = try #require(outcome["former"] as? String)
        #expect(outcome["checked"] as? Bool == true)
        #expect(outcome["source"] as? String == backup)
        #expect(try await title(database) == "0")
        #expect(try await title(former) == "1")
        let words = try await restore("--no-check")
        #expect(words.status == 0)
        #expect(words.errors.contains(" without a check. The former database is /"))
    }

    @Test("asks before the former database is discarded, which needs --yes without a terminal")
    func discarded() async throws {
        let executable = try Program(built: "strongroom").executable.path
        let refused = try await Program(
            "setsid", "--wait", executable, "restore", backup, database, "--discard", "--raw-key-file", secret
        ).run()
        #expect(refused.status == 2)
        #expect(refused.errors.contains("--yes"))
        #expect(try await title(database) == "1")
        #expect(try await restore("--discard", "--yes", "--raw-key-file", secret).status == 0)
        #expect(try await title(database) == "0")
        #expect(try scratch.names() == ["backup.db", "notes.db", "secret"])
    }

    @Test("refuses a database in use with 11, and a wrong key with 12, and touches nothing")
    func refused() async throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: database))
        #expect(try await restore("--raw-key-file", try scratch.rawKey("wrong", in: "wrong")).status == 12)
        let running = try await shell(database).holding("SELECT count(*) FROM book;")
        let busy = try await restore("--raw-key-file", secret)
        #expect(busy.status == 11)
        #expect(busy.errors.contains("sqlcipher, process "))
        running.endInput()
        _ = await running.outcome()
        #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before)
    }

    @Test("of a damaged backup ends with 13, of none with 10, and of a text with 1")
    func unfit() async throws {
        var bytes = try scratch.bytes("backup.db")
        bytes[bytes.count - 100] ^= 1
        try scratch.write(bytes, to: "backup.db")
        let before = try scratch.names()
        #expect(try await restore("--raw-key-file", secret).status == 13)
        #expect(try await strongroom("restore", scratch.path("none"), database, "--no-check").status == 10)
        #expect(try await strongroom("restore", secret, database, "--no-check").status == 1)
        #expect(try await strongroom("restore", backup, scratch.path("no/x.db"), "--no-check").status == 10)
        #expect(try scratch.names() == before)
        #expect(try await title(database) == "1")
    }

    @Test("does not take the options of the other kind of source")
    func options() async throws {
        for unfit in [["--at", "1"], ["--at-least", "1"], ["--s3-region", "x"]] {
            let outcome = try await strongroom(["restore", backup, database] + unfit)
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("it is a database file, whose restore does not take \(unfit[0].prefix(5))"))
        }
        let replica = scratch.path("replica")
        #expect(try await strongroom("replicate", database, replica, "--once").status == 0)
        for unfit in [["--no-check"], ["--raw-key-file", secret], ["--page-size", "4096"]] {
            #expect(try await strongroom(["restore", replica, database] + unfit).status == 2)
        }
        #expect(try await strongroom("restore", backup, database, "--yes", "--no-check").status == 2)
    }

    @Test("reads the stream of a backup from standard input, and refuses one that was cut off")
    func stream() async throws {
        let program = try Program(built: "strongroom").executable.path, key = "--raw-key-file '\(secret)'"
        let line = "'\(program)' backup '\(backup)' - \(key) | '\(program)' restore - '\(database)' \(key)"
        let piped = try await Program("sh", "-c", line).run()
        #expect(piped.status == 0, "\(piped.errors)")
        #expect(try await title(database) == "0")
        let cut =
            "'\(program)' backup '\(backup)' - \(key) | head -c 9000 | '\(program)' restore - '\(database)' \(key)"
        #expect(try await Program("sh", "-c", cut).run().status == 13)
        #expect(try scratch.names().filter { !$0.contains(".former-") } == ["backup.db", "notes.db", "secret"])
    }

    @Test("of a replica keeps the former database aside as well")
    func replica() async throws {
        let replica = scratch.path("replica")
        #expect(try await strongroom("replicate", database, replica, "--once").status == 0)
        try await shell(database).run("DELETE FROM book;")
        let outcome = try await strongroom("restore", replica, database, "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try await title(database) == "1")
        let former = try #require(try outcome.object["former"] as? String)
        #expect(try await shell(former).run("SELECT count(*) FROM book;") == "0")
        #expect(try scratch.names().allSatisfy { !$0.hasPrefix(".") && !$0.hasSuffix("-replacing") })
    }

    @Test("leaves everything as it was when the disk is full", .enabled(if: SmallDisk.isAvailable))
    func fullDisk() async throws {
        try await shell(database).run("CREATE TABLE large(a); INSERT INTO large VALUES (randomblob(60000));")
        let program = try Program(built: "strongroom").executable.path, disk = scratch.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        let outcome = try await SmallDisk.run(
            size: "64k", on: disk,
            """
            cp '\(backup)' '\(disk)/db'; '\(program)' restore '\(database)' '\(disk)/db' --no-check; \
            echo "status $?"; cmp '\(backup)' '\(disk)/db' && ls -A '\(disk)'
            """)
        #expect(outcome.output == "status 14\ndb\n", "\(outcome.output)\(outcome.errors)")
    }

    @Test(
        "of a replica that was killed leaves nothing after the next one",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/strace"), "strace is not installed"))
    func killed() async throws {
        let replica = scratch.path("replica"), out = scratch.path("restored.db")
        let executable = try Program(built: "strongroom").executable.path
        #expect(try await strongroom("replicate", database, replica, "--once").status == 0)
        let before = try scratch.names()
        _ = try await Program(
            "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=ftruncate", "-e",
            "inject=ftruncate:signal=SIGKILL:when=1", executable, "restore", replica, out
        ).run()
        let left = try scratch.names().filter { $0.hasPrefix(".strongroom-partial-") }
        #expect(left.count == 1)
        #expect(try await strongroom("restore", replica, out).status == 0)
        #expect(try scratch.names().filter { !$0.hasPrefix("restored.db") } == before)
    }
}

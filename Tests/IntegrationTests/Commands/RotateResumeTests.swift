import Foundation
import TestSupport
import Testing

@Suite("strongroom rotate after an interruption, and beside other programs")
struct RotateResumeTests {
    let fixture: RotationFixture
    var scratch: TemporaryFolder { fixture.scratch }
    var database: String { fixture.database }

    init() async throws { fixture = try await RotationFixture() }

    @Test("A rotation that was killed early is undone and done again")
    func killedEarly() async throws {
        try await fixture.fill(database, bytes: 60_000_000)
        #expect(try await fixture.rotating(until: 5).end(by: SIGKILL).status == SIGKILL)
        #expect(try await fixture.isPending() == true)

        let outcome = try await fixture.rotate()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("was undone; now it is rotated and checked"))
        try await fixture.expectRows("new")
    }

    @Test(
        "A rotation that is killed while others write and read leaves one passphrase and every acknowledged row",
        arguments: [5, 50, 95])
    func killedBesideOthers(percentage: Int) async throws {
        let shell = fixture.shell()
        try await fixture.fill(database, bytes: 60_000_000)
        try await shell.run("CREATE TABLE acknowledged (a);")
        let reader = try await fixture.reader()
        let insertion = "INSERT INTO acknowledged VALUES (1); SELECT 'wrote';\n"
        let writer = try await shell.holding("PRAGMA busy_timeout = 60000;\n" + insertion)
        let running = try await fixture.rotating(until: percentage)
        // It waits for the rotation, whose end it sees as a lock that is free again.
        writer.write(insertion)
        reader.write("SELECT 'books ' || count(*) FROM book;\n")
        try await reader.waitForOutput("books 300")
        _ = await running.end(by: SIGKILL)
        let written = await writer.finish().output.components(separatedBy: "wrote").count - 1
        #expect(await reader.finish().status == 0)

        let survivor = try await fixture.survivor()
        let check = try await strongroom("check", database, "--raw-key-file", scratch.path(survivor + ".key"))
        #expect(check.status == 0, "\(check.output)\(check.errors)")
        // Under the new passphrase, what the writer had open was refused.
        #expect(written == (survivor == "old" ? 2 : 1))
        #expect(try await fixture.shell(RawKey(survivor)).run("SELECT count(*) FROM acknowledged;") == "\(written)")
        try await fixture.expectRows(RawKey(survivor))
    }

    @Test("A rotation that another one overtakes after the check counts as done, or names the wrong key")
    func overtaken() async throws {
        let pipe = scratch.path("pipe")
        for other in [RawKey("new"), RawKey("third")] {
            try #require(mkfifo(pipe, 0o600) == 0)
            // It has checked the old key when it opens the pipe.
            let old = try scratch.rawKey("old", in: "old.key")
            let running = try Program(
                built: "strongroom", "rotate", database, "--raw-key-file", old, "--new-raw-key-file", pipe
            ).start()
            let writer = try await running.writing(to: pipe)
            let new = try scratch.rawKey(other, in: "other.key")
            let first = try await strongroom(
                "rotate", database, "--raw-key-file", old, "--new-raw-key-file", new)
            #expect(first.status == 0, "\(first.errors)")
            writer.write(Data(RawKey("new").digits.utf8))
            try writer.close()
            let second = await running.outcome()
            #expect(second.status == (other.digits == RawKey("new").digits ? 0 : 12), "\(second.errors)")
            try await fixture.expectRows(other)
            try FileManager.default.removeItem(atPath: pipe)
            let back = try await strongroom(
                "rotate", database, "--raw-key-file", new, "--new-raw-key-file", old)
            #expect(back.status == 0, "\(back.errors)")
        }
    }

    @Test("A rotation that left its last part to others is finished")
    func finished() async throws {
        let reader = try await fixture.reader()
        let first = try await fixture.rotate(nil, "--json")
        #expect(first.status == 15, "\(first.errors)")
        #expect(try first.object["outcome"] as? String == "rotated")
        #expect(try first.object["status"] as? Int == 15)
        #expect(try first.object["former_key_remains"] as? Bool == true)
        #expect(try await fixture.isPending() == true)
        let second = try await fixture.rotate()
        #expect(second.status == 15, "\(second.errors)")
        #expect(second.errors.contains("another program still reads pages of the old one"))
        await reader.finish()

        let outcome = try await fixture.rotate(nil, "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.object["outcome"] as? String == "finished")
        #expect(try outcome.object["former_key_remains"] as? Bool == false)
        #expect(try await fixture.isPending() == false)
        try await fixture.expectRows("new")
    }

    @Test("With --wait, waits until no program reads pages of the old passphrase")
    func waits() async throws {
        let reader = try await fixture.reader()
        // All pages are written and checked by then.
        let running = try await fixture.rotating(until: 100, "--wait")
        #expect(running.process.isRunning)
        await reader.finish()
        let outcome = await running.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("Only the new key opens it."))
        #expect(try await fixture.isPending() == false)
    }

    @Test("That still waits and is interrupted says that the former key remains")
    func interruptedWait() async throws {
        let reader = try await fixture.reader()
        let outcome = try await fixture.rotating(until: 100, "--wait").end(by: SIGINT)
        #expect(outcome.status == 15, "\(outcome.errors)")
        await reader.finish()
        #expect(try await fixture.survivor() == "new")
    }

    @Test("A database with a second name is refused, before and in the work")
    func hardLink() async throws {
        try FileManager.default.linkItem(atPath: database, toPath: scratch.path("other.sqlite"))
        let before = try scratch.bytes("encrypted.sqlite")
        for outcome in [try await fixture.rotate(), try await fixture.rotate(nil, "--dry-run")] {
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("2 names (hard links)"))
        }
        #expect(try scratch.bytes("encrypted.sqlite") == before)
        try FileManager.default.removeItem(atPath: scratch.path("other.sqlite"))
        #expect(try await fixture.rotate().status == 0)
    }

    @Test(
        "Names the other programs that have the database open, and that must open it again",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
    func openElsewhere() async throws {
        try await fixture.shell().run("PRAGMA journal_mode = wal;")
        let idle = try await fixture.shell().holding("SELECT count(*) FROM book;")
        let plan = try await fixture.rotate(nil, "--dry-run", "--json")
        let outcome = try await fixture.rotate()
        await idle.finish()
        let processes = try #require(try plan.object["processes"] as? [[String: Any]])
        #expect(processes.map { $0["name"] as? String } == ["sqlcipher"])
        #expect(processes.map { $0["process"] as? Int } == [Int(idle.process.processIdentifier)])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let holder = "sqlcipher (process \(idle.process.processIdentifier))"
        #expect(outcome.errors.contains("warning: \(database): it is open in \(holder) too"))
    }

    @Test("Stops at SIGTERM as at Ctrl-C, and says which passphrase holds")
    func terminated() async throws {
        try await fixture.fill(database, bytes: 60_000_000)
        let outcome = try await fixture.rotating(until: 5).end(by: SIGTERM)
        #expect(outcome.status == 130, "\(outcome.errors)")
        #expect(outcome.errors.contains("The old key opens it"))
        try await fixture.expectRows("old")
    }

    @Test("--dry-run reports needed and available space, and an estimate of the time")
    func dryRun() async throws {
        let before = try scratch.bytes("encrypted.sqlite")
        let plan = try await fixture.rotate(nil, "--dry-run", "--json").object
        #expect(plan["outcome"] as? String == "planned")
        #expect(plan["bytes"] as? Int == before.count)
        #expect(try #require(plan["needed_bytes"] as? Int) > before.count)
        #expect(try #require(plan["available_bytes"] as? Int) > 0)
        #expect(try #require(plan["seconds"] as? Double) > 0)
        #expect(try scratch.bytes("encrypted.sqlite") == before)
    }

    @Test("--progress json writes an object a line, up to 100 percent")
    func progress() async throws {
        let outcome = try await fixture.rotate(nil, "--progress", "json", "--quiet")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = try outcome.errors.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(lines.allSatisfy { $0["event"] as? String == "progress" && $0["file"] as? String == database })
        let percents = lines.compactMap { $0["percent"] as? Int }
        #expect(percents == percents.sorted())
        #expect(percents.last == 100)
        let last = try #require(lines.last)
        #expect(last["completed_pages"] as? Int == last["total_pages"] as? Int)
    }

    @Test("Shows no bar where standard error is no terminal")
    func noBar() async throws {
        let outcome = try await fixture.rotate()
        #expect(outcome.errors == "\(database): rotated and checked. Only the new key opens it.\n")
    }
}

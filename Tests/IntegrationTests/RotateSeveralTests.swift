import Foundation
import Testing

@Suite("strongroom rotate with several files")
struct RotateSeveralTests {
    let scratch: Scratch
    let databases: [String]
    let keys: [String]

    init() async throws {
        scratch = try Scratch()
        var databases: [String] = []
        for name in ["a.db", "b.db", "c.db"] { databases.append(try await scratch.encryptedDatabase(name, passphrase: "old")) }
        self.databases = databases
        keys = ["--passphrase-file", try scratch.secret("old", in: "old.key"), "--new-passphrase-file", try scratch.secret("new", in: "new.key")]
    }

    func rotate(_ files: [String], _ more: String...) async throws -> Outcome {
        try await strongroom(["rotate"] + files + keys + more)
    }

    func answer(_ database: String, _ passphrase: String) async throws -> String {
        try await StockShell(path: database, passphrase: passphrase).attempt(Scratch.sampleQuery).output
    }

    @Test("gives all of them the new passphrase, one at a time or several", arguments: ["1", "3"])
    func all(_ jobs: String) async throws {
        let outcome = try await rotate(databases, "--jobs", jobs)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("3 databases: 3 with the new passphrase, 0 failed."))
        for database in databases { #expect(try await answer(database, "new") == Scratch.sampleAnswer + "\n") }
    }

    @Test("takes a file once that is named twice")
    func duplicates() async throws {
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link.db"), withDestinationPath: databases[0])
        let outcome = try await rotate([databases[0], scratch.path("link.db"), databases[0]], "--jobs", "3", "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.object["file"] as? String == databases[0])
    }

    @Test("goes on after a failure, and ends with its number when all failures are alike")
    func oneFails() async throws {
        let odd = try await scratch.encryptedDatabase("odd.db", passphrase: "another")
        let outcome = try await rotate([odd] + databases, "--json")
        #expect(outcome.status == 12)
        let object = try outcome.object
        #expect(object["status"] as? Int == 12)
        #expect(object["done"] as? Int == 3)
        #expect(object["failed"] as? Int == 1)
        let files = try #require(object["files"] as? [[String: Any]])
        #expect(files.map { $0["file"] as? String } == [odd] + databases)
        #expect(files.map { $0["outcome"] as? String } == ["failed", "rotated", "rotated", "rotated"])
        #expect(files.map { $0["status"] as? Int } == [12, 0, 0, 0])
        #expect(files[0]["error"] is String && files[0]["remedy"] is String)
        #expect(try await answer(odd, "another") == Scratch.sampleAnswer + "\n")
    }

    @Test("ends with 1 when the failures differ, and tells each")
    func failuresDiffer() async throws {
        let odd = try await scratch.encryptedDatabase("odd.db", passphrase: "another")
        let outcome = try await rotate(databases + [odd, scratch.path("nowhere.db")])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("strongroom: \(odd): "))
        #expect(outcome.errors.contains("strongroom: \(scratch.path("nowhere.db")): there is no such file"))
        #expect(outcome.errors.contains("5 databases: 3 with the new passphrase, 2 failed."))
    }

    @Test("says nothing of what went well with --quiet")
    func quiet() async throws {
        let outcome = try await rotate(databases, "--quiet")
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty && outcome.output.isEmpty)
    }

    @Test("once more with the same keys finds that all is done")
    func again() async throws {
        #expect(try await rotate([databases[0]]).status == 0)
        let outcome = try await rotate(databases, "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let files = try #require(try outcome.object["files"] as? [[String: Any]])
        #expect(files.map { $0["outcome"] as? String } == ["already", "rotated", "rotated"])
        #expect(try await answer(databases[0], "new") == Scratch.sampleAnswer + "\n")
    }

    @Test("plans all of them with --dry-run and changes none")
    func dryRun() async throws {
        let before = try ["a.db", "b.db", "c.db"].map(scratch.bytes)
        let outcome = try await rotate(databases, "--dry-run", "--jobs", "2")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("3 can be rotated, 0 failed; about "))
        #expect(try ["a.db", "b.db", "c.db"].map(scratch.bytes) == before)
        #expect(try scratch.names() == ["a.db", "b.db", "c.db", "new.key", "old.key"])
    }

    @Test("stops at an interruption: what was not begun is skipped, and the same command ends the work")
    func interrupted() async throws {
        for database in databases.prefix(2) {
            try await StockShell(path: database, passphrase: "old").run("CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(40000000));")
        }
        var program = try Program(built: "strongroom", "rotate")
        program.arguments += databases + keys + ["--progress", "json", "--json"]
        let running = try program.start()
        try await running.waitForErrors("\"percent\":5")
        kill(running.process.processIdentifier, SIGINT)
        let outcome = await running.outcome()
        #expect(outcome.status == 130, "\(outcome.errors)")
        let files = try #require(try outcome.object["files"] as? [[String: Any]])
        #expect(files.map { $0["outcome"] as? String } == ["failed", "skipped", "skipped"])
        #expect((files[0]["remedy"] as? String)?.contains("The old passphrase opens it") == true)
        for database in databases { #expect(try await answer(database, "old") == Scratch.sampleAnswer + "\n") }
        #expect(try await rotate(databases, "--jobs", "3").status == 0)
        for database in databases { #expect(try await answer(database, "new") == Scratch.sampleAnswer + "\n") }
    }

    @Test("--jobs and --salt-file are checked before anything is read", arguments: [["--jobs", "0"], ["--jobs", "many"], ["--salt-file", "salt"]])
    func usage(_ options: [String]) async throws {
        #expect(try await strongroom(["rotate"] + databases + keys + options).status == 2)
    }
}

@Suite("strongroom rotate after an interruption, and beside other programs")
struct RotateResumeTests {
    let scratch: Scratch
    let database: String
    let keys: [String]

    init() async throws {
        scratch = try Scratch()
        database = try await scratch.encryptedDatabase(passphrase: "old")
        keys = ["--passphrase-file", try scratch.secret("old", in: "old.key"), "--new-passphrase-file", try scratch.secret("new", in: "new.key")]
    }

    func rotate(_ more: String...) async throws -> Outcome {
        try await strongroom(["rotate", database] + keys + more)
    }

    @Test("a rotation that was killed early is undone and done again")
    func killedEarly() async throws {
        try await StockShell(path: database, passphrase: "old").run("CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(60000000));")
        var program = try Program(built: "strongroom", "rotate", database, "--progress", "json")
        program.arguments += keys
        let running = try program.start()
        try await running.waitForErrors("\"percent\":5")
        kill(running.process.processIdentifier, SIGKILL)
        #expect(await running.outcome().status == SIGKILL)
        let info = try await strongroom("info", database, "--json")
        #expect(try info.object["isRotationPending"] as? Bool == true)

        let outcome = try await rotate()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("was undone; now it is rotated and checked"))
        #expect(try await StockShell(path: database, passphrase: "new").run(Scratch.sampleQuery) == Scratch.sampleAnswer)
    }

    @Test("a rotation that is killed while others write and read leaves one passphrase and every acknowledged row", arguments: [5, 50, 95])
    func killedBesideOthers(percentage: Int) async throws {
        let shell = StockShell(path: database, passphrase: "old")
        try await shell.run("""
            PRAGMA journal_mode = wal; CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(60000000)); CREATE TABLE acknowledged (a);
            """)
        let insertion = "INSERT INTO acknowledged VALUES (1); SELECT 'wrote';\n"
        let writer = try await shell.holding("PRAGMA busy_timeout = 60000;\n" + insertion)
        let reader = try await shell.holding("BEGIN; SELECT count(*) FROM book;")
        var program = try Program(built: "strongroom", "rotate", database, "--progress", "json")
        program.arguments += keys
        let running = try program.start()
        try await running.waitForErrors("\"percent\":\(percentage)")
        // It waits for the rotation, whose end it sees as a lock that is free again.
        writer.write(insertion)
        reader.write("SELECT 'books ' || count(*) FROM book;\n")
        try await reader.waitForOutput("books 300")
        kill(running.process.processIdentifier, SIGKILL)
        _ = await running.outcome()
        writer.endInput()
        let written = await writer.outcome().output.components(separatedBy: "wrote").count - 1
        reader.endInput()
        #expect(await reader.outcome().status == 0)

        var survivors: [String] = []
        for name in ["old", "new"] where try await strongroom("verify-key", database, "--passphrase-file", scratch.path(name + ".key")).status == 0 {
            survivors.append(name)
        }
        try #require(survivors.count == 1, "\(survivors)")
        let check = try await strongroom("check", database, "--passphrase-file", scratch.path(survivors[0] + ".key"))
        #expect(check.status == 0, "\(check.output)\(check.errors)")
        // Under the new passphrase, what the writer had open was refused.
        #expect(written == (survivors == ["old"] ? 2 : 1))
        let answer = try await StockShell(path: database, passphrase: survivors[0]).run(
            "SELECT count(*) FROM acknowledged; " + Scratch.sampleQuery)
        #expect(answer == "\(written)\n" + Scratch.sampleAnswer)
    }

    @Test("a rotation that left its last part to others is finished")
    func finished() async throws {
        let shell = StockShell(path: database, passphrase: "old")
        try await shell.run("PRAGMA journal_mode = wal;")
        // Its old snapshot keeps the new pages in the log.
        let reader = try await shell.holding("BEGIN; SELECT count(*) FROM book;")
        let first = try await rotate("--json")
        #expect(first.status == 15, "\(first.errors)")
        #expect(try first.object["outcome"] as? String == "rotated")
        #expect(try first.object["status"] as? Int == 15)
        #expect(try first.object["formerKeyRemains"] as? Bool == true)
        #expect(try await strongroom("info", database, "--json").object["isRotationPending"] as? Bool == true)
        let second = try await rotate()
        #expect(second.status == 15, "\(second.errors)")
        #expect(second.errors.contains("another program still reads pages of the old one"))
        reader.endInput()
        _ = await reader.outcome()

        let outcome = try await rotate("--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.object["outcome"] as? String == "finished")
        #expect(try outcome.object["formerKeyRemains"] as? Bool == false)
        #expect(try await strongroom("info", database, "--json").object["isRotationPending"] as? Bool == false)
        #expect(try await StockShell(path: database, passphrase: "new").run(Scratch.sampleQuery) == Scratch.sampleAnswer)
    }

    @Test("with --wait stays until nobody reads pages of the old passphrase, and says that only the new one opens it")
    func waits() async throws {
        let shell = StockShell(path: database, passphrase: "old")
        try await shell.run("PRAGMA journal_mode = wal;")
        let reader = try await shell.holding("BEGIN; SELECT count(*) FROM book;")
        var program = try Program(built: "strongroom", "rotate", database, "--wait", "--progress", "json")
        program.arguments += keys
        let running = try program.start()
        // All pages are written and checked by then.
        try await running.waitForErrors("\"percent\":100")
        #expect(running.process.isRunning)
        reader.endInput()
        _ = await reader.outcome()
        let outcome = await running.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("Only the new passphrase opens it."))
        #expect(try await strongroom("info", database, "--json").object["isRotationPending"] as? Bool == false)
    }

    @Test("that still waits and is interrupted says that the former key remains")
    func interruptedWait() async throws {
        let shell = StockShell(path: database, passphrase: "old")
        try await shell.run("PRAGMA journal_mode = wal;")
        let reader = try await shell.holding("BEGIN; SELECT count(*) FROM book;")
        var program = try Program(built: "strongroom", "rotate", database, "--wait", "--progress", "json")
        program.arguments += keys
        let running = try program.start()
        try await running.waitForErrors("\"percent\":100")
        kill(running.process.processIdentifier, SIGINT)
        let outcome = await running.outcome()
        #expect(outcome.status == 15, "\(outcome.errors)")
        reader.endInput()
        _ = await reader.outcome()
        #expect(try await strongroom("verify-key", database, "--passphrase-file", scratch.path("new.key")).status == 0)
    }

    @Test("a database with a second name is refused, before and in the work")
    func hardLink() async throws {
        try FileManager.default.linkItem(atPath: database, toPath: scratch.path("other.sqlite"))
        let before = try scratch.bytes("encrypted.sqlite")
        for outcome in [try await rotate(), try await rotate("--dry-run")] {
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("2 names (hard links)"))
        }
        #expect(try scratch.bytes("encrypted.sqlite") == before)
        try FileManager.default.removeItem(atPath: scratch.path("other.sqlite"))
        #expect(try await rotate().status == 0)
    }

    @Test("a header that shows pages of zero bytes is damage of its own, and the other files are rotated")
    func zeroPageSize() async throws {
        let damaged = try await scratch.encryptedDatabase("damaged.sqlite", passphrase: "old")
        let secret = ["--passphrase-file", scratch.path("old.key")]
        #expect(try await strongroom(["migrate", damaged, scratch.path("header.sqlite"), "--plaintext-header", "on"] + secret).status == 0)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.path("header.sqlite")))
        try file.seek(toOffset: 16)
        try file.write(contentsOf: [0, 0])
        try file.close()
        let outcome = try await strongroom(["rotate", scratch.path("header.sqlite"), database, "--json"] + keys)
        let files = try #require(try outcome.object["files"] as? [[String: Any]])
        #expect(files.map { $0["outcome"] as? String } == ["failed", "rotated"])
        #expect(files[0]["status"] as? Int == 13)
        #expect(try await StockShell(path: database, passphrase: "new").run(Scratch.sampleQuery) == Scratch.sampleAnswer)
    }

    @Test("names the other programs that have the database open, and that must open it anew",
          .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
    func openElsewhere() async throws {
        let shell = StockShell(path: database, passphrase: "old")
        try await shell.run("PRAGMA journal_mode = wal;")
        let idle = try await shell.holding("SELECT count(*) FROM book;")
        let plan = try await rotate("--dry-run", "--json")
        let outcome = try await rotate()
        idle.endInput()
        _ = await idle.outcome()
        let processes = try #require(try plan.object["processes"] as? [[String: Any]])
        #expect(processes.map { $0["name"] as? String } == ["sqlcipher"])
        #expect(processes.map { $0["process"] as? Int } == [Int(idle.process.processIdentifier)])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("warning: \(database): it is open in sqlcipher (process \(idle.process.processIdentifier)) too"))
    }

    @Test("stops at SIGTERM as at Ctrl-C, and says which passphrase holds")
    func terminated() async throws {
        try await StockShell(path: database, passphrase: "old").run("CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(60000000));")
        var program = try Program(built: "strongroom", "rotate", database, "--progress", "json")
        program.arguments += keys
        let running = try program.start()
        try await running.waitForErrors("\"percent\":5")
        kill(running.process.processIdentifier, SIGTERM)
        let outcome = await running.outcome()
        #expect(outcome.status == 130, "\(outcome.errors)")
        #expect(outcome.errors.contains("The old passphrase opens it"))
        #expect(try await StockShell(path: database, passphrase: "old").run(Scratch.sampleQuery) == Scratch.sampleAnswer)
    }

    @Test("--dry-run says what is needed, what there is, and how long it may take")
    func dryRun() async throws {
        let before = try scratch.bytes("encrypted.sqlite")
        let plan = try await rotate("--dry-run", "--json").object
        #expect(plan["outcome"] as? String == "planned")
        #expect(plan["bytes"] as? Int == before.count)
        #expect(try #require(plan["neededBytes"] as? Int) > before.count)
        #expect(try #require(plan["availableBytes"] as? Int) > 0)
        #expect(try #require(plan["seconds"] as? Double) > 0)
        #expect(try scratch.bytes("encrypted.sqlite") == before)
    }

    @Test("--progress json writes an object a line, up to 100 percent")
    func progress() async throws {
        let outcome = try await rotate("--progress", "json", "--quiet")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = try outcome.errors.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(lines.allSatisfy { $0["event"] as? String == "progress" && $0["file"] as? String == database })
        let percents = lines.compactMap { $0["percent"] as? Int }
        #expect(percents == percents.sorted())
        #expect(percents.last == 100)
        let last = try #require(lines.last)
        #expect(last["completedPages"] as? Int == last["totalPages"] as? Int)
    }

    @Test("shows no bar where standard error is no terminal")
    func noBar() async throws {
        let outcome = try await rotate()
        #expect(outcome.errors == "\(database): rotated and checked. Only the new passphrase opens it.\n")
    }
}

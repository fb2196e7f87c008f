import Foundation
import TestSupport
import Testing

@Suite("strongroom shell, vacuum and query with values")
struct ShellCommandTests {
    let scratch: TemporaryFolder
    let database: String
    let key: [String]

    init() async throws {
        (scratch, database, key) = try await TemporaryFolder.withDatabase()
    }

    func shell(_ lines: String, _ more: String...) async throws -> Outcome {
        try await strongroom(["shell", database] + key + more, input: lines)
    }

    func query(_ arguments: String...) async throws -> Outcome {
        try await strongroom(["query", database] + arguments + key)
    }

    @Test("strongroom shell runs statements over several lines, and lines with a dot")
    func statements() async throws {
        let outcome = try await shell(".mode csv\nSELECT count(*) AS n\n  FROM book;\n.tables\nSELECT 1; SELECT 2;\n")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output == "n\n300\nauthor\nbook\n1\n1\n2\n2\n")
    }

    @Test("strongroom shell shows the schema, of all or of one table")
    func schema() async throws {
        let all = try await shell(".schema\n").output, one = try await shell(".schema AUTHOR\n").output
        #expect(one == "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\n")
        #expect(all.contains(one) && all.contains("CREATE TABLE book"))
    }

    @Test("strongroom shell writes nothing without --write, and takes effect with it")
    func writing() async throws {
        let before = try scratch.snapshot()
        let refused = try await shell("DELETE FROM book;\n")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("Give --write"))
        #expect(try scratch.snapshot() == before)
        let outcome = try await shell(
            "BEGIN;\nDELETE FROM book WHERE id > 10;\nCOMMIT;\nSELECT count(*) AS n FROM book;\n", "--write")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("10"))
    }

    @Test("A dump recreates the same database, with blobs, counters and full-text tables")
    func dump() async throws {
        try await StockShell(path: database, rawKey: "right").run(
            """
            CREATE TABLE odd ("a b" TEXT, c BLOB, d REAL);
            INSERT INTO odd VALUES ('it''s' || char(10) || 'two lines', x'00ff', 0.1), (NULL, NULL, 1e300);
            CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO counted VALUES (7); \
            DELETE FROM counted;
            CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES ('one'), ('two');
            CREATE INDEX byTitle ON book(title); CREATE VIEW v AS SELECT 1;
            CREATE TRIGGER t AFTER DELETE ON odd BEGIN DELETE FROM counted; END;
            """)
        let outcome = try await shell(".dump\n")
        #expect(outcome.status == 0, "\(outcome.errors)")
        try scratch.write(Data(outcome.output.utf8), to: "dump.sql")
        let copy = StockShell(path: scratch.path("copy.db"))
        try await copy.run(".dbconfig defensive off\n.output stdout\n.read '\(scratch.path("dump.sql"))'")
        let questions =
            TemporaryFolder.sampleQuery + """
                SELECT group_concat(quote("a b") || quote(c) || quote(d)) FROM odd; SELECT seq FROM sqlite_sequence;
                SELECT count(*) FROM words WHERE words MATCH 'two'; SELECT count(*) FROM sqlite_master; \
                PRAGMA integrity_check;
                """
        #expect(try await copy.run(questions) == StockShell(path: database, rawKey: "right").run(questions))
    }

    @Test("strongroom shell lines with a dot take part in a transaction")
    func dotsInTransaction() async throws {
        try scratch.write(Data("a\n1\n".utf8), to: "rows.csv")
        let dots = ".import \(scratch.path("rows.csv")) fresh\n.schema fresh\n.tables\n.dump fresh\n"
        let lines = "BEGIN;\n\(dots)ROLLBACK;\n.tables\n"
        let outcome = try await shell(lines, "--write")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let schema = "CREATE TABLE \"fresh\" (\"a\");\n"
        #expect(outcome.output.hasPrefix("1 row imported\n\(schema)author\nbook\nfresh\nPRAGMA"))
        #expect(outcome.output.hasSuffix("COMMIT;\nauthor\nbook\n"))
    }

    @Test("A transaction that is open at the end is undone, and said to be", arguments: ["", ".quit\n"])
    func openTransaction(_ end: String) async throws {
        let outcome = try await shell("DELETE FROM book WHERE id = 1;\nBEGIN;\nDELETE FROM book;\n" + end, "--write")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("the last transaction was not committed, and is undone"))
        #expect(try await shell(".mode csv\nSELECT count(*) AS n FROM book;\n").output == "n\n299\n")
    }

    @Test("An error in the middle reports the fate of the lines before it")
    func errorInTheMiddle() async throws {
        let outcome = try await shell("DELETE FROM book WHERE id = 1;\nselec;\n", "--write")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("What was committed before stays"))
        #expect(try await shell(".mode csv\nSELECT count(*) AS n FROM book;\n").output == "n\n299\n")
    }

    @Test("A byte order mark is no part of the first column's name")
    func spreadsheet() async throws {
        try scratch.write([0xEF, 0xBB, 0xBF] + Data("id,name\r\n1,A\r\n".utf8), to: "sheet.csv")
        let outcome = try await shell(".import \(scratch.path("sheet.csv")) sheet\n.schema sheet\n", "--write")
        #expect(outcome.output == "1 row imported\nCREATE TABLE \"sheet\" (\"id\", \"name\");\n", "\(outcome.errors)")
    }

    @Test("An import leaves out the lines that --skip counts")
    func skipping() async throws {
        try scratch.write(Data("a report\n\na,b\n1,2\n".utf8), to: "report.csv")
        let outcome = try await shell(
            ".import --skip 2 \(scratch.path("report.csv")) r\n.mode csv\nSELECT * FROM r;\n", "--write")
        #expect(outcome.output == "1 row imported\na,b\n1,2\n", "\(outcome.errors)")
    }

    @Test("A quote that does not end is an error with its line, and imports nothing")
    func unterminated() async throws {
        try scratch.write(Data("a,b\n1,2\n\n3,\"four\n5,6\n".utf8), to: "open.csv")
        let outcome = try await shell(".import \(scratch.path("open.csv")) t\n", "--write")
        #expect(outcome.status == 1)
        let words = "\(scratch.path("open.csv")): line 4 begins a quoted value that does not end; no row was imported"
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
        #expect(try await shell(".tables\n").output == "author\nbook\n")
    }

    @Test("An error of SQLite during an import has the file and the line")
    func importError() async throws {
        try scratch.write(Data("1,A\nx,B\n".utf8), to: "rows.csv")
        let lines =
            "CREATE TABLE t (id INTEGER PRIMARY KEY, name);\n.import \(scratch.path("rows.csv")) t\n"
        let outcome = try await shell(lines, "--write")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("\(scratch.path("rows.csv")): line 2: "), "\(outcome.errors)")
        #expect(outcome.errors.contains("no row was imported"))
    }

    @Test("strongroom shell has indexes, patterns of tables, headers, JSON, and the time of statements")
    func moreDots() async throws {
        try await StockShell(path: database, rawKey: "right").run("CREATE INDEX byTitle ON book(title);")
        let dots = ".indexes\n.indexes BOOK\n.indexes author\n.tables b%\n.mode csv\n.headers off\nSELECT 1 AS n;\n"
        let outcome = try await shell(dots + ".mode json\nSELECT 1 AS a UNION SELECT 2;\nSELECT 1 AS a WHERE 0;\n")
        #expect(outcome.output == "byTitle\nbyTitle\nbook\n1\n[{\"a\":1},\n{\"a\":2}]\n[]\n", "\(outcome.errors)")
        let timed = try await shell(".timer on\nSELECT 1;\n")
        #expect(timed.errors.contains(/^[0-9.]+ s\n$/), "\(timed.errors)")
        for line in [".headers maybe", ".mode html", ".tables a b", ".import --skip x f t"] {
            #expect(try await shell(line + "\n").status == 2)
        }
    }

    @Test("strongroom shell reads statements from files, and names the file and the line of an error")
    func reading() async throws {
        try scratch.write(Data("SELECT 1 AS n;\n.tables\n".utf8), to: "good.sql")
        try scratch.write(Data("SELECT 1 AS n;\n\nSELEC;\nSELECT 2 AS n;\n".utf8), to: "bad.sql")
        let good = try await shell(".mode csv\n.read \(scratch.path("good.sql"))\nSELECT 3 AS n;\n")
        #expect(good.output == "n\n1\nauthor\nbook\nn\n3\n", "\(good.errors)")
        let bad = try await shell(".mode csv\n.read \(scratch.path("bad.sql"))\n")
        #expect(bad.status == 1 && bad.output == "n\n1\n")
        #expect(bad.errors.contains("\(scratch.path("bad.sql")), line 3: "), "\(bad.errors)")
        #expect(try await shell(".read \(scratch.path("nowhere.sql"))\n").status == 10)
        try scratch.write(Data(".read \(scratch.path("circle.sql"))\n".utf8), to: "circle.sql")
        #expect(try await shell(".read \(scratch.path("circle.sql"))\n").errors.contains("in a circle"))
    }

    @Test("strongroom shell makes a backup that opens with the same key", arguments: [[], ["--write"]])
    func backup(_ more: [String]) async throws {
        let copy = scratch.path("copy\(more.count).db")
        let outcome = try await strongroom(["shell", database] + key + more, input: ".backup \(copy)\nSELECT 1;\n")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try await strongroom(["check", copy] + key).status == 0)
        #expect(try await shell(".backup \(copy)\n").errors.contains("exists already"))
        guard !more.isEmpty else { return }
        let inside = try await shell("BEGIN;\n.backup \(scratch.path("other.db"))\n", "--write")
        #expect(inside.errors.contains("a transaction is open"))
    }

    @Test("BEGIN without --write is refused with its reason")
    func transactionOfReads() async throws {
        let outcome = try await shell("BEGIN;\nSELECT 1;\nCOMMIT;\n")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("BEGIN is refused without --write"))
    }

    @Test("A file that can't be imported is named with its kind")
    func notImported() async throws {
        let absent = try await shell(".import \(scratch.path("nowhere")) t\n", "--write")
        #expect(absent.status == 10)
        let folder = try await shell(".import \(scratch.path) t\n", "--write")
        #expect(folder.status == 1 && folder.errors.contains("it cannot be read"), "\(folder.errors)")
    }

    @Test("A value may be named as its parameter is written", arguments: ["1=x", "?1=x"])
    func numbered(_ binding: String) async throws {
        let outcome = try await query("SELECT ?1 AS a", "--bind", binding, "--output", "csv")
        #expect(outcome.output == "a\nx\n", "\(outcome.errors)")
    }

    @Test("strongroom shell imports a CSV file into a new table and into one that is there, all rows or none")
    func importing() async throws {
        try scratch.write(Data("name,note\nA,\"one, \"\"two\"\"\nthree\"\nB,\n".utf8), to: "new.csv")
        try scratch.write(Data("C,c\nD\n".utf8), to: "bad.csv")
        let new = scratch.path("new.csv"), bad = scratch.path("bad.csv")
        #expect(try await shell(".import \(new) fresh\n").status == 1)
        let outcome = try await shell(".import \(new) fresh\n.mode jsonl\nSELECT * FROM fresh;\n", "--write")
        #expect(
            outcome.output
                == """
                2 rows imported\n{"name":"A","note":"one, \
                \\\"two\\\"\\nthree\"}\n{\"name\":\"B\",\"note\":\"\"}\n
                """
        )
        let refused = try await shell(".import \(bad) fresh\n", "--write")
        #expect(refused.status == 1)
        #expect(
            refused.errors.contains("\(bad): line 2 has 1 value for 2 columns; no row was imported"),
            "\(refused.errors)")
        #expect(try await query("SELECT count(*) AS n FROM fresh", "--output", "csv").output == "n\n2\n")
    }

    @Test(
        "strongroom shell ends at the first error without a terminal, and goes on with one",

        .enabled(if: PseudoTerminal.isAvailable))
    func errors() async throws {
        let outcome = try await shell("SELECT nothing;\nSELECT 1;\n")
        #expect(outcome.status == 1)
        #expect(outcome.output.isEmpty)
        let terminal = try PseudoTerminal()
        var program = try Program(built: "strongroom", "shell", database)
        program.arguments += key
        let running = try terminal.start(program)
        try terminal.expect("read-only; --write lets SQL change it")
        try terminal.expect("strongroom> ")
        try terminal.enter("SELECT nonsense;\n")
        try terminal.expect("no such column: nonsense")
        try terminal.expect("strongroom> ")
        try terminal.enter("SELECT\n")
        try terminal.expect("...> ")
        try terminal.enter("count(*) AS books FROM book;\n")
        try terminal.expect("300")
        try terminal.enter(".nosuch\n")
        try terminal.expect(".help lists what there is")
        try terminal.enter("\u{4}")
        #expect(await running.outcome().status == 0, "\(terminal.transcript())")
    }

    @Test(
        "strongroom shell values go to named parameters and to numbered ones",
        arguments: [
            ("SELECT :a AS v", ["--bind", "a=it's"], "it's"),
            ("SELECT hex(:a) AS v", ["--bind", "a=\u{301}"], "CC81"),
            ("SELECT ? || ? AS v", ["--bind", "1=x", "--bind", "2=y"], "xy"),
            ("SELECT typeof(@n) AS v", ["--bind", "@n=7"], "integer"),
            ("SELECT typeof($n) AS v", ["--bind", "n=007"], "text"),
            ("SELECT typeof(:a) || :a AS v", ["--bind", "a=nan"], "textnan"),
            ("SELECT typeof(:a) || :a AS v", ["--bind", "a=-inf"], "text-inf"),
            ("SELECT count(*) AS v FROM book WHERE id <= :n", ["--bind", "n=12"], "12"),
            ("SELECT :a AS v", ["--bind", "a="], ""),
        ])
    func binding(_ sql: String, _ options: [String], _ expected: String) async throws {
        let outcome = try await strongroom(["query", database, sql, "--output", "csv"] + options + key)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output == "v\n\(expected)\n")
    }

    @Test(
        "A parameter without a value, and an invalid value, are a wrong usage",
        arguments: [[], ["--bind", "b=1"], ["--bind", "nothing"]])
    func noValue(_ options: [String]) async throws {
        let outcome = try await strongroom(["query", database, "SELECT :a"] + options + key)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("--bind"))
    }

    @Test("strongroom query --write runs VACUUM and a change of journal mode, each by itself")
    func alone() async throws {
        try await StockShell(path: database, rawKey: "right").run("DELETE FROM book;")
        let before = try scratch.bytes("encrypted.sqlite").count
        let vacuum = try await query("-- now\nVACUUM", "--write")
        #expect(vacuum.status == 0, "\(vacuum.errors)")
        #expect(try scratch.bytes("encrypted.sqlite").count < before)
        let wal = try await query("PRAGMA main.journal_mode = wal", "--write")
        #expect(wal.status == 0, "\(wal.errors)")
        #expect(wal.output.contains("wal"))
        let mixed = try await query("DELETE FROM author; VACUUM", "--write")
        #expect(mixed.status == 1)
        #expect(mixed.errors.contains("Run it by itself"))
        #expect(try await query("SELECT count(*) AS n FROM author", "--output", "csv").output == "n\n2\n")
    }

    @Test("strongroom vacuum gives unused pages back, and the database stays as it is encrypted")
    func vacuum() async throws {
        try await StockShell(path: database, rawKey: "right").run("DELETE FROM book WHERE id > 10;")
        let before = try scratch.bytes("encrypted.sqlite").count
        let outcome = try await strongroom(["vacuum", database, "--json"] + key)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let after = try scratch.bytes("encrypted.sqlite").count
        #expect(after < before)
        #expect(try outcome.object["pages_before"] as? Int == before / 4096)
        #expect(try outcome.object["pages"] as? Int == after / 4096)
        #expect(try await StockShell(path: database, rawKey: "right").run("SELECT count(*) FROM book;") == "10")
        #expect(try scratch.names() == ["encrypted.sqlite", "secret"])
    }

    @Test("strongroom vacuum ends with 11 beside a reader")
    func vacuumBusy() async throws {
        let holder = try await StockShell(path: database, rawKey: "right").holding("BEGIN; SELECT count(*) FROM book;")
        let outcome = try await strongroom(["vacuum", database] + key)
        holder.endInput()
        _ = await holder.outcome()
        #expect(outcome.status == 11, "\(outcome.errors)")
    }
}

@Suite("The output of commands")
struct ProgressTests {
    let scratch: TemporaryFolder
    let secret: String

    init() throws {
        scratch = try TemporaryFolder()
        secret = try scratch.rawKey("right")
    }

    func events(_ outcome: Outcome) throws -> [(phase: String, percent: Int)] {
        try outcome.errors.split(separator: "\n").filter { $0.hasPrefix("{") }.map {
            let object = try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            return (try #require(object["phase"] as? String), try #require(object["percent"] as? Int))
        }
    }

    func isRising(_ percents: [Int]) -> Bool { zip(percents, percents.dropFirst()).allSatisfy { $0 <= $1 } }

    @Test("A copy is written, then checked, and each has a progress of its own", arguments: ["encrypt", "backup"])
    func phases(_ command: String) async throws {
        let bulk = "CREATE TABLE bulk (a); INSERT INTO bulk SELECT zeroblob(900) FROM generate_series(1, 60000);"
        let source =
            command == "encrypt"
            ? try await scratch.clearDatabase() : try await scratch.encryptedDatabase(rawKey: "right")
        let shell = command == "encrypt" ? StockShell(path: source) : StockShell(path: source, rawKey: "right")
        try await shell.run(bulk)
        let outcome = try await strongroom(
            command, source, scratch.path("out.db"), "--raw-key-file", secret,
            "--progress", "json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let events = try events(outcome), checking = events.filter { $0.phase == "checking" }.map(\.percent)
        #expect(events.map(\.phase) == events.map(\.phase).sorted(by: >))
        #expect(isRising(events.filter { $0.phase == "writing" }.map(\.percent)))
        #expect(isRising(checking))
        #expect(checking.contains { (20...80).contains($0) })
        #expect(checking.last == 100)
    }

    @Test("Check has progress, of small databases too", arguments: [100, 30_000_000])
    func check(size: Int) async throws {
        let path = try await scratch.encryptedDatabase(rawKey: "right")
        try await StockShell(path: path, rawKey: "right").run(
            """
            CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(\(size)));
            """)
        let outcome = try await strongroom("check", path, "--raw-key-file", secret, "--progress", "json")
        let events = try events(outcome)
        #expect(events.allSatisfy { $0.phase == "checking" })
        #expect(size < 1_000_000 || events.contains { (20...80).contains($0.percent) })
        #expect(isRising(events.map(\.percent)) && events.last?.percent == 100)
    }

    @Test("Check names damaged pages, a sentence each, and nothing that follows from them")
    func damagedPages() async throws {
        let path = try await scratch.encryptedDatabase(rawKey: "right")
        for page in [3, 5] { try scratch.damage("encrypted.sqlite", at: (page - 1) * 4096 + 1000) }
        let outcome = try await strongroom("check", path, "--raw-key-file", secret)
        #expect(outcome.status == 13)
        let sentences = [(3, ": it had the table book"), (5, "")].map { page, content in
            "page \(page) is not what was written with this key\(content)"
        }
        #expect(outcome.output == sentences.map { "\(path): \($0)\n" }.joined())
        let json = try await strongroom("check", path, "--raw-key-file", secret, "--json").object
        #expect(json["problems"] as? [String] == sentences)
    }

    @Test("Encrypt makes pages of another size, and a plaintext header")
    func encryptOptions() async throws {
        let clear = try await scratch.clearDatabase(), out = scratch.path("out.db")
        let outcome = try await strongroom(
            "encrypt", clear, out, "--plaintext-header", "--page-size", "8192",
            "--raw-key-file", secret)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try scratch.names() == ["clear.sqlite", "out.db", "out.db-salt", "secret"])
        let info = try await strongroom("info", out, "--json", "--raw-key-file", secret).object
        #expect(info["page_size"] as? Int == 8192)
        #expect(info["plaintext_header_size"] as? Int == 32)
    }
}

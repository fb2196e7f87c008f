import Foundation
import TestSupport
import Testing

@Suite("What the shell and the query read and write")
struct ShellInputTests {
    private let scratch: TemporaryFolder
    private let database: String
    private let key: [String]

    init() async throws {
        (scratch, database, key) = try await TemporaryFolder.withDatabase()
    }

    private func shell(_ lines: String, _ more: String...) async throws -> Outcome {
        try await strongroom(["shell", database] + key + more, input: lines)
    }

    /// Runs a command line of a POSIX shell with the program as `$0`.
    private func sh(_ line: String) async throws -> Outcome {
        var program = try Program("sh", "-c", line, Program(built: "strongroom").executable.path, database)
        program.arguments += [try scratch.rawKey("right")]
        return try await program.run()
    }

    // MARK: - Dumps

    @Test("A dump has texts with NUL and with combining marks behind quotation marks")
    func oddTexts() async throws {
        let name = "a\"\u{301}b", text = "it'\u{301}s"
        try await StockShell(path: database, rawKey: "right").run(
            """
            CREATE TABLE "a""\u{301}b" (c); INSERT INTO "a""\u{301}b" VALUES \
            ('a' || char(0) || 'b''c'), ('it''\u{301}s'), (char(0)), (x'00'), (1.5), (NULL);
            """)
        let outcome = try await shell(".dump\n")
        #expect(outcome.output.contains("'a'||char(0)||'b''c'"), "\(outcome.output.suffix(400))")
        try scratch.write(Data(outcome.output.utf8), to: "dump.sql")
        let copy = StockShell(path: scratch.path("copy.db"))
        try await copy.run(".read '\(scratch.path("dump.sql"))'")
        let question =
            "SELECT group_concat(typeof(c) || hex(c)) FROM \"\(name.replacing("\"\u{301}", with: "\"\"\u{301}"))\";"
        #expect(try await copy.run(question) == StockShell(path: database, rawKey: "right").run(question))
        #expect(try await copy.run(question).contains(text.utf8.map { String(format: "%02X", $0) }.joined()))
    }

    @Test("A dump has as many columns as a table can have")
    func wideTable() async throws {
        let columns = (0..<1500).map { "c\($0)" }.joined(separator: ", ")
        try await StockShell(path: database, rawKey: "right").run(
            "CREATE TABLE wide (\(columns)); INSERT INTO wide (c0, c1499) VALUES (1, 'last');")
        let outcome = try await shell(".dump wide\n")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains(",'last');"))
    }

    @Test("A dump of one table has its counter, and that of a full-text table its rows, whatever the case of the name")
    func oneTable() async throws {
        try await StockShell(path: database, rawKey: "right").run(
            """
            CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO counted VALUES (7);
            CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES ('one');
            """)
        #expect(
            try await shell(".dump COUNTED\n").output.contains("INSERT INTO sqlite_sequence VALUES ('counted', 7);"))
        try scratch.write(Data(try await shell(".dump Words\n").output.utf8), to: "words.sql")
        let copy = StockShell(path: scratch.path("copy.db"))
        try await copy.run(".dbconfig defensive off\n.read '\(scratch.path("words.sql"))'")
        #expect(try await copy.run("SELECT count(*) FROM words WHERE words MATCH 'one';") == "1")
    }

    // MARK: - Input

    @Test("Text that is not UTF-8 is refused, and not repaired")
    func otherEncodings() async throws {
        let latin = Data("INSERT INTO author VALUES (99, 'caf".utf8) + [0xE9] + Data("');\n".utf8)
        try scratch.write([UInt8](latin), to: "latin.sql")
        let query = try await sh(#""$0" query "$1" --write --raw-key-file "$2" < \#(scratch.path("latin.sql"))"#)
        #expect(query.status == 1 && query.errors.contains("standard input is not UTF-8; nothing was changed"))
        let read = try await shell(".read \(scratch.path("latin.sql"))\n", "--write")
        #expect(read.status == 1)
        #expect(read.errors.contains("latin.sql, line 1: the input is not UTF-8 in line 1"), "\(read.errors)")
        try scratch.write(Array("1,a\n2,caf".utf8) + [0xE9], to: "latin.csv")
        let imported = try await shell(".import \(scratch.path("latin.csv")) t\n", "--write")
        #expect(imported.status == 1 && imported.errors.contains("line 2 is not UTF-8; no row was imported"))
        #expect(
            try await shell(".mode csv\n.headers off\nSELECT count(*) FROM author WHERE id = 99;\n.tables\n").output
                == "0\nauthor\nbook\n")
    }

    @Test("Standard input that can't be read, or is closed, is an error")
    func unreadable() async throws {
        let folder = try await sh(#""$0" query "$1" --raw-key-file "$2" < /"#)
        #expect(folder.status == 1 && folder.errors.contains("standard input cannot be read"), "\(folder.errors)")
        for command in ["query", "shell"] {
            let closed = try await sh(#""$0" \#(command) "$1" --raw-key-file "$2" <&-"#)
            #expect(closed.status == 1 && closed.errors.contains("standard input cannot be read"), "\(closed.errors)")
        }
        let read = try await shell(".read \(scratch.path(""))\n")
        #expect(read.status == 1 && read.errors.contains("the file cannot be read"), "\(read.errors)")
    }

    @Test("An import ends rows at a carriage return, and gives generated columns no value")
    func imports() async throws {
        try scratch.write(Data("1\r2\r\n3\n".utf8), to: "rows.csv")
        let lines = "CREATE TABLE g (a, b AS (a * 2));\n.import \(scratch.path("rows.csv")) g\n"
        let outcome = try await shell(
            lines + ".mode csv\n.headers off\nSELECT a, b FROM g ORDER BY rowid;\n", "--write")
        #expect(outcome.output == "3 rows imported\n1,2\n2,4\n3,6\n", "\(outcome.errors)")
    }

    @Test("A statement of many lines is one, wherever semicolons and comments are in it")
    func longStatement() async throws {
        let rows = (1...2000).map { "(\($0 + 1000), 'one; two') -- \($0);" }.joined(separator: "\n,")
        let lines =
            "INSERT INTO author VALUES\n\(rows)\n/* the end;\nof it */;\n/* a; b\n*/ SELECT 1 AS a; /* c\nd */\n"
        let count = "SELECT count(*) AS n FROM author WHERE id > 1000 AND name = 'one; two';\n"
        let outcome = try await shell(".mode csv\n\(lines)\(count)", "--write")
        #expect(outcome.output == "a\n1\nn\n2000\n", "\(outcome.errors)")
    }

    @Test("A key and a slot file are not written into a file with the name -", arguments: ["export", "backup"])
    func dash(subcommand: String) async throws {
        let outcome = try await sh(#"cd \#(scratch.path("")) && "$0" key \#(subcommand) "$1" - --raw-key-file "$2""#)
        #expect(outcome.status == 2, "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.path("-")))
    }

    // MARK: - Texts of other systems

    @Test("Lines that end with a carriage return are the same commands, statements and salts")
    func carriageReturns() async throws {
        try scratch.write(Data("1,2\r\n".utf8), to: "rows.csv")
        let file = scratch.path("rows.csv"), sum = "SELECT 'sum' || sum(y) FROM t;\r\n"
        let lines = "CREATE TABLE t(x, y);\r\n.import \(file) t\r\n\(sum)"
        let outcome = try await shell(lines + ".tables\r\n", "--write")
        #expect(outcome.status == 0 && outcome.output.contains("sum2"), "\(outcome.output)\(outcome.errors)")
        for sql in ["PRAGMA\r\njournal_mode = wal;", "PRAGMA journal_mode\r\n= delete\r\n;\r\n"] {
            let mode = try await strongroom(["query", database, "--write"] + key, input: sql)
            #expect(mode.status == 0, "\(mode.errors)")
        }
        let salted = scratch.path("salted.db")
        #expect(try await strongroom(["create", salted, "--plaintext-header"] + key).status == 0)
        #expect(try await strongroom(["query", salted, "--write", "CREATE TABLE t(a)"] + key).status == 0)
        let salt = scratch.text("salted.db-salt").replacing("\n", with: "\r\n")
        let saltFile = try scratch.secret(salt, in: "salt.txt")
        let checked = try await strongroom(["check", salted, "--salt-file", saltFile] + key)
        #expect(checked.status == 0, "\(checked.errors)")
    }

    @Test("A dump has the bytes of texts that are not UTF-8, and large numbers", arguments: ["UTF-8", "UTF-16le"])
    func oddBytes(_ encoding: String) async throws {
        let path = scratch.path("odd.db"), isUTF8 = encoding == "UTF-8"
        try await StockShell(path: path, rawKey: "right").run(
            """
            PRAGMA encoding = '\(encoding)'; CREATE TABLE odd (c); INSERT INTO odd VALUES
            \(isUTF8 ? "(CAST(x'ff80' AS TEXT)), (CAST(x'610027ff' AS TEXT))," : "('tä' || char(0) || 'ü'),")
            (1.7976931348623157e308), (-1.7976931348623157e308), (9e999), (4.9e-324), (0.1), ('t'), (x'ff00'), (NULL);
            """)
        let outcome = try await strongroom(["shell", path] + key, input: ".dump\n")
        #expect(outcome.output.contains("CAST(X'FF80' AS TEXT)") == isUTF8, "\(outcome.output)")
        try scratch.write(Data(outcome.output.utf8), to: "dump.sql")
        let copy = StockShell(path: scratch.path("copy.db"))
        try await copy.run("PRAGMA encoding = '\(encoding)';\n.read '\(scratch.path("dump.sql"))'")
        let question =
            "SELECT group_concat(typeof(c) || hex(c) || coalesce(c = 1.7976931348623157e308, '')) FROM odd;"
        #expect(try await copy.run(question) == StockShell(path: path, rawKey: "right").run(question))
    }

    // MARK: - Names with spaces

    @Test("Names with spaces stand in quotation marks, as in SQLite's shell")
    func quotedNames() async throws {
        try scratch.write(Data("a\n1\n".utf8), to: "a b.csv")
        try scratch.write(Data("SELECT count(*) AS n FROM \"my table\";\n".utf8), to: "my file.sql")
        let outcome = try await shell(
            """
            .import '\(scratch.path("a b.csv"))' "my table"
            .mode csv
            .read \t'\(scratch.path("my file.sql"))'
            .schema "my table"
            .backup '\(scratch.path("my copy.db"))'
            .dump "no \\"such\\" table"
            """ + "\n", "--write")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("1 row imported\nn\n1\nCREATE TABLE \"my table\""), "\(outcome.output)")
        #expect(try scratch.names().contains("my copy.db"))
        let open = try await shell(".read 'my file.sql\n")
        #expect(open.status != 0 && open.errors.contains("a quotation mark that is not closed"), "\(open.errors)")
        #expect(try await shell(".help\n").output.contains("quotation marks"))
    }
}

import Foundation
import TestSupport
import Testing

@Suite("strongroom create, verify-key, backup and keygen")
struct MakingCommandTests {
    let scratch: TemporaryFolder
    init() throws { scratch = try TemporaryFolder() }

    @Test("Create makes an empty database that the stock shell opens, for its owner only")
    func create() async throws {
        let outcome = try await strongroom(
            "create", scratch.path("new.sqlite"), "--passphrase-file", try scratch.secret("one"))
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try scratch.mode("new.sqlite") == 0o600)
        #expect(try scratch.names() == ["new.sqlite", "secret"])
        #expect(
            try await StockShell(path: scratch.path("new.sqlite"), passphrase: "one").run(
                "SELECT count(*) FROM sqlite_master;") == "0")
    }

    @Test("Create refuses to replace a file")
    func createOverFile() async throws {
        try scratch.write(Data("precious".utf8), to: "new.sqlite")
        #expect(
            try await strongroom("create", scratch.path("new.sqlite"), "--passphrase-file", try scratch.secret("one"))
                .status == 1)
        #expect(scratch.text("new.sqlite") == "precious")
    }

    @Test("Create with a plaintext header leaves the salt beside the database, and it opens again")
    func createWithHeader() async throws {
        let path = scratch.path("new.sqlite"), secret = try scratch.secret("one")
        #expect(try await strongroom("create", path, "--plaintext-header", "--passphrase-file", secret).status == 0)
        #expect(try scratch.names() == ["new.sqlite", "new.sqlite-salt", "secret"])
        #expect(try scratch.bytes("new.sqlite").starts(with: Data("SQLite format 3".utf8)))
        let verified = try await strongroom("verify-key", path, "--passphrase-file", secret)
        #expect(verified.status == 0, "\(verified.errors)")
    }

    @Test("Verify-key ends with 0 or 12 and writes nothing", arguments: [("right", Int32(0)), ("wrong", 12)])
    func verifyKey(_ passphrase: String, _ status: Int32) async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "right")
        let before = try scratch.bytes("encrypted.sqlite")
        let outcome = try await strongroom(
            "verify-key", database, "--json", "--passphrase-file", try scratch.secret(passphrase))
        #expect(outcome.status == status)
        let answer = try outcome.object
        #expect(answer["command"] as? String == "verify-key")
        #expect(answer["file"] as? String == database)
        #expect(answer["status"] as? Int == Int(status))
        #expect(try scratch.bytes("encrypted.sqlite") == before)
    }

    @Test("Backup makes a copy that the same passphrase opens, while a writer has uncommitted changes")
    func backup() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "right")
        let shell = StockShell(path: database, passphrase: "right")
        try await shell.run("PRAGMA journal_mode = wal;")
        let writer = try await shell.holding("BEGIN IMMEDIATE; DELETE FROM book;")
        let outcome = try await strongroom(
            "backup", database, scratch.path("copy.sqlite"), "--passphrase-file", try scratch.secret("right"))
        writer.endInput()
        _ = await writer.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            try await StockShell(path: scratch.path("copy.sqlite"), passphrase: "right").run(
                TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
    }

    @Test("Keygen makes a key file that encrypts and opens, and is never replaced")
    func keygen() async throws {
        let key = scratch.path("raw.key"), path = scratch.path("new.sqlite")
        #expect(try await strongroom("keygen", key).status == 0)
        #expect(try scratch.mode("raw.key") == 0o600)
        let made = try scratch.bytes("raw.key")
        #expect(try await strongroom("keygen", key).status == 1)
        #expect(try scratch.bytes("raw.key") == made)
        #expect(try await strongroom("create", path, "--raw-key-file", key).status == 0)
        #expect(try await strongroom("verify-key", path, "--raw-key-file", key).status == 0)
        let digits = scratch.text("raw.key").trimmingCharacters(in: .newlines)
        #expect(
            try await StockShell(path: path, passphrase: "x'\(digits)'").run("SELECT count(*) FROM sqlite_master;")
                == "0")
    }

    @Test("Keygen shows a key on standard output, as text and as JSON")
    func keygenOutput() async throws {
        let plain = try await strongroom("keygen").output
        #expect(plain.wholeMatch(of: /[0-9a-f]{64}\n/) != nil)
        let key = try #require(try await strongroom("keygen", "--json").object["key"] as? String)
        #expect(key.wholeMatch(of: /[0-9a-f]{64}/) != nil)
        #expect(key + "\n" != plain)
    }

    @Test("Backup writes nothing to the database, nor beside it")
    func backupReadsOnly() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "right")
        let before = try scratch.bytes("encrypted.sqlite"), folder = scratch.path("copies")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let secret = try scratch.secret("right")
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: database)
        let outcome = try await strongroom("backup", database, folder + "/copy.sqlite", "--passphrase-file", secret)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try scratch.bytes("encrypted.sqlite") == before)
        #expect(try scratch.names() == ["copies", "encrypted.sqlite", "secret"])
    }

    @Test("Completions are written for the shells that have them", arguments: ["bash", "zsh", "fish"])
    func completions(_ shell: String) async throws {
        let outcome = try await strongroom("completions", shell)
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("verify-key"))
    }

    @Test(
        "Completions are a script that the shell understands",
        arguments: ["bash", "zsh", "fish"].filter { (try? Program($0)) != nil })
    func completionsAreSound(_ shell: String) async throws {
        try scratch.write(Data(try await strongroom("completions", shell).output.utf8), to: "completions")
        // bash complains of a language that the machine lacks.
        let outcome = try await Program("env", "LC_ALL=C", shell, "-n", scratch.path("completions")).run()
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    }

    @Test(
        "Bash completes commands, options and files",
        arguments: [
            ("strongroom ro", "rotate"), ("strongroom rotate --new-passphrase-f", "--new-passphrase-file"),
            ("strongroom check encr", "encrypted.sqlite"), ("strongroom completions z", "zsh"),
        ])
    func bashCompletes(_ line: String, _ expected: String) async throws {
        try scratch.write(Data(), to: "encrypted.sqlite")
        try scratch.write(Data(try await strongroom("completions", "bash").output.utf8), to: "completions")
        let words = line.split(separator: " ")
        let outcome = try await Program(
            "bash", "-c",
            """
            cd '\(scratch.path)'; . ./completions
            COMP_WORDS=(\(line)) COMP_CWORD=\(words.count - 1) COMP_LINE='\(line)' COMP_POINT=\(line.count)
            _strongroom strongroom '\(words.last!)' '\(words[words.count - 2])'
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        ).run()
        #expect(
            outcome.output.split(whereSeparator: \.isWhitespace).contains { $0 == expected },
            "\(outcome.output)\(outcome.errors)")
    }
}

@Suite("strongroom decrypt and migrate")
struct ConvertingCommandTests {
    let scratch: TemporaryFolder
    init() throws { scratch = try TemporaryFolder() }

    @Test("Decrypt warns, and makes a copy that opens without a key")
    func decrypt() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "right")
        let outcome = try await strongroom(
            "decrypt", database, scratch.path("clear.sqlite"), "--yes", "--passphrase-file", try scratch.secret("right")
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("clear text"))
        #expect(try scratch.mode("clear.sqlite") == 0o600)
        #expect(
            try await StockShell(path: scratch.path("clear.sqlite")).run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
    }

    @Test("Decrypt refuses to go on without a terminal and without --yes", .enabled(if: PseudoTerminal.isAvailable))
    func decryptUnseen() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "right")
        let executable = try Program(built: "strongroom").executable.path
        let outcome = try await Program(
            "setsid", "--wait", executable, "decrypt", database, scratch.path("clear.sqlite"),
            "--passphrase-file", try scratch.secret("right")
        ).run()
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("--yes"))
        #expect(try scratch.names() == ["encrypted.sqlite", "secret"])
    }

    @Test("migrate brings a database of an older SQLCipher into today's format", arguments: [1, 2, 3])
    func olderFormat(_ version: Int) async throws {
        let old = scratch.path("old.sqlite"), new = scratch.path("new.sqlite"), secret = try scratch.secret("right")
        try await StockShell(path: old, passphrase: "right").run(
            """
            .output /dev/null
            PRAGMA cipher_compatibility = \(version);
            .output stdout
            CREATE TABLE t (x); INSERT INTO t VALUES (42);
            """)
        let hint = try await strongroom("verify-key", old, "--passphrase-file", secret)
        #expect(hint.status == 1)
        #expect(hint.errors.contains("--sqlcipher-version \(version)"))
        let outcome = try await strongroom(
            "migrate", old, new, "--sqlcipher-version", "\(version)", "--passphrase-file", secret)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try await StockShell(path: new, passphrase: "right").run("SELECT x FROM t;") == "42")
    }

    @Test("migrate turns the plaintext header on and off again")
    func header() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "right")
        let secret = try scratch.secret("right")
        let on = try await strongroom("migrate", database, "--plaintext-header", "on", "--passphrase-file", secret)
        #expect(on.status == 0, "\(on.errors)")
        #expect(try scratch.names() == ["encrypted.sqlite", "encrypted.sqlite-salt", "secret"])
        #expect(
            try await strongroom("migrate", database, "--plaintext-header", "off", "--passphrase-file", secret).status
                == 0)
        #expect(
            try await StockShell(path: database, passphrase: "right").run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
    }
}

@Suite("strongroom query")
struct QueryCommandTests {
    let scratch: TemporaryFolder
    let database: String
    let secret: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase(rawKey: "right")
        secret = try scratch.rawKey("right")
    }

    func query(_ sql: String, _ more: String...) async throws -> Outcome {
        var program = try Program(built: "strongroom", "query", database, "--raw-key-file", secret)
        program.arguments += more
        return try await program.run(input: sql)
    }

    @Test(
        "strongroom query writes rows in the form of --output",
        arguments: [
            ("table", "a    b\n---  -\nx,y  1\n"), ("csv", "a,b\n\"x,y\",1\n"), ("jsonl", "{\"a\":\"x,y\",\"b\":1}\n"),
        ])
    func forms(_ form: String, _ expected: String) async throws {
        let outcome = try await query("SELECT 'x,y' AS a, 1 AS b", "--output", form)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output == expected)
    }

    @Test("A table is as wide as its first 200 rows; a longer value further down sticks out, and no row is lost")
    func wideTable() async throws {
        let outcome = try await query(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) \
            SELECT i, CASE WHEN i = 5000 THEN 'a longer word' ELSE 'x' END AS w FROM n
            """
        )
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 5002)
        #expect(lines.prefix(3) == ["i    w", "---  -", "1    x"])
        #expect(lines.last == "5000  a longer word")
    }

    @Test("A table shows characters that a terminal would obey, and keeps a row on its line")
    func controlCharacters() async throws {
        let outcome = try await query("SELECT char(27) || '[2J' || char(10) AS a")
        #expect(outcome.output.contains("[2J\\n"))
        #expect(!outcome.output.contains("\u{1B}"))
        #expect(outcome.output.split(separator: "\n").count == 3)
    }

    @Test("An answer without rows has its head", arguments: [("table", "a\n-\n"), ("csv", "a\n"), ("jsonl", "")])
    func noRows(_ form: String, _ expected: String) async throws {
        #expect(try await query("SELECT 1 AS a WHERE 0", "--output", form).output == expected)
    }

    @Test(
        "strongroom query statements that begin or end a transaction are refused, and nothing is written",
        arguments: [
            "COMMIT", "/* now */ end", "-- now\nROLLBACK", "BEGIN IMMEDIATE",
        ])
    func transactions(_ sql: String) async throws {
        for more in [[], ["--write"]] {
            let outcome = try await strongroom(
                ["query", database, "--raw-key-file", secret] + more,
                input: (more.isEmpty ? "" : "DELETE FROM book; ") + sql)
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("all statements are one transaction"))
        }
        #expect(
            try await StockShell(path: database, rawKey: "right").run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
    }

    @Test("A savepoint may be rolled back")
    func savepoint() async throws {
        let outcome = try await query(
            "SAVEPOINT a; DELETE FROM book; ROLLBACK TO a; RELEASE a; DELETE FROM book WHERE id > 10", "--write")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try await StockShell(path: database, rawKey: "right").run("SELECT count(*) FROM book;") == "10")
    }

    @Test("strongroom query refuses to write without --write, and names it")
    func readOnly() async throws {
        let before = try scratch.bytes("encrypted.sqlite")
        let outcome = try await query("DELETE FROM book")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("--write"))
        #expect(try scratch.bytes("encrypted.sqlite") == before)
    }

    @Test("strongroom query writes with --write, all statements or none")
    func writing() async throws {
        #expect(try await query("DELETE FROM book; SELECT nothing", "--write").status == 1)
        #expect(
            try await StockShell(path: database, rawKey: "right").run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
        #expect(try await query("DELETE FROM book", "--write").status == 0)
        #expect(try await StockShell(path: database, rawKey: "right").run("SELECT count(*) FROM book;") == "0")
    }
}

@Suite("Sources of a passphrase")
struct SecretSourceTests {
    let scratch: TemporaryFolder
    let database: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase(passphrase: "right")
    }

    func verify(_ setting: String, _ option: String) async throws -> Outcome {
        let executable = try Program(built: "strongroom").executable.path
        return try await Program("sh", "-c", "\(setting) exec '\(executable)' verify-key '\(database)' \(option)").run()
    }

    @Test(
        "A command, a descriptor, a credential and a variable all do",
        arguments: [
            ("", "--passphrase-command 'cat FOLDER/secret'"), ("exec 5<FOLDER/secret;", "--passphrase-fd 5"),
            ("CREDENTIALS_DIRECTORY=FOLDER", "--passphrase-credential secret"), ("P=right", "--passphrase-env P"),
        ])
    func places(_ setting: String, _ option: String) async throws {
        _ = try scratch.secret("right\n")
        func filled(_ text: String) -> String { text.replacingOccurrences(of: "FOLDER", with: scratch.path) }
        // A variable before `exec` reaches the program only when it is exported.
        let outcome = try await verify(
            setting.contains("=") ? "export \(filled(setting));" : filled(setting), filled(option))
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("A command that fails is no passphrase")
    func failingCommand() async throws {
        let outcome = try await verify("", "--passphrase-command 'echo right; false'")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("ended with 1"))
    }

    @Test("Two places together are a wrong usage")
    func twoPlaces() async throws {
        #expect(try await verify("", "--passphrase-env A --passphrase-fd 5").status == 2)
    }
}

@Suite("Outcomes as JSON")
struct OutcomeTests {
    @Test("A failure is an object on standard output too, with its status, error and remedy")
    func failure() async throws {
        let scratch = try TemporaryFolder()
        let outcome = try await strongroom("check", scratch.path("nowhere"), "--json")
        let answer = try outcome.object
        #expect(answer["command"] as? String == "check")
        #expect(answer["status"] as? Int == 10)
        #expect(answer["error"] is String && answer["remedy"] is String)
    }

    @Test("Rotate --dry-run changes nothing and says how much there is to do")
    func dryRun() async throws {
        let scratch = try TemporaryFolder()
        let database = try await scratch.encryptedDatabase(passphrase: "right")
        let before = try scratch.bytes("encrypted.sqlite")
        let outcome = try await strongroom(
            "rotate", database, "--dry-run", "--json", "--passphrase-file", try scratch.secret("right"))
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.object["bytes"] as? Int == before.count)
        #expect(try scratch.bytes("encrypted.sqlite") == before)
    }

    @Test("--quiet prints nothing after success")
    func quiet() async throws {
        let scratch = try TemporaryFolder()
        let database = try await scratch.encryptedDatabase(passphrase: "right")
        let outcome = try await strongroom(
            "verify-key", database, "-q", "--passphrase-file", try scratch.secret("right"))
        #expect(outcome.status == 0)
        #expect(outcome.output.isEmpty && outcome.errors.isEmpty)
    }
}

import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("An application that keeps notes")
struct NotesAppTests {
    private func start(_ path: String, passphrase: String) throws -> RunningProgram {
        let program = try Program(built: "NotesApp", path).start()
        program.write(passphrase + "\n")
        return program
    }

    private func end(_ program: RunningProgram) async -> Outcome {
        program.endInput()
        return await program.outcome()
    }

    @Test("The notes application adds, finds, edits, pins and deletes notes, and observes each change")
    func notes() async throws {
        let scratch = try TemporaryFolder()
        let app = try start(scratch.path("notes.sqlite"), passphrase: "correct horse")
        app.write("add work Call the bank #money\n")
        try await app.waitForOutput("notebooks: work 1\n")
        app.write("add work Water the plants\nadd home Buy milk #food #today\n")
        try await app.waitForOutput("notebooks: home 1, work 2\n")
        app.write("edit 2 Water all plants\npin 1\nlist work\nfind milk\ndelete 3\ndelete 3\nedit 3 gone\n")
        try await app.waitForOutput("notebooks: home 0, work 2\n")
        app.write("drop work\n")
        try await app.waitForOutput("notebooks: home 0\n")
        let outcome = await end(app)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let answers = outcome.output.split(separator: "\n").filter { !$0.hasPrefix("notebooks:") }
        #expect(
            answers.dropLast(2) == [
                "added 1", "added 2", "added 3", "edited", "pinned",
                "1! Call the bank #money [money]", "2 Water all plants", "2 found",
                "3 Buy milk #food #today [food] [today]", "1 found",
                "deleted", "no such note",
            ])
        #expect(answers.dropLast().last?.hasPrefix("error:") == true)
    }

    @Test("The notes application keeps its notes from run to run, in a file that shows none of them")
    func runs() async throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("notes.sqlite")
        let first = try start(path, passphrase: "correct horse")
        first.write("add work Call the bank\n")
        #expect(await end(first).status == 0)
        for name in try scratch.names() {
            #expect(try scratch.bytes(name).range(of: Data("Call the bank".utf8)) == nil)
        }
        let second = try start(path, passphrase: "correct horse")
        second.write("list work\ncheck\n")
        let outcome = await end(second)
        // The observation says when it likes how many there are.
        let answers = outcome.output.split(separator: "\n").filter { !$0.hasPrefix("notebooks:") }
        #expect(answers == ["1 Call the bank", "1 found", "sound"])
    }

    @Test("The notes application changes its passphrase: observation goes on, and only the new one opens the file")
    func passphrase() async throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("notes.sqlite")
        let app = try start(path, passphrase: "correct horse")
        app.write("add work Call the bank\npassphrase battery-staple\nadd work Water the plants\n")
        try await app.waitForOutput("notebooks: work 2\n")
        #expect(await end(app).status == 0)

        let stale = try start(path, passphrase: "correct horse")
        let refusal = await end(stale)
        #expect(refusal.status == 3)
        #expect(refusal.output == "wrong passphrase\n")

        let shell = StockShell(path: path, passphrase: "battery-staple")
        #expect(try await shell.run("SELECT text FROM note ORDER BY id;") == "Call the bank\nWater the plants")
    }

    @Test("The notes application brings the notes of its first version up to date")
    func migration() async throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("notes.sqlite")
        // The remains of the first version: its schema, its history, a note.
        try await StockShell(path: path, passphrase: "correct horse").run(
            """
            CREATE TABLE notebook (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
            CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, notebookID INTEGER NOT NULL REFERENCES notebook \
            ON DELETE CASCADE,
                text TEXT NOT NULL, tags TEXT NOT NULL, modified DATETIME NOT NULL);
            CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
            INSERT INTO grdb_migrations VALUES ('notebooks and notes');
            INSERT INTO notebook VALUES (1, 'work');
            INSERT INTO note VALUES (1, 1, 'Call the bank', '["money"]', '2026-01-01 00:00:00.000');
            """)
        let app = try start(path, passphrase: "correct horse")
        app.write("pin 1\nlist work\n")
        let outcome = await end(app)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let answers = outcome.output.split(separator: "\n").filter { !$0.hasPrefix("notebooks:") }
        #expect(answers == ["pinned", "1! Call the bank [money]", "1 found"])
    }
}

@Suite("An application that keeps its own key")
struct KeyRenewalTests {
    let scratch: TemporaryFolder
    var path: String { scratch.path("notes.sqlite") }

    init() throws {
        scratch = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: scratch.path("keys"), withIntermediateDirectories: false)
    }

    private var store: FileKeyStore { FileKeyStore(path: scratch.path("keys/key")) }

    /// Runs the application to its end; it is killed at the step of a change of key that is named.
    func run(_ commands: String, endingAt step: String = "") async throws -> Outcome {
        let app = try Program(built: "NotesApp").executable.path
        return try await Program("env", "NOTES_END_AT=\(step)", app, path, store.path).run(input: commands)
    }

    /// The files with the current and the next key, and whether each key opens the database.
    func keys() throws -> [String: Bool] {
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path("keys"))
            .filter { $0 == "key" || $0 == "key-next" }
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try opens(scratch.bytes("keys/" + $0))) })
    }

    private func opens(_ text: Data) throws -> Bool {
        do {
            _ = try DatabaseFile.details(path: path, encryption: Encryption(key: .passphrase(text.dropLast())))
            return true
        } catch let error as DatabaseError where error.isWrongKeyError {
            return false
        }
    }

    @Test("The notes application renews it: the former key opens nothing, the new one is kept")
    func renewal() async throws {
        #expect(try await run("add work Call the bank\n").status == 0)
        let former = try scratch.bytes("keys/key")
        let outcome = try await run("renew-key\nrenew-key\nlist work\n")
        #expect(outcome.status == 0 && outcome.output.contains("1 Call the bank"), "\(outcome.errors)")
        #expect(try scratch.bytes("keys/key") != former)
        #expect(try keys() == ["key": true])
        #expect(try !opens(former) && store.formerKeys()?.count == 2)
    }

    /// Copies the database of a program that has ended, and returns what opens the copy by the store.
    private func copy() throws -> () throws -> Int? {
        let copy = scratch.path("copy.sqlite"), store = store
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        return {
            var configuration = Configuration()
            configuration.encryption = Encryption(key: .managed(by: store))
            configuration.readonly = true
            let queue = try DatabaseQueue(path: copy, configuration: configuration)
            defer { try? queue.close() }
            return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") }
        }
    }

    @Test(
        """
        The notes application, killed during a change of key, opens its notes at the next start, and changes the key; \
        a copy from before opens, too
        """,
        arguments: [
            ("stored", ["key": true, "key-next": false]), ("kept", ["key": true, "key-next": false]),
            ("rotating", ["key": true, "key-next": false]),
            ("rotated", ["key": false, "key-next": true]), ("removed", ["key-next": true]),
            ("confirmed", ["key": true, "key-next": true]),
        ])
    func killed(at step: String, left: [String: Bool]) async throws {
        #expect(try await run("add work Call the bank\n").status == 0)
        let copied = try copy()
        let killed = try await run("renew-key\n", endingAt: step)
        #expect(killed.status == SIGKILL && !killed.output.contains("key renewed"))
        #expect(try keys() == left)
        #expect(try copied() == 1)
        let next = try await run("list work\ncheck\n")
        #expect(next.status == 0, "\(next.output)\(next.errors)")
        #expect(next.output.contains("1 Call the bank") && next.output.contains("sound"))
        #expect(try keys()["key"] == true)
        #expect(try await run("renew-key\nlist work\n").output.contains("1 Call the bank"))
        #expect(try keys() == ["key": true])
        #expect(try copied() == 1)
    }

    @Test("The notes application gives a key up that did not come to take over")
    func busy() async throws {
        #expect(try await run("add work Call the bank\n").status == 0)
        let key = try String(decoding: scratch.bytes("keys/key").dropLast(), as: UTF8.self)
        let writer = try await StockShell(path: path, passphrase: key).holding("BEGIN IMMEDIATE;")
        let outcome = try await run("renew-key\n")
        #expect(outcome.status != 0)
        #expect(try keys() == ["key": true])
        writer.endInput()
        _ = await writer.outcome()
        #expect(try await run("renew-key\n").output.contains("key renewed"))
    }

    @Test("makes no key for notes whose key is missing, and reads them when it is restored")
    func goneKey() async throws {
        #expect(try await run("add work Call the bank\n").status == 0)
        let key = try scratch.bytes("keys/key")
        try store.remove(.current)
        let refused = try await run("list work\n")
        #expect(refused.status != 0 && refused.errors.contains("has no key"))
        #expect(try keys() == [:])
        try key.write(to: URL(fileURLWithPath: store.path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: store.path)
        #expect(try await run("list work\n").output.contains("1 Call the bank"))
    }
}

@Suite("Processes that create a database with a managed key")
struct FirstKeyTests {
    @Test(
        "simultaneously make one key, with and without the opening lock", .timeLimit(.minutes(2)),
        arguments: ["mint", "mint-shared"])
    func atOnce(mode: String) async throws {
        for _ in 0..<5 {
            let scratch = try TemporaryFolder(), path = scratch.path("db.sqlite")
            let store = FileKeyStore(path: scratch.path("key"))
            let processes = try (0..<6).map {
                try Program(built: "SharingWorkload", mode, path, "process \($0)", store.path).start()
            }
            // Each waits for the word, so that they begin together.
            for process in processes { process.write("go\n") }
            for process in processes {
                process.endInput()
                let outcome = await process.outcome()
                #expect(outcome.status == 0, "\(outcome.errors)")
            }
            var configuration = Configuration()
            configuration.encryption = Encryption(key: try store.load(.current))
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let count = try await queue.read { try Int.fetchOne($0, sql: "SELECT count(DISTINCT author) FROM mark") }
            #expect(count == 6)
            try queue.close()
        }
    }
}

import Foundation
import Strongroom
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

    @Test("adds, finds, edits, pins and deletes notes, and tells each change by observation")
    func notes() async throws {
        let scratch = try Scratch()
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
        #expect(answers.dropLast(2) == [
            "added 1", "added 2", "added 3", "edited", "pinned",
            "1! Call the bank #money [money]", "2 Water all plants", "2 found",
            "3 Buy milk #food #today [food] [today]", "1 found",
            "deleted", "no such note",
        ])
        #expect(answers.dropLast().last?.hasPrefix("error:") == true)
    }

    @Test("keeps its notes from run to run, in a file that shows none of them")
    func runs() async throws {
        let scratch = try Scratch()
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

    @Test("changes its passphrase at work: the observation goes on, only the new passphrase opens the notes")
    func passphrase() async throws {
        let scratch = try Scratch()
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

    @Test("brings the notes of its first version up to date")
    func migration() async throws {
        let scratch = try Scratch()
        let path = scratch.path("notes.sqlite")
        // What the first version left behind: its schema, its history, a note.
        try await StockShell(path: path, passphrase: "correct horse").run("""
            CREATE TABLE notebook (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
            CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, notebookID INTEGER NOT NULL REFERENCES notebook ON DELETE CASCADE,
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

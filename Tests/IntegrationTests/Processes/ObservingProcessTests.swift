import Foundation
import TestSupport
import Testing

@Suite("A program that observes commits of other programs", .timeLimit(.minutes(2)))
struct ObservingProcessTests {
    private let scratch: TemporaryFolder
    private let database: String
    private let key: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = scratch.path("notes.sqlite")
        key = try scratch.secret("old", in: "key")
        try await shell("old").run(
            "PRAGMA journal_mode = wal; CREATE TABLE note (id INTEGER PRIMARY KEY, author TEXT);")
    }

    /// The observer may recover the log meanwhile, as it opens the database.
    private func shell(_ passphrase: String) -> StockShell {
        StockShell(path: database, passphrase: passphrase, setUp: "PRAGMA busy_timeout = 10000;")
    }

    private func observe() async throws -> RunningProgram {
        let observer = try Program(built: "SharingWorkload", "observe", database, key).start()
        try await observer.waitForOutput("0 ")
        return observer
    }

    @Test("sees commits of the stock shell, and the last commit of a killed program")
    func commits() async throws {
        let observer = try await observe()
        for number in 1...3 {
            try await shell("old").run("INSERT INTO note (author) VALUES ('shell');")
            try await observer.waitForOutput("\n\(number) ")
        }
        for _ in 1...5 {
            let writer = try Program(built: "SharingWorkload", "commit", database, key, "1000000", "0").start()
            let former = try await shell("old").run("SELECT max(id) FROM note;")
            while try await shell("old").run("SELECT max(id) FROM note;") == former {}
            _ = await writer.end(by: SIGKILL)
            let latest = try await shell("old").run("SELECT max(id) FROM note;")
            try await observer.waitForOutput("\n\(latest) ")
        }
        #expect(await observer.finish().status == 0)
    }

    @Test("gets an error after a change of key, opens the database again, and goes on")
    func rotation() async throws {
        let observer = try await observe(), new = try scratch.secret("new", in: "new")
        let outcome = try await strongroom("rotate", database, "--passphrase-file", key, "--new-passphrase-file", new)
        #expect(outcome.status == 0, "\(outcome.errors)")
        try await observer.waitForOutput("error wrongKey")
        #expect(rename(new, key) == 0)
        try await shell("new").run("INSERT INTO note (author) VALUES ('shell');")
        try await observer.waitForOutput("\n1 ")
        #expect(await observer.finish().status == 0)
    }
}

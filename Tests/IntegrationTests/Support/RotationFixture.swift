import Foundation
import TestSupport
import Testing

/// Databases with the raw key "old", and the files with it and the new one that `strongroom rotate` reads.
struct RotationFixture {
    let scratch: TemporaryFolder
    let databases: [String]
    let keys: [String]

    var database: String { databases[0] }

    init(_ names: [String] = ["encrypted.sqlite"]) async throws {
        scratch = try TemporaryFolder()
        var databases: [String] = []
        for name in names { databases.append(try await scratch.encryptedDatabase(name, rawKey: "old")) }
        self.databases = databases
        let old = try scratch.rawKey("old", in: "old.key"), new = try scratch.rawKey("new", in: "new.key")
        keys = ["--raw-key-file", old, "--new-raw-key-file", new]
    }

    func shell(_ key: RawKey = "old", _ database: String? = nil) -> StockShell {
        StockShell(path: database ?? self.database, rawKey: key)
    }

    /// Makes a database so large that a rotation can be met in its middle.
    func fill(_ database: String, bytes: Int) async throws {
        try await shell("old", database).run("CREATE TABLE bulk (a); INSERT INTO bulk VALUES (zeroblob(\(bytes)));")
    }

    /// A program that reads: its old snapshot keeps the new pages in the log.
    func reader() async throws -> RunningProgram {
        try await shell().run("PRAGMA journal_mode = wal;")
        return try await shell().holding("BEGIN; SELECT count(*) FROM book;")
    }

    /// Rotates the files, or all databases, to the end.
    func rotate(_ files: [String]? = nil, _ more: String...) async throws -> Outcome {
        try await strongroom(["rotate"] + (files ?? databases) + keys + more)
    }

    /// Rotates all databases, and returns once so much of the first one is done.
    func rotating(until percentage: Int, _ more: String...) async throws -> RunningProgram {
        var program = try Program(built: "strongroom", "rotate")
        program.arguments += databases + keys + ["--progress", "json"] + more
        let running = try program.start()
        try await running.waitForErrors("\"percent\":\(percentage)")
        return running
    }

    /// The one key that opens the database.
    func survivor() async throws -> String {
        var survivors: [String] = []
        for name in ["old", "new"] {
            let check = try await strongroom("verify-key", database, "--raw-key-file", scratch.path(name + ".key"))
            if check.status == 0 { survivors.append(name) }
        }
        try #require(survivors.count == 1, "\(survivors)")
        return survivors[0]
    }

    func isPending() async throws -> Bool? {
        try await strongroom("info", database, "--json").object["is_rotation_pending"] as? Bool
    }

    /// Each of the databases opens with the key, with all its rows.
    func expectRows(
        _ key: RawKey, _ databases: [String]? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for database in databases ?? self.databases {
            let answer = try await shell(key, database).attempt(TemporaryFolder.sampleQuery)
            #expect(answer.output == TemporaryFolder.sampleAnswer + "\n", "\(database)", sourceLocation: sourceLocation)
        }
    }
}

extension RunningProgram {
    /// Sends the signal, and waits for the end.
    func end(by signal: Int32) async -> Outcome {
        kill(process.processIdentifier, signal)
        return await outcome()
    }

    /// Ends the input of a shell, and waits for its end.
    @discardableResult
    func finish() async -> Outcome {
        endInput()
        return await outcome()
    }
}

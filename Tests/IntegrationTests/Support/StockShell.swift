import Foundation
import TestSupport

extension StockShell {
    private func program() throws -> Program {
        var program = try Program("sqlcipher", "-bail")
        program.arguments += Self.arguments + [path]
        return program
    }

    /// Runs `sql`, and returns the rows, columns separated by a bar.
    @discardableResult
    func run(_ sql: String) async throws -> String {
        let outcome = try await attempt(sql)
        guard outcome.status == 0, outcome.errors.isEmpty else {
            throw Unavailable("sqlcipher ended with \(outcome.status): \(outcome.errors)")
        }
        return outcome.output.trimmingCharacters(in: .newlines)
    }

    func attempt(_ sql: String) async throws -> Outcome {
        try await program().run(input: keying + sql + "\n")
    }

    /// Runs `sql` and keeps the connection, and with it every lock, until the input of the shell ends.
    func holding(_ sql: String) async throws -> RunningProgram {
        let running = try program().start()
        running.write(keying + sql + "\nSELECT 'holding';\n")
        try await running.waitForOutput("holding")
        return running
    }
}

extension TemporaryFolder {
    /// An unencrypted database with a few rows, made by the stock shell. Returns its path.
    func clearDatabase(_ name: String = "clear.sqlite") async throws -> String {
        try await StockShell(path: path(name)).run(Self.sampleSQL)
        return path(name)
    }

    /// Those rows, encrypted by the stock shell.
    func encryptedDatabase(_ name: String = "encrypted.sqlite", passphrase: String) async throws -> String {
        try write(try await DerivedModels.shared.file(passphrase), to: name)
        return path(name)
    }

    func encryptedDatabase(_ name: String = "encrypted.sqlite", rawKey: RawKey) async throws -> String {
        try await StockShell(path: path(name), rawKey: rawKey).run(Self.sampleSQL)
        return path(name)
    }

    static let sampleSQL = """
        CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE book (id INTEGER PRIMARY KEY, author INTEGER REFERENCES author, title TEXT, cover BLOB);
        INSERT INTO author VALUES (1, 'Ibn Battuta'), (2, 'Sei Shōnagon');
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO book SELECT i, 1 + i % 2, 'Volume ' || i, zeroblob(100) FROM n;
        """

    /// The identification of the sample rows.
    static let sampleQuery =
        "SELECT (SELECT group_concat(name, '+') FROM author), (SELECT count(*) FROM book), (SELECT sum(id) FROM book);"
    static let sampleAnswer = "Ibn Battuta+Sei Shōnagon|300|45150"
}

/// The sample rows, encrypted by the stock shell once for each passphrase.
private actor DerivedModels {
    static let shared = DerivedModels()

    private var files: [String: Data] = [:]

    func file(_ passphrase: String) async throws -> Data {
        if let file = files[passphrase] { return file }
        let folder = try TemporaryFolder(), name = "model.sqlite"
        try await StockShell(path: folder.path(name), passphrase: passphrase).run(TemporaryFolder.sampleSQL)
        let file = try folder.bytes(name)
        files[passphrase] = file
        return file
    }
}

extension TemporaryFolder {
    /// Returns a folder with a sample database, its path, and the options that give its key.
    static func withDatabase(
        _ name: String = "encrypted.sqlite"
    ) async throws -> (folder: TemporaryFolder, path: String, key: [String]) {
        let folder = try TemporaryFolder()
        let path = try await folder.encryptedDatabase(name, rawKey: "right")
        return (folder, path, ["--raw-key-file", try folder.rawKey("right")])
    }
}

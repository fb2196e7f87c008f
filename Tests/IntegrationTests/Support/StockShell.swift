import Foundation

/// The `sqlcipher` shell as its makers ship it: the judge of what we write, and the author of what we read.
struct StockShell {
    let path: String
    /// Nil opens a clear database.
    var passphrase: String?

    private var keying: String {
        guard let passphrase else { return "" }
        let quoted = passphrase.replacingOccurrences(of: "'", with: "''")
        return ".output /dev/null\nPRAGMA key = '\(quoted)';\n.output stdout\n"
    }

    private func program() throws -> Program {
        try Program("sqlcipher", "-batch", "-bail", "-init", "/dev/null", path)
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

extension Scratch {
    /// A clear database with a few rows, made by the stock shell. Returns its path.
    func clearDatabase(_ name: String = "clear.sqlite") async throws -> String {
        try await StockShell(path: path(name)).run(Self.sampleSQL)
        return path(name)
    }

    /// The same rows, encrypted by the stock shell.
    func encryptedDatabase(_ name: String = "encrypted.sqlite", passphrase: String) async throws -> String {
        try await StockShell(path: path(name), passphrase: passphrase).run(Self.sampleSQL)
        return path(name)
    }

    static let sampleSQL = """
        CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE book (id INTEGER PRIMARY KEY, author INTEGER REFERENCES author, title TEXT, cover BLOB);
        INSERT INTO author VALUES (1, 'Ibn Battuta'), (2, 'Sei Shōnagon');
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO book SELECT i, 1 + i % 2, 'Volume ' || i, zeroblob(100) FROM n;
        """

    /// What identifies the sample rows.
    static let sampleQuery =
        "SELECT (SELECT group_concat(name, '+') FROM author), (SELECT count(*) FROM book), (SELECT sum(id) FROM book);"
    static let sampleAnswer = "Ibn Battuta+Sei Shōnagon|300|45150"
}

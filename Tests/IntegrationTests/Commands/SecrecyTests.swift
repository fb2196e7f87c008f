import Foundation
import TestSupport
import Testing

@Suite("Secrets and other processes", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/cmdline")))
struct SecrecyTests {
    let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    @Test("A passphrase in use shows in no argument and no environment of any process")
    func procShowsNothing() async throws {
        let old = "old-\(UUID().uuidString)", new = "new-\(UUID().uuidString)"
        let database = try await scratch.encryptedDatabase(passphrase: old)
        // The program has read the old passphrase and opened the database when it opens the second file, a pipe.
        let pipe = scratch.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let running = try Program(
            built: "strongroom", "rotate", database, "--passphrase-file", try scratch.secret(old),
            "--new-passphrase-file", pipe
        ).start()
        let writer = try await running.writing(to: pipe)

        let processes = try ProcessTable()
        #expect(processes.contains(running.process.processIdentifier))
        #expect(processes.mentioning(old) == [])

        writer.write(Data(new.utf8))
        try writer.close()
        #expect(await running.outcome().status == 0)
        #expect(try ProcessTable().mentioning(new) == [])
        #expect(
            try await StockShell(path: database, passphrase: new).run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
    }

    /// The words before the program in a line of the shell, and its options. FILE and FOLDER are the file of the
    /// secret and where it is.
    static let sources = [
        ("", "--passphrase-file FILE"), ("", "--passphrase-command 'cat FILE'"), ("exec 5<FILE;", "--passphrase-fd 5"),
        ("CREDENTIALS_DIRECTORY=FOLDER; export CREDENTIALS_DIRECTORY;", "--passphrase-credential secret"),
        ("P=$(cat FILE); export P;", "--passphrase-env P"), ("", "--raw-key-file FILE"),
    ]

    @Test("No source of a key shows it while the program works", arguments: sources)
    func everySource(_ setting: String, _ options: String) async throws {
        let isRaw = options.contains("raw")
        let secret =
            isRaw
            ? (0..<32).map { _ in String(format: "%02x", UInt8.random(in: 0...255)) }.joined()
            : "old-\(UUID().uuidString)"
        let database = try await scratch.encryptedDatabase(passphrase: isRaw ? "x'\(secret)'" : secret)
        let file = try scratch.secret(secret), pipe = scratch.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        // The names in a scratch folder have nothing that a shell would take apart.
        let executable = try Program(built: "strongroom").executable.path
        let line = "\(setting) exec '\(executable)' rotate \(database) \(options) --new-passphrase-file \(pipe)"
            .replacingOccurrences(of: "FILE", with: file).replacingOccurrences(of: "FOLDER", with: scratch.path)
        let running = try Program("sh", "-c", line).start()
        // It opens the pipe when it has the old key.
        let writer = try await running.writing(to: pipe)
        let processes = try ProcessTable()
        #expect(processes.contains(running.process.processIdentifier))
        #expect(processes.mentioning(secret) == [])
        writer.write(Data("new".utf8))
        try writer.close()
        let outcome = await running.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(!outcome.errors.contains(secret) && !outcome.output.contains(secret))
    }

    @Test("No message of a failure repeats a passphrase")
    func messages() async throws {
        let passphrase = "wrong-\(UUID().uuidString)"
        let database = try await scratch.encryptedDatabase(passphrase: "right")
        let outcome = try await Program(
            built: "strongroom", "check", database, "--passphrase-file", try scratch.secret(passphrase)
        ).run()
        #expect(outcome.status == 12)
        #expect(!outcome.errors.contains(passphrase))
        #expect(!outcome.output.contains(passphrase))
    }
}

/// The arguments and environments of all processes that may be looked at.
struct ProcessTable {
    private var texts: [Int32: Data] = [:]

    init() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let identifier = Int32(name) else { continue }
            let parts = ["cmdline", "environ"].map {
                try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(name)/\($0)"))
            }
            texts[identifier] = parts.compactMap { $0 }.reduce(Data(), +)
        }
    }

    func contains(_ process: Int32) -> Bool { texts[process].map { !$0.isEmpty } ?? false }

    func mentioning(_ word: String) -> [Int32] {
        texts.filter { $0.value.range(of: Data(word.utf8)) != nil }.map(\.key)
    }
}

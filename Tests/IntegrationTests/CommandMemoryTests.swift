import Foundation
import Testing

@Suite("Memory of strongroom", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status")))
struct CommandMemoryTests {
    let scratch: Scratch
    let database: String
    static let megabytes = 100

    init() async throws {
        scratch = try Scratch()
        database = try await scratch.encryptedDatabase(passphrase: "old")
        try await StockShell(path: database, passphrase: "old").run("""
            CREATE TABLE bulk (a);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.megabytes * 100))
                INSERT INTO bulk SELECT zeroblob(10000) FROM n;
            """)
    }

    /// The peak of what a program had in memory, in megabytes.
    func peak(_ arguments: [String]) async throws -> Int {
        var program = try Program(built: "strongroom")
        program.arguments = arguments
        let running = try program.start()
        let status = "/proc/\(running.process.processIdentifier)/status"
        var peak = 0
        // The kernel's figure only grows; the last one read counts.
        while running.process.isRunning {
            if let text = try? String(contentsOfFile: status, encoding: .utf8),
                let line = text.firstMatch(of: /VmHWM:\s+(\d+) kB/)
            {
                peak = max(peak, Int(line.output.1)! / 1024)
            }
            await Task.yield()
        }
        let outcome = await running.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        return peak
    }

    @Test("100 MB are rotated in less than 64 MB")
    func rotation() async throws {
        let peak = try await peak([
            "rotate", database, "--passphrase-file", try scratch.secret("old", in: "old.key"),
            "--new-passphrase-file", try scratch.secret("new", in: "new.key"),
        ])
        #expect((5..<64).contains(peak))
    }

    @Test("As many rows as one likes are written as a table in less than 64 MB")
    func table() async throws {
        let sql =
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) \
            SELECT printf('%0200d', i) AS a FROM n
            """
        let peak = try await peak(["query", database, sql, "--passphrase-file", try scratch.secret("old")])
        #expect((5..<64).contains(peak))
    }
}

import Foundation
import TestSupport
import Testing

@Suite("Memory of strongroom", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status")))
struct CommandMemoryTests {
    let scratch: TemporaryFolder
    let database: String
    static let megabytes = 100

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase(rawKey: "old")
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
                let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
            {
                peak = max(peak, Int(line.filter(\.isNumber))! / 1024)
            }
            try await Task.sleep(nanoseconds: 2_000_000)
        }
        let outcome = await running.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        return peak
    }

    @Test("100 MB are rotated in less than 64 MB")
    func rotation() async throws {
        try await StockShell(path: database, rawKey: "old").run(
            """
            CREATE TABLE bulk (a);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.megabytes * 100))
                INSERT INTO bulk SELECT zeroblob(10000) FROM n;
            """)
        let peak = try await peak([
            "rotate", database, "--raw-key-file", try scratch.rawKey("old", in: "old.key"),
            "--new-raw-key-file", try scratch.rawKey("new", in: "new.key"),
        ])
        #expect((5..<64).contains(peak))
    }

    @Test("A table of any number of rows is written in less than 64 MB")
    func table() async throws {
        let sql =
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 15000) \
            SELECT printf('%05000d', i) AS a FROM n
            """
        let peak = try await peak(["query", database, sql, "--raw-key-file", try scratch.rawKey("old")])
        #expect((5..<64).contains(peak))
    }
}

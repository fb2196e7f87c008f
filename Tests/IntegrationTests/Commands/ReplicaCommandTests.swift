import Foundation
import TestSupport
import Testing

@Suite("The commands of replication")
struct ReplicaCommandTests {
    let scratch: TemporaryFolder
    init() throws { scratch = try TemporaryFolder() }

    private func database() async throws -> String {
        let path = try await scratch.encryptedDatabase(passphrase: "right")
        try await StockShell(path: path, passphrase: "right").run("PRAGMA journal_mode = wal;")
        return path
    }

    @Test("Replicate stores what is committed until SIGTERM, and restore makes the database of any restore point")
    func untilStopped() async throws {
        let path = try await database(), destination = scratch.path("replica"),
            shell = StockShell(path: path, passphrase: "right")
        let replicator = try Program(built: "strongroom", "replicate", path, destination, "--json").start()
        try await replicator.waitForOutput("\"position\":1")
        try await shell.run("DELETE FROM book;")
        kill(replicator.process.processIdentifier, SIGTERM)
        let outcome = await replicator.outcome()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = try outcome.output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(lines.map { $0["event"] as? String } == ["started", "durable", "durable"])
        let signer = try #require(lines[0]["signer"] as? String), time = try #require(lines[1]["time"] as? String)
        for (name, choice) in [("before.db", ["--at", time]), ("position.db", ["--at", "1"])] {
            let restored = try await strongroom(
                ["restore", destination, scratch.path(name), "--signer", signer] + choice)
            #expect(restored.status == 0, "\(restored.errors)")
            let rows = try await StockShell(path: scratch.path(name), passphrase: "right").run(
                TemporaryFolder.sampleQuery)
            #expect(rows == TemporaryFolder.sampleAnswer)
        }
        let newest = try await strongroom("restore", destination, scratch.path("after.db"), "--at-least", "2")
        #expect(newest.status == 0, "\(newest.errors)")
        let count = try await StockShell(path: scratch.path("after.db"), passphrase: "right")
            .run("SELECT count(*) FROM book;")
        #expect(count == "0")
    }

    @Test("Replicas lists restore points as restore takes them, and fails with 21 when the newest is too old")
    func replicas() async throws {
        let path = try await database(), destination = scratch.path("replica")
        #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        let listed = try await strongroom("replicas", destination, "--json").object
        let points = try #require(listed["points"] as? [[String: Any]])
        #expect(points.count == 1)
        #expect(points[0]["position"] as? Int == 1)
        #expect(points[0]["keyGeneration"] as? Int == 1)
        #expect((points[0]["size"] as? Int ?? 0) > 4096)
        #expect(try await strongroom("replicas", destination, "--max-age", "1h").status == 0)
        #expect(try await strongroom("replicas", destination, "--max-age", "0s").status == 21)
        #expect(try await strongroom("restore", destination, scratch.path("x.db"), "--at-least", "2").status == 21)
        #expect(try await strongroom("replicas", scratch.path("nothing")).status == 10)
    }

    @Test("Verify ends with 13 when an object was changed, and restore writes nothing then")
    func verify() async throws {
        let path = try await database(), destination = scratch.path("replica")
        #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        #expect(try await strongroom("verify", destination).status == 0)
        let names = try FileManager.default.subpathsOfDirectory(atPath: destination)
        let name = "replica/" + (try #require(names.first { $0.contains("/full/0") }))
        var bytes = try scratch.bytes(name)
        bytes[bytes.count - 100] ^= 1
        try scratch.write(bytes, to: name)
        let outcome = try await strongroom("verify", destination, "--json")
        #expect(outcome.status == 13)
        #expect((try outcome.object["problems"] as? [String])?.count == 1)
        #expect(try await strongroom("restore", destination, scratch.path("restored.db")).status == 13)
        #expect(!FileManager.default.fileExists(atPath: scratch.path("restored.db")))
    }
}

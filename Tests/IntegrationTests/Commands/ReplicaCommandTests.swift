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

    @Test("Replicate refuses a file that is no database, and makes nothing", arguments: ["text", "", "folder"])
    func noDatabase(kind: String) async throws {
        let path = scratch.path("file"), before: [String]
        if kind == "folder" {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        } else {
            try scratch.write(Data(String(repeating: kind, count: 1000).utf8), to: "file")
        }
        before = try scratch.names()
        let outcome = try await strongroom("replicate", path, scratch.path("replica"), "--once")
        #expect(outcome.status != 0 && outcome.errors.contains("\(path): it is"), "\(outcome.errors)")
        #expect(try scratch.names() == before)
    }

    @Test("Replicas lists restore points as restore takes them, and fails with 21 when the newest is too old")
    func replicas() async throws {
        let path = try await database(), destination = scratch.path("replica")
        #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        let listed = try await strongroom("replicas", destination, "--json").object
        let points = try #require(listed["points"] as? [[String: Any]])
        #expect(points.count == 1)
        #expect(points[0]["position"] as? Int == 1)
        #expect(points[0]["key_generation"] as? Int == 1)
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

    @Test("Verify opens restore points with the key, counts those of a former key, and fails with 12 for a wrong one")
    func keys() async throws {
        let path = try await database(), destination = scratch.path("replica")
        let old = try scratch.secret("right", in: "old"), new = try scratch.secret("new", in: "new")
        #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        #expect(
            try await strongroom("rotate", path, "--passphrase-file", old, "--new-passphrase-file", new).status == 0)
        #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        let verified = try await strongroom("verify", destination, "--passphrase-file", new, "--json")
        #expect(verified.status == 0, "\(verified.errors)")
        let object = try verified.object
        #expect(object["opened"] as? Int == 1)
        #expect(object["other_keys"] as? Int == 1)
        #expect(try await strongroom("verify", destination, "--passphrase-file", old).status == 12)
        // The restored database has the key of its time.
        let restored = scratch.path("old.db")
        #expect(try await strongroom("restore", destination, restored, "--at", "1").status == 0)
        #expect(try await strongroom("check", restored, "--passphrase-file", old).status == 0)
        #expect(try await strongroom("forget", destination, "--before-rotation").status == 0)
        #expect(try await strongroom("verify", destination, "--passphrase-file", new).status == 0)
        #expect(try await strongroom("restore", destination, scratch.path("x.db"), "--at", "1").status == 10)
    }

    @Test(
        "A rotation with a plaintext header or with key slots is replicated with its sidecars",
        arguments: [true, false])
    func sidecars(hasSlots: Bool) async throws {
        let path = scratch.path("kept.db"), destination = scratch.path("replica")
        let old = try scratch.secret("right", in: "old"), new = try scratch.secret("new", in: "new")
        let options = hasSlots ? ["--slots"] : ["--plaintext-header"]
        let created = try await strongroom(["create", path, "--passphrase-file", old] + options)
        #expect(created.status == 0, "\(created.errors)")
        let replicator = try Program(built: "strongroom", "replicate", path, destination, "--json").start()
        try await replicator.waitForOutput("\"position\":1")
        let rotated = try await strongroom("rotate", path, "--passphrase-file", old, "--new-passphrase-file", new)
        #expect(rotated.status == 0, "\(rotated.errors)")
        kill(replicator.process.processIdentifier, SIGTERM)
        #expect(await replicator.outcome().status == 0)
        for (point, key, name) in [(["--at", "1"], old, "first.db"), ([], new, "last.db")] {
            let restored = scratch.path(name)
            #expect(try await strongroom(["restore", destination, restored] + point).status == 0)
            let check = try await strongroom("check", restored, "--passphrase-file", key)
            #expect(check.status == 0, "\(check.errors)")
        }
        #expect(try await strongroom("verify", destination, "--passphrase-file", new).status == 0)
    }

    @Test("A header that becomes readable and is encrypted again is replicated with its salt file")
    func headers() async throws {
        let path = try await scratch.encryptedDatabase(passphrase: "right"), destination = scratch.path("replica")
        let key = ["--passphrase-file", try scratch.secret("right")]
        #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        for header in ["on", "off"] {
            let changed = try await strongroom(["migrate", path, "--plaintext-header", header] + key)
            #expect(changed.status == 0, "\(changed.errors)")
            #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        }
        for (position, hasSalt) in [("1", false), ("2", true), ("3", false)] {
            let restored = scratch.path("\(position).db")
            #expect(try await strongroom("restore", destination, restored, "--at", position).status == 0)
            #expect(FileManager.default.fileExists(atPath: restored + "-salt") == hasSalt)
            let check = try await strongroom(["check", restored] + key)
            #expect(check.status == 0, "\(check.errors)")
        }
        #expect(try await strongroom(["verify", destination] + key).status == 0)
    }

    @Test("Restore --follow goes on with the replica until SIGTERM")
    func follow() async throws {
        let path = try await database(), destination = scratch.path("replica"), out = scratch.path("followed.db")
        let shell = StockShell(path: path, passphrase: "right")
        #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        let follower = try Program(built: "strongroom", "restore", destination, out, "--follow", "--json").start()
        try await follower.waitForOutput("\"position\":1")
        try await shell.run("DELETE FROM book;")
        #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        try await follower.waitForOutput("\"position\":2")
        kill(follower.process.processIdentifier, SIGTERM)
        #expect(await follower.outcome().status == 0)
        #expect(try await StockShell(path: out, passphrase: "right").run("SELECT count(*) FROM book;") == "0")
    }

    @Test("Prune keeps one restore point of each period, and asks for the periods")
    func prune() async throws {
        let path = try await database(), destination = scratch.path("replica")
        for _ in 0..<3 {
            #expect(try await strongroom("replicate", path, destination, "--once", "--full").status == 0)
        }
        #expect(try await strongroom("prune", destination).status == 2)
        #expect(try await strongroom("prune", destination, "--keep", "7 days").status == 2)
        let outcome = try await strongroom("prune", destination, "--keep", "7d,4w,12m", "--json")
        #expect(outcome.status == 0)
        #expect(try outcome.object["removed"] as? Int == 2)
        #expect(try await strongroom("verify", destination).status == 0)
    }

    @Test("A folder has one history, however it is named")
    func names() async throws {
        let path = try await database(), destination = scratch.path("replica"), link = scratch.path("link")
        #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: destination)
        for name in [destination + "/", link] {
            let outcome = try await strongroom("replicate", path, name, "--once", "--json")
            #expect(outcome.output.contains("\"continues\":true"))
        }
    }
}

import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("Verify with the key of a database")
struct ReplicaKeyTests {
    let scratch: TemporaryFolder
    init() throws { scratch = try TemporaryFolder() }

    private var destination: String { scratch.path("replica") }

    private func keys(_ outcome: Outcome) throws -> [String?] {
        let points = try #require(try outcome.object["points"] as? [[String: Any]])
        return points.map { $0["key"] as? String }
    }

    @Test("opens restore points from before a rotation with the former keys that are given, and lists which")
    func former() async throws {
        let path = try await scratch.encryptedDatabase(passphrase: "first")
        let files = try ["first", "second", "third"].map { try scratch.secret($0, in: $0) }
        #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        for (old, new) in zip(files, files.dropFirst()) {
            let rotated = try await strongroom(
                "rotate", path, "--passphrase-file", old, "--new-passphrase-file", new)
            #expect(rotated.status == 0, "\(rotated.errors)")
            #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        }
        let former = [files[0], files[1]].flatMap { ["--former-passphrase-file", $0] }
        let all = try await strongroom(["verify", destination, "--passphrase-file", files[2], "--json"] + former)
        #expect(all.status == 0, "\(all.errors)")
        #expect(try keys(all) == ["former", "former", "current"])
        #expect(try all.object["former_keys"] as? Int == 2)
        #expect(try all.object["other_keys"] as? Int == 0)
        let some = try await strongroom(
            "verify", destination, "--passphrase-file", files[2], "--former-passphrase-file", files[1])
        #expect(some.status == 0, "\(some.errors)")
        #expect(some.output.contains("position 1: needs another key"))
        #expect(some.output.contains("position 2: opened with a former key, \(files[1])"))
        #expect(some.output.contains("position 3: opened with the current key"))
        let none = try await strongroom("verify", destination, "--passphrase-file", files[1])
        #expect(none.status == 12)
        #expect(none.errors.contains("--former-passphrase-file"))
        #expect(try await strongroom("verify", destination, "--former-passphrase-file", files[1]).status == 2)
    }

    @Test("opens restore points with the former keys of a key store")
    func keyStore() async throws {
        let path = scratch.path("managed.db"), store = FileKeyStore(path: scratch.path("key"))
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .managed(by: store))
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try await queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        try await queue.rotateKey(to: .managed(by: store))
        #expect(try await strongroom("replicate", path, destination, "--once").status == 0)
        try queue.close()
        let outcome = try await strongroom("verify", destination, "--key-store", store.path, "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try keys(outcome) == ["former", "current"])
        #expect(try await strongroom("verify", destination, "--key-store", scratch.path("none")).status != 0)
    }

    @Test("notices by a seal that the stolen key of the replicator has signed an older state again")
    func seal() async throws {
        let path = try await scratch.encryptedDatabase("notes.db", passphrase: "right"), state = scratch.path("state")
        let key = ["--passphrase-file", try scratch.secret("right")]
        func replicate(_ path: String, _ state: String, _ more: String...) async throws {
            let outcome = try await strongroom(["replicate", path, destination, "--once", "--state", state] + more)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        func verify(_ more: String...) async throws -> Outcome {
            try await strongroom(["verify", destination, "--json"] + key + more)
        }
        try await replicate(path, state)
        for (name, copy) in [("notes.db", "old.db"), ("state", "stolen"), ("replica", "former")] {
            try scratch.copy(name, to: copy)
        }
        try await StockShell(path: path, passphrase: "right").run("DELETE FROM book;")
        try await replicate(path, state)
        let sealed = try await verify("--seal")
        #expect(sealed.status == 0, "\(sealed.errors)")
        #expect(try sealed.object["sealed"] as? Int == 2)
        #expect(try await verify("--sealed-at-least", "2").status == 0)
        #expect(try await verify("--sealed-at-least", "3").status == 21)
        // Before the seal is removed, and afterwards.
        let seals = try FileManager.default.subpathsOfDirectory(atPath: destination).filter { $0.contains("/seals/") }
        let bytes = try scratch.bytes("replica/" + seals[0])
        try FileManager.default.removeItem(atPath: destination)
        try scratch.copy("former", to: "replica")
        try await replicate(scratch.path("old.db"), scratch.path("stolen"), "--full")
        #expect(try await verify().status == 0)
        #expect(try await verify("--sealed-at-least", "2").status == 21)
        let folder = URL(fileURLWithPath: destination + "/" + seals[0]).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try scratch.write(bytes, to: "replica/" + seals[0])
        let forged = try await verify()
        #expect(forged.status == 13)
        #expect((try forged.object["problems"] as? [String])?.first?.contains("seal") == true)
    }
}

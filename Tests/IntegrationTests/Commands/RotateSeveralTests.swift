import Foundation
import TestSupport
import Testing

@Suite("strongroom rotate with several files")
struct RotateSeveralTests {
    let fixture: RotationFixture
    var scratch: TemporaryFolder { fixture.scratch }
    var databases: [String] { fixture.databases }

    init() async throws { fixture = try await RotationFixture(["a.db", "b.db", "c.db"]) }

    @Test(
        "strongroom rotate of several files gives all of them the new passphrase, one at a time or several",
        arguments: ["1", "3"])
    func all(_ jobs: String) async throws {
        let outcome = try await fixture.rotate(nil, "--jobs", jobs)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("3 databases: 3 with the new key, 0 failed."))
        try await fixture.expectRows("new")
    }

    @Test("strongroom rotate of several files takes a file once that is named twice")
    func duplicates() async throws {
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link.db"), withDestinationPath: databases[0])
        let files = [databases[0], scratch.path("link.db"), databases[0]]
        let outcome = try await fixture.rotate(files, "--jobs", "3", "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.object["file"] as? String == databases[0])
    }

    @Test("strongroom rotate of several files goes on after a failure, and ends with its status if all failures agree")
    func oneFails() async throws {
        let odd = try await scratch.encryptedDatabase("odd.db", rawKey: "another")
        let outcome = try await fixture.rotate([odd] + databases, "--json")
        #expect(outcome.status == 12)
        let object = try outcome.object
        #expect(object["status"] as? Int == 12)
        #expect(object["done"] as? Int == 3)
        #expect(object["failed"] as? Int == 1)
        let files = try outcome.files
        #expect(files.map { $0["file"] as? String } == [odd] + databases)
        #expect(files.map { $0["outcome"] as? String } == ["failed", "rotated", "rotated", "rotated"])
        #expect(files.map { $0["status"] as? Int } == [12, 0, 0, 0])
        #expect(files[0]["error"] is String && files[0]["remedy"] is String)
        try await fixture.expectRows("another", [odd])
    }

    @Test("strongroom rotate of several files ends with 1 when the failures differ, and reports each")
    func failuresDiffer() async throws {
        let odd = try await scratch.encryptedDatabase("odd.db", rawKey: "another")
        let outcome = try await fixture.rotate(databases + [odd, scratch.path("nowhere.db")])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("strongroom: \(odd): "))
        #expect(outcome.errors.contains("strongroom: \(scratch.path("nowhere.db")): there is no such file"))
        #expect(outcome.errors.contains("5 databases: 3 with the new key, 2 failed."))
    }

    @Test("strongroom rotate of several files prints only failures with --quiet")
    func quiet() async throws {
        let outcome = try await fixture.rotate(nil, "--quiet")
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty && outcome.output.isEmpty)
    }

    @Test("strongroom rotate of several files once more with the same keys finds that all is done")
    func again() async throws {
        #expect(try await fixture.rotate([databases[0]]).status == 0)
        let outcome = try await fixture.rotate(nil, "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.files.map { $0["outcome"] as? String } == ["already", "rotated", "rotated"])
        try await fixture.expectRows("new", [databases[0]])
    }

    @Test("strongroom rotate of several files plans all of them with --dry-run and changes none")
    func dryRun() async throws {
        let before = try ["a.db", "b.db", "c.db"].map(scratch.bytes)
        let outcome = try await fixture.rotate(nil, "--dry-run", "--jobs", "2")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("3 can be rotated, 0 failed; about "))
        #expect(try ["a.db", "b.db", "c.db"].map(scratch.bytes) == before)
        #expect(try scratch.names() == ["a.db", "b.db", "c.db", "new.key", "old.key"])
    }

    @Test(
        "strongroom rotate stops at an interruption: files not begun are skipped, and the same command ends the work")
    func interrupted() async throws {
        for database in databases.prefix(2) { try await fixture.fill(database, bytes: 40_000_000) }
        let outcome = try await fixture.rotating(until: 5, "--json").end(by: SIGINT)
        #expect(outcome.status == 130, "\(outcome.errors)")
        let files = try outcome.files
        #expect(files.map { $0["outcome"] as? String } == ["failed", "skipped", "skipped"])
        #expect((files[0]["remedy"] as? String)?.contains("The old key opens it") == true)
        try await fixture.expectRows("old")
        #expect(try await fixture.rotate(nil, "--jobs", "3").status == 0)
        try await fixture.expectRows("new")
    }

    @Test(
        "--jobs and --salt-file are checked before anything is read",
        arguments: [["--jobs", "0"], ["--jobs", "many"], ["--salt-file", "salt"]])
    func usage(_ options: [String]) async throws {
        #expect(try await fixture.rotate(databases + options).status == 2)
    }

    @Test("A header that shows pages of zero bytes is damage of its own, and the other files are rotated")
    func zeroPageSize() async throws {
        let header = scratch.path("header.sqlite"), secret = ["--raw-key-file", scratch.path("old.key")]
        let migrated = try await strongroom(["migrate", databases[0], header, "--plaintext-header", "on"] + secret)
        #expect(migrated.status == 0)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: header))
        try file.seek(toOffset: 16)
        try file.write(contentsOf: [0, 0])
        try file.close()
        let outcome = try await fixture.rotate([header, databases[1]], "--json")
        let files = try outcome.files
        #expect(files.map { $0["outcome"] as? String } == ["failed", "rotated"])
        #expect(files[0]["status"] as? Int == 13)
        try await fixture.expectRows("new", [databases[1]])
    }
}

extension Outcome {
    /// The members of the JSON object for each file.
    fileprivate var files: [[String: Any]] {
        get throws { try #require(try object["files"] as? [[String: Any]]) }
    }
}

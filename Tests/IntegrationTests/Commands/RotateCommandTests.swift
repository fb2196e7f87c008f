import Foundation
import TestSupport
import Testing

@Suite("strongroom rotate")
struct RotateCommandTests {
    let scratch: TemporaryFolder
    let database: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase(passphrase: "old")
    }

    func rotate(from old: String = "old", to new: String = "new") async throws -> Outcome {
        try await Program(
            built: "strongroom", "rotate", database,
            "--passphrase-file", try scratch.secret(old, in: "old.key"),
            "--new-passphrase-file", try scratch.secret(new, in: "new.key")
        ).run()
    }

    func answer(_ passphrase: String) async throws -> Outcome {
        try await StockShell(path: database, passphrase: passphrase).attempt(TemporaryFolder.sampleQuery)
    }

    @Test("strongroom rotate gives the database the new passphrase, and the stock shell finds every row with it")
    func newPassphrase() async throws {
        let outcome = try await rotate()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try await answer("new").output == TemporaryFolder.sampleAnswer + "\n")
    }

    @Test("strongroom rotate takes the database away from the old passphrase")
    func oldPassphrase() async throws {
        #expect(try await rotate().status == 0)
        #expect(try await answer("old").status != 0)
        let check = try await Program(
            built: "strongroom", "check", database, "--passphrase-file", scratch.path("old.key")
        ).run()
        #expect(check.status == 12)
    }

    @Test("strongroom rotate works again and again")
    func repeated() async throws {
        #expect(try await rotate(from: "old", to: "new").status == 0)
        #expect(try await rotate(from: "new", to: "newer").status == 0)
        #expect(try await answer("newer").output == TemporaryFolder.sampleAnswer + "\n")
    }

    @Test("strongroom rotate leaves nothing beside the database, and its permissions alone")
    func tidy() async throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: database)
        #expect(try await rotate().status == 0)
        #expect(try scratch.names() == ["encrypted.sqlite", "new.key", "old.key"])
        #expect(try scratch.mode("encrypted.sqlite") == 0o640)
    }

    @Test("strongroom rotate ends with 12 at a wrong passphrase and leaves the file as it was")
    func wrongPassphrase() async throws {
        let before = try scratch.bytes("encrypted.sqlite")
        let outcome = try await rotate(from: "wrong")
        #expect(outcome.status == 12)
        #expect(try scratch.bytes("encrypted.sqlite") == before)
    }

    @Test("strongroom rotate refuses the passphrase in use as the new one")
    func samePassphrase() async throws {
        let before = try scratch.bytes("encrypted.sqlite")
        let outcome = try await rotate(to: "old\n")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("the one in use"))
        #expect(try scratch.bytes("encrypted.sqlite") == before)
    }

    @Test("strongroom rotate refuses an empty new passphrase and leaves the file as it was")
    func emptyPassphrase() async throws {
        let before = try scratch.bytes("encrypted.sqlite")
        #expect(try await rotate(to: "").status == 1)
        #expect(try scratch.bytes("encrypted.sqlite") == before)
    }

    @Test("strongroom rotate refuses an unencrypted database and names the command for it")
    func clearDatabase() async throws {
        let clear = try await scratch.clearDatabase()
        let before = try scratch.bytes("clear.sqlite")
        let outcome = try await Program(built: "strongroom", "rotate", clear).run()
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("strongroom encrypt"))
        #expect(try scratch.bytes("clear.sqlite") == before)
    }

    @Test("strongroom rotate ends with 10 when there is no such file, and makes none")
    func absent() async throws {
        try FileManager.default.removeItem(atPath: database)
        #expect(try await rotate().status == 10)
        #expect(try scratch.names() == ["new.key", "old.key"])
    }

    @Test("strongroom rotate ends with 11 while another program writes, and says that the old passphrase holds")
    func busy() async throws {
        let holder = try await StockShell(path: database, passphrase: "old").holding("BEGIN IMMEDIATE;")
        let outcome = try await rotate()
        holder.endInput()
        _ = await holder.outcome()
        #expect(outcome.status == 11, "\(outcome.errors)")
        #expect(outcome.errors.contains("The old passphrase opens it"))
        #expect(try await answer("old").output == TemporaryFolder.sampleAnswer + "\n")
    }
}

import Foundation
import TestSupport
import Testing

@Suite("strongroom info")
struct InfoCommandTests {
    let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    func info(_ path: String) async throws -> Outcome {
        try await Program(built: "strongroom", "info", path).run()
    }

    @Test("strongroom info recognizes an unencrypted database without a passphrase")
    func clear() async throws {
        let outcome = try await info(try await scratch.clearDatabase())
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("clear"))
    }

    @Test("strongroom info recognizes an encrypted database without a passphrase")
    func encrypted() async throws {
        let outcome = try await info(try await scratch.encryptedDatabase(passphrase: "secret"))
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("encrypted"))
        #expect(outcome.output.contains("\(try scratch.bytes("encrypted.sqlite").count)"))
    }

    @Test("strongroom info ends with 10 when there is no such file")
    func absent() async throws {
        let outcome = try await info(scratch.path("nowhere.sqlite"))
        #expect(outcome.status == 10)
        #expect(outcome.errors.contains("nowhere.sqlite"))
        #expect(outcome.output.isEmpty)
    }

    @Test("strongroom info with a key, shows the cipher and the schema")
    func unlocked() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "secret")
        try await StockShell(path: database, passphrase: "secret").run(
            "PRAGMA user_version = 7; CREATE INDEX byAuthor ON book(author); CREATE VIEW v AS SELECT 1;")
        let before = try scratch.bytes("encrypted.sqlite")
        let outcome = try await strongroom("info", database, "--passphrase-file", try scratch.secret("secret"))
        #expect(outcome.status == 0, "\(outcome.errors)")
        for words in [
            "PBKDF2-HMAC-SHA512, 256000 rounds", "HMAC-SHA512", "2 tables, 1 index, 1 view, 0 triggers",
            "user_version 7", "UTF-8",
        ] {
            #expect(outcome.output.contains(words))
        }
        let facts = try await strongroom("info", database, "--json", "--passphrase-file", try scratch.secret("secret"))
            .object
        #expect(facts["pages"] as? Int == before.count / 4096)
        #expect(facts["user_version"] as? Int == 7)
        #expect(try scratch.bytes("encrypted.sqlite") == before)
    }

    @Test(
        "strongroom info names no derivation for a passphrase that spells the key",
        arguments: ["", "000102030405060708090a0b0c0d0e0f"])
    func spelledKey(salt: String) async throws {
        let spelled = "x'\(String(repeating: "3c", count: 32))\(salt)'"
        let database = try await scratch.encryptedDatabase(passphrase: spelled)
        let outcome = try await strongroom("info", database, "--passphrase-file", try scratch.secret(spelled))
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("raw, not derived"))
        let facts = try await strongroom("info", database, "--json", "--passphrase-file", scratch.path("secret")).object
        #expect(facts["kdf"] is NSNull)
        #expect(facts["kdf_iterations"] is NSNull)
        #expect(facts["hmac"] as? String == "HMAC-SHA512")
    }

    @Test("strongroom info with a wrong key ends with 12")
    func wrongKey() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "secret")
        #expect(try await strongroom("info", database, "--passphrase-file", try scratch.secret("wrong")).status == 12)
    }

    @Test("--unlock opens an unencrypted database without asking")
    func unlockedClear() async throws {
        let outcome = try await strongroom("info", try await scratch.clearDatabase(), "--unlock", "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.object["tables"] as? Int == 2)
        #expect(try outcome.object["kdf"] == nil)
    }

    @Test("strongroom info refuses a folder")
    func folder() async throws {
        let outcome = try await info(scratch.path)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("not a file"))
    }
}

@Suite("strongroom check")
struct CheckCommandTests {
    let scratch: TemporaryFolder
    let database: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase(passphrase: "right")
    }

    func check(_ path: String, passphrase: String = "right") async throws -> Outcome {
        try await Program(built: "strongroom", "check", path, "--passphrase-file", try scratch.secret(passphrase)).run()
    }

    @Test("strongroom check finds a sound database of the stock shell in order")
    func sound() async throws {
        let outcome = try await check(database)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("ok"))
    }

    @Test("strongroom check checks an unencrypted database, without a passphrase or with one, and ends with 16")
    func clear() async throws {
        let clear = try await scratch.clearDatabase(), secret = try scratch.secret("right")
        for more in [[], ["--passphrase-file", secret]] {
            let outcome = try await strongroom(["check", clear, "--json"] + more)
            #expect(outcome.status == 16, "\(outcome.errors)")
            #expect(try outcome.object["encrypted"] as? Bool == false)
            #expect(try outcome.object["status"] as? Int == 16)
            #expect((try outcome.object["pages"] as? Int).map { $0 > 0 } == true)
            #expect(outcome.errors.contains("it is not encrypted"))
        }
        let both = try await strongroom("check", clear, database, "--json", "--passphrase-file", secret)
        #expect(both.status == 16)
        let files = try #require(try both.object["files"] as? [[String: Any]])
        #expect(files.map { $0["encrypted"] as? Bool } == [false, true])
        #expect(files.map { $0["status"] as? Int } == [16, 0])
    }

    @Test("strongroom check ends with 12 at a wrong passphrase, in one line of its own, and leaves the file as it was")
    func wrongKey() async throws {
        let before = try scratch.bytes("encrypted.sqlite")
        let outcome = try await check(database, passphrase: "wrong")
        #expect(outcome.status == 12)
        #expect(outcome.errors.hasPrefix("strongroom: \(database): "))
        #expect(!outcome.errors.contains("ERROR CORE"))
        #expect(try scratch.bytes("encrypted.sqlite") == before)
    }

    @Test("strongroom check ends with 13 when a page was altered")
    func damaged() async throws {
        try scratch.damage("encrypted.sqlite", at: 3 * 4096 + 100)
        let outcome = try await check(database)
        #expect(outcome.status == 13, "\(outcome.errors)")
        #expect(outcome.errors.contains("backup"))
    }

    @Test("strongroom check ends with 13 when the end of the file is missing")
    func truncated() async throws {
        try scratch.write(try scratch.bytes("encrypted.sqlite").dropLast(4096 + 100), to: "encrypted.sqlite")
        #expect(try await check(database).status == 13)
    }

    @Test(
        "strongroom check refuses a file that is not a database before it asks for a passphrase",
        arguments: [
            "", "Dear diary, this text grows longer and longer and is still no database.\n",
        ])
    func notDatabase(_ text: String) async throws {
        try scratch.write(Data(text.utf8), to: "encrypted.sqlite")
        let outcome = try await Program(built: "strongroom", "check", database).run()
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains(database))
    }

    @Test("strongroom check ends with 10 when there is no such file, and makes none")
    func absent() async throws {
        #expect(try await check(scratch.path("nowhere.sqlite")).status == 10)
        #expect(try scratch.names() == ["encrypted.sqlite", "secret"])
    }

    @Test("strongroom check ends with 11 while another program holds the database")
    func busy() async throws {
        let holder = try await StockShell(path: database, passphrase: "right").holding("BEGIN EXCLUSIVE;")
        let outcome = try await check(database)
        holder.endInput()
        _ = await holder.outcome()
        #expect(outcome.status == 11, "\(outcome.errors)")
    }
}

import Foundation
import TestSupport
import Testing

@Suite("strongroom encrypt")
struct EncryptCommandTests {
    let scratch: TemporaryFolder
    let clear: String
    let out: String

    init() async throws {
        scratch = try TemporaryFolder()
        clear = try await scratch.clearDatabase()
        out = scratch.path("out.sqlite")
    }

    func encrypt(_ secret: String, _ more: String...) async throws -> Outcome {
        var program = try Program(built: "strongroom", "encrypt", clear, out, "--passphrase-file", secret)
        program.arguments += more
        return try await program.run()
    }

    @Test("strongroom encrypt makes a database that the stock shell opens with the passphrase, rows and all")
    func interoperable() async throws {
        let outcome = try await encrypt(try scratch.secret("open sesame"))
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            try await StockShell(path: out, passphrase: "open sesame").run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
    }

    @Test("strongroom encrypt leaves the clear original as it was")
    func originalUntouched() async throws {
        let before = try scratch.bytes("clear.sqlite")
        #expect(try await encrypt(try scratch.secret("open sesame")).status == 0)
        #expect(try scratch.bytes("clear.sqlite") == before)
    }

    @Test("strongroom encrypt makes a file that only its owner reads, and nothing beside it")
    func privateFile() async throws {
        #expect(try await encrypt(try scratch.secret("open sesame")).status == 0)
        #expect(try scratch.mode("out.sqlite") == 0o600)
        #expect(try scratch.names() == ["clear.sqlite", "out.sqlite", "secret"])
    }

    @Test("strongroom encrypt leaves no readable word in the result")
    func nothingReadable() async throws {
        #expect(try await encrypt(try scratch.secret("open sesame")).status == 0)
        let bytes = try scratch.bytes("out.sqlite")
        #expect(bytes.range(of: Data("Ibn Battuta".utf8)) == nil)
        #expect(bytes.range(of: Data("CREATE TABLE".utf8)) == nil)
    }

    @Test("strongroom encrypt refuses to replace a file")
    func noOverwriting() async throws {
        try scratch.write(Data("precious".utf8), to: "out.sqlite")
        let outcome = try await encrypt(try scratch.secret("open sesame"))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("--force"))
        #expect(scratch.text("out.sqlite") == "precious")
    }

    @Test("strongroom encrypt refuses to put a database next to the log of another")
    func strayLog() async throws {
        try scratch.write(Data("log".utf8), to: "out.sqlite-journal")
        #expect(try await encrypt(try scratch.secret("open sesame")).status == 1)
        #expect(try scratch.names() == ["clear.sqlite", "out.sqlite-journal", "secret"])
    }

    @Test("strongroom encrypt replaces a file when forced to")
    func force() async throws {
        try scratch.write(Data("not so precious".utf8), to: "out.sqlite")
        let outcome = try await encrypt(try scratch.secret("open sesame"), "--force")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            try await StockShell(path: out, passphrase: "open sesame").run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
    }

    @Test("strongroom encrypt drops one newline at the end of the passphrase file, and no more")
    func trailingNewline() async throws {
        #expect(try await encrypt(try scratch.secret("two lines\n\n")).status == 0)
        #expect(
            try await StockShell(path: out, passphrase: "two lines\n").run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
    }

    @Test(
        "strongroom encrypt takes a passphrase of any bytes a person may type",
        arguments: ["it's", "пароль 🔐", "\"", " spaced "])
    func unusualPassphrases(_ passphrase: String) async throws {
        #expect(try await encrypt(try scratch.secret(passphrase)).status == 0)
        #expect(
            try await StockShell(path: out, passphrase: passphrase).run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
    }

    @Test("strongroom encrypt refuses an empty passphrase and makes nothing", arguments: ["", "\n"])
    func emptyPassphrase(_ passphrase: String) async throws {
        let outcome = try await encrypt(try scratch.secret(passphrase))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("empty"))
        #expect(try scratch.names() == ["clear.sqlite", "secret"])
    }

    @Test("strongroom encrypt warns about a passphrase that every user can read")
    func worldReadable() async throws {
        let outcome = try await encrypt(try scratch.secret("open sesame", mode: 0o644))
        #expect(outcome.status == 0)
        #expect(outcome.errors.contains("every user of this machine can read"))
    }

    @Test("strongroom encrypt says nothing about a passphrase file that is its owner's alone")
    func ownerReadable() async throws {
        let outcome = try await encrypt(try scratch.secret("open sesame", mode: 0o600))
        #expect(outcome.status == 0)
        #expect(!outcome.errors.contains("warning"))
    }

    @Test("strongroom encrypt ends with 10 when the original is absent")
    func absent() async throws {
        try FileManager.default.removeItem(atPath: clear)
        let outcome = try await encrypt(try scratch.secret("open sesame"))
        #expect(outcome.status == 10)
        #expect(outcome.errors.contains(clear))
    }

    @Test("strongroom encrypt ends with 10 when the passphrase file is absent")
    func absentSecret() async throws {
        let outcome = try await encrypt(scratch.path("nowhere"))
        #expect(outcome.status == 10)
        #expect(outcome.errors.contains(scratch.path("nowhere")))
        #expect(try scratch.names() == ["clear.sqlite"])
    }

    @Test("strongroom encrypt refuses files other than unencrypted databases")
    func notClear() async throws {
        try scratch.write(Data("Dear diary, today I wrote a text file.\n".utf8), to: "clear.sqlite")
        let outcome = try await encrypt(try scratch.secret("open sesame"))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("not a database"))
        #expect(try scratch.names() == ["clear.sqlite", "secret"])
    }
}

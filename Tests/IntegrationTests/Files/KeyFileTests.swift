import Foundation
import TestSupport
import Testing

@Suite("Files with keys")
struct KeyFileTests {
    let scratch: TemporaryFolder
    let database: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase(passphrase: "right")
    }

    private func verify(_ bytes: [UInt8], _ option: String = "--passphrase-file") async throws -> Outcome {
        _ = try scratch.secret("")
        try scratch.write(bytes, to: "secret")
        return try await strongroom("verify-key", database, option, scratch.path("secret"))
    }

    @Test("Files with keys open with one newline at their end, or none", arguments: ["right", "right\n", "right\r\n"])
    func newline(_ text: String) async throws {
        let outcome = try await verify(Array(text.utf8))
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test(
        "Files with keys are passphrases byte for byte otherwise",
        arguments: ["right\n\n", " right", "ri\0ght", "right\r"])
    func bytes(_ text: String) async throws {
        #expect(try await verify(Array(text.utf8)).status == 12)
    }

    @Test("Files with keys may hold bytes of value zero")
    func zeros() async throws {
        let key = try scratch.secret("a\0b\n"), path = scratch.path("zeros.db")
        #expect(try await strongroom("create", path, "--passphrase-file", key).status == 0)
        #expect(try await strongroom("verify-key", path, "--passphrase-file", key).status == 0)
        let short = try scratch.secret("a", in: "short")
        #expect(try await strongroom("verify-key", path, "--passphrase-file", short).status == 12)
    }

    @Test("Files with keys that begin with a byte order mark get an error of their own")
    func byteOrderMark() async throws {
        let outcome = try await verify([0xEF, 0xBB, 0xBF] + Array("right\n".utf8))
        #expect(outcome.status == 12)
        #expect(outcome.errors.contains("\(scratch.path("secret")): the passphrase begins with a byte order mark"))
    }

    @Test(
        "Files with keys that are empty are refused",
        arguments: ["", "\n", "\r\n"], ["--passphrase-file", "--raw-key-file"])
    func empty(_ text: String, _ option: String) async throws {
        let outcome = try await verify(Array(text.utf8), option)
        #expect(outcome.status == 1)
        let noun = option.contains("raw") ? "raw key" : "passphrase"
        #expect(outcome.errors.contains("\(noun) is empty"))
    }

    @Test("Files with keys of 65,537 bytes are no passphrases")
    func long() async throws {
        let outcome = try await verify([UInt8](repeating: 0x61, count: 65_537))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("this is not a passphrase"))
    }

    @Test("Files with keys with a malformed raw key are named")
    func malformed() async throws {
        let outcome = try await verify(Array("right".utf8), "--raw-key-file")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("\(scratch.path("secret")): the raw key is malformed"))
    }

    @Test(
        "Files with keys that are folders or devices are refused",
        arguments: [
            ("folder", Int32(1), "It is a folder: give the file in it"), ("nowhere", 10, "there is no such file"),
            ("loop", 1, "Check the path"),
            ("", 2, "an empty name names no key file"),
        ], ["verify-key", "check", "info", "rotate", "vacuum", "query"])
    func impostor(_ place: (String, Int32, String), _ command: String) async throws {
        let (place, status, words) = place
        try FileManager.default.createDirectory(atPath: scratch.path("folder"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: scratch.path("loop"), withDestinationPath: "loop")
        let before = try scratch.bytes("encrypted.sqlite"), name = place.isEmpty ? "" : scratch.path(place)
        let new = ["--new-passphrase-file", try scratch.secret("new", in: "new")]
        let more = ["rotate": new, "query": ["SELECT 1"]][command] ?? []
        let outcome = try await strongroom([command, database, "--passphrase-file", name] + more)
        #expect(outcome.status == status, "\(outcome.errors)")
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
        #expect(try scratch.bytes("encrypted.sqlite") == before)
    }

    @Test(
        "Files with keys that can't be read name the permission",
        .enabled(if: (try? Program("setpriv")) != nil && geteuid() == 0))
    func unreadable() async throws {
        let key = try scratch.secret("right", mode: 0), program = try Program(built: "strongroom").executable.path
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: database)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.path)
        let outcome = try await Program(
            "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "verify-key", database,
            "--passphrase-file", key
        ).run()
        #expect(outcome.status == 1)
        let words = "the key cannot be read (Permission denied)"
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }

    @Test(
        "Files with keys may be pipes, and no core dump is left from the start on",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/limits")))
    func pipe() async throws {
        let pipe = scratch.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let running = try Program(built: "strongroom", "verify-key", database, "--passphrase-file", pipe).start()
        let writer = try await running.writing(to: pipe)
        // It waits for the key now.
        let limits = try String(contentsOfFile: "/proc/\(running.process.processIdentifier)/limits", encoding: .utf8)
        #expect(limits.firstMatch(of: #/Max core file size +0 +0/#) != nil, "\(limits)")
        writer.write(Data("right\n".utf8))
        try writer.close()
        #expect(await running.outcome().status == 0)
    }

    @Test("Files with keys whose salt does not fit are reported as a wrong salt")
    func wrongSalt() async throws {
        let digits = (0..<48).map { String(format: "%02x", $0) }.joined(), path = scratch.path("salted.db")
        try await StockShell(path: path, passphrase: "x'\(digits)'").run("CREATE TABLE t (x);")
        let key = try scratch.secret(String(digits.prefix(64)) + String(repeating: "0", count: 32))
        let outcome = try await strongroom("verify-key", path, "--raw-key-file", key)
        #expect(outcome.status == 12)
        #expect(outcome.errors.contains("the key fits and the salt does not"), "\(outcome.errors)")
    }

    @Test("Files with keys are made once, in a folder that is there")
    func keygen() async throws {
        let path = scratch.path("made")
        #expect(try await strongroom("keygen", path).status == 0)
        let before = try scratch.bytes("made"), again = try await strongroom("keygen", path)
        let words = "it exists already, and a key is never replaced; nothing was changed"
        #expect(again.status == 1 && again.errors.contains(words))
        #expect(try scratch.bytes("made") == before)
        let nowhere = try await strongroom("keygen", scratch.path("no/key"))
        #expect(nowhere.status == 10 && nowhere.errors.contains("its folder does not exist; nothing was changed"))
    }
}

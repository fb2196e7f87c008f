import Foundation
import TestSupport
import Testing

/// The format of a database that another program made.
struct ForeignFormat: Sendable, CustomStringConvertible {
    var version: Int
    var pageSize: Int?
    var key = "right"

    static let raw = "x'" + String(repeating: "0123456789abcdef", count: 4) + "'"

    static let all =
        (1...4).flatMap { version in
            [
                ForeignFormat(version: version), ForeignFormat(version: version, pageSize: 8192),
                ForeignFormat(version: version, key: raw),
            ]
        } + [
            ForeignFormat(version: 1, pageSize: 2048), ForeignFormat(version: 4, pageSize: 1024),
            ForeignFormat(version: 4, pageSize: 65536, key: raw),
        ]

    /// In the default form, each version is there with a raw key, and each size of pages.
    static let chosen = Form.rows("formats of other programs", of: all) {
        ["\($0.isRaw ? $0.version : 0)", "\($0.pageSize ?? 0)"]
    }

    /// In the default form, each version is there once, and each kind of key.
    static let chosenOlder = Form.rows(
        "older formats of other programs",
        of: [(1, "right"), (2, raw), (3, raw), (1, raw), (2, "right"), (3, "right")].map {
            ForeignFormat(version: $0.0, key: $0.1)
        }
    ) { $0.version }

    /// For the stock shell, after the key.
    var pragmas: String {
        ".output /dev/null\nPRAGMA cipher_compatibility = \(version);\n"
            + (pageSize.map { "PRAGMA cipher_page_size = \($0);\n" } ?? "") + ".output stdout\n"
    }

    var options: [String] {
        (version == 4 ? [] : ["--sqlcipher-version", "\(version)"]) + (pageSize.map { ["--page-size", "\($0)"] } ?? [])
    }

    var isRaw: Bool { key == Self.raw }

    var description: String {
        "SQLCipher \(version), \(pageSize.map { "\($0)-byte pages, " } ?? "")\(isRaw ? "raw key" : "passphrase")"
    }
}

@Suite("Databases from other programs")
struct ForeignFormatTests {
    let scratch: TemporaryFolder
    init() throws { scratch = try TemporaryFolder() }

    /// The options that name the key of `format`.
    func key(_ format: ForeignFormat, _ prefix: String = "--") throws -> [String] {
        guard format.isRaw else { return ["\(prefix)passphrase-file", try scratch.secret(format.key, in: "key")] }
        return ["\(prefix)raw-key-file", try scratch.secret(String(format.key.dropFirst(2).dropLast()), in: "key")]
    }

    func make(_ format: ForeignFormat) async throws -> String {
        let path = scratch.path("foreign.db")
        try await StockShell(path: path, passphrase: format.key).run(format.pragmas + TemporaryFolder.sampleSQL)
        return path
    }

    @Test(
        "Foreign databases are checked, rotated and given back to the stock shell in their format",
        arguments: ForeignFormat.chosen)
    func worked(_ format: ForeignFormat) async throws {
        let path = try await make(format), key = try key(format)
        let check = try await strongroom(["check", path] + format.options + key)
        #expect(check.status == 0, "\(check.errors)")
        let rotated = try await strongroom(
            ["rotate", path] + format.options + key + ["--new-passphrase-file", try scratch.secret("new", in: "new")])
        #expect(rotated.status == 0, "\(rotated.errors)")
        let shell = StockShell(path: path, passphrase: "new")
        #expect(try await shell.run(format.pragmas + TemporaryFolder.sampleQuery) == TemporaryFolder.sampleAnswer)
    }

    @Test(
        "Foreign databases are shown by info, and copied into today's format by migrate",
        arguments: ForeignFormat.chosen)
    func migrated(_ format: ForeignFormat) async throws {
        let path = try await make(format), key = try key(format), before = try scratch.bytes("foreign.db")
        let info = try await strongroom(["info", path, "--json"] + format.options + key)
        #expect(info.status == 0, "\(info.errors)")
        let facts = try info.object
        #expect(facts["page_size"] as? Int == format.pageSize ?? (format.version == 4 ? 4096 : 1024))
        #expect(
            facts["kdf_iterations"] as? Int == (format.isRaw ? nil : [4000, 4000, 64000, 256_000][format.version - 1]))
        #expect(facts["hmac"] as? String == [nil, "HMAC-SHA1", "HMAC-SHA1", "HMAC-SHA512"][format.version - 1])
        #expect(facts["tables"] as? Int == 2)
        let migrated = try await strongroom(["migrate", path, scratch.path("today.db")] + format.options + key)
        #expect(migrated.status == 0, "\(migrated.errors)")
        #expect(
            try await StockShell(path: scratch.path("today.db"), passphrase: format.key).run(
                TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
        #expect(try scratch.bytes("foreign.db") == before)
    }

    @Test(
        "Foreign databases of an older SQLCipher are distinguished from a wrong passphrase by every command",
        arguments: [
            ["check"], ["verify-key"], ["info"], ["rotate", "--dry-run"], ["backup", "OUT"],
            ["decrypt", "OUT", "--yes"], ["query", "SELECT 1"],
        ])
    func recognized(_ command: [String]) async throws {
        let format = ForeignFormat(version: 3), path = try await make(format)
        let out = scratch.path("out.db"), key = try key(format)
        let arguments = [command[0], path] + command.dropFirst().map { $0 == "OUT" ? out : $0 } + key
        let outcome = try await strongroom(arguments + ["--json"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("its format is that of SQLCipher 3"))
        #expect(outcome.errors.contains("strongroom migrate \(path) --in-place; or give --sqlcipher-version 3 "))
        #expect(try outcome.object["sqlcipher_version"] as? Int == 3)
        #expect(try scratch.names() == ["foreign.db", "key"])
    }

    @Test("Foreign databases of an older SQLCipher with an unusual page size are recognized when it is given")
    func recognizedPageSize() async throws {
        let format = ForeignFormat(version: 3, pageSize: 8192), path = try await make(format), key = try key(format)
        let size = ["--page-size", "8192"]
        let check = try await strongroom(["check", path, "--json"] + size + key)
        #expect(check.errors.contains("its format is that of SQLCipher 3"), "\(check.errors)")
        let migrated = try await strongroom(["migrate", path, scratch.path("new.db")] + size + key)
        #expect(migrated.status == 0, "\(migrated.errors)")
        #expect(
            try await StockShell(path: scratch.path("new.db"), passphrase: format.key).run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
    }

    @Test(
        "Foreign databases of an older SQLCipher are recognized by migrate",
        arguments: ForeignFormat.chosenOlder)
    func migratedUnsaid(_ format: ForeignFormat) async throws {
        let path = try await make(format), new = scratch.path("new.db")
        let before = try scratch.bytes("foreign.db")
        let outcome = try await strongroom(["migrate", path, new] + key(format))
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            try await StockShell(path: new, passphrase: format.key).run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
        #expect(try scratch.bytes("foreign.db") == before)
    }

    @Test(
        "Foreign databases of an older SQLCipher open with the line that the message shows",
        arguments: ForeignFormat.chosenOlder)
    func lineOfMessage(_ format: ForeignFormat) async throws {
        let path = try await make(format), key = try key(format)
        let refused = try await strongroom(["verify-key", path] + key)
        let line = try #require(refused.errors.firstMatch(of: /strongroom (migrate [^;]*);/)).output.1
        let outcome = try await strongroom(line.split(separator: " ").map(String.init) + key)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            try await StockShell(path: path, passphrase: format.key).run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
    }

    @Test("Foreign databases of today are recognized where an older version was named")
    func newer() async throws {
        let path = try await make(ForeignFormat(version: 4))
        let outcome = try await strongroom(
            ["verify-key", path, "--sqlcipher-version", "3"] + key(ForeignFormat(version: 4)))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("Leave out --sqlcipher-version"))
    }
}

@Suite("Databases with a plaintext header from other programs")
struct ForeignHeaderTests {
    static let salt = "00112233445566778899aabbccddeeff"

    let scratch: TemporaryFolder
    let path: String
    let key: [String]

    init() async throws {
        scratch = try TemporaryFolder()
        path = scratch.path("header.db")
        key = ["--passphrase-file", try scratch.secret("right", in: "key")]
    }

    func shell(_ passphrase: String, _ sql: String, pageSize: Int? = nil, header: Int = 32) async throws -> String {
        try await StockShell(path: path, passphrase: passphrase).run(
            """
            .output /dev/null
            \(pageSize.map { "PRAGMA cipher_page_size = \($0);" } ?? "")
            PRAGMA cipher_plaintext_header_size = \(header);
            PRAGMA cipher_salt = "x'\(Self.salt)'";
            .output stdout
            \(sql)
            """)
    }

    func saltFile(binary: Bool) throws -> String {
        let bytes = stride(from: 0, to: 32, by: 2).map { UInt8(Self.salt.dropFirst($0).prefix(2), radix: 16)! }
        try scratch.write(binary ? Data(bytes) : Data((Self.salt + "\n").utf8), to: "salt")
        return scratch.path("salt")
    }

    @Test(
        "Foreign plaintext headers open with --salt-file, in bytes or digits, and with a new key in the stock shell",
        arguments: [true, false])
    func rotated(_ isBinary: Bool) async throws {
        _ = try await shell("right", TemporaryFolder.sampleSQL)
        let salt = ["--salt-file", try saltFile(binary: isBinary)]
        let check = try await strongroom(["check", path] + key + salt)
        #expect(check.status == 0, "\(check.errors)")
        let rotated = try await strongroom(
            ["rotate", path, "--new-passphrase-file", try scratch.secret("new", in: "new")] + key + salt)
        #expect(rotated.status == 0, "\(rotated.errors)")
        #expect(try await shell("new", TemporaryFolder.sampleQuery) == TemporaryFolder.sampleAnswer)
    }

    @Test("Foreign plaintext headers have the page size of their header, and another header size by --header-size")
    func sizes() async throws {
        _ = try await shell("right", TemporaryFolder.sampleSQL, pageSize: 8192, header: 48)
        let info = try await strongroom(
            ["info", path, "--json", "--header-size", "48", "--salt-file", try saltFile(binary: true)] + key)
        #expect(info.status == 0, "\(info.errors)")
        let facts = try info.object
        #expect(facts["kind"] as? String == "plaintextHeader")
        #expect(facts["page_size"] as? Int == 8192)
        #expect(facts["plaintext_header_size"] as? Int == 48)
    }

    @Test("Foreign plaintext headers ask for their salt where it is not beside them")
    func missingSalt() async throws {
        _ = try await shell("right", TemporaryFolder.sampleSQL)
        let outcome = try await strongroom(["verify-key", path] + key)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("its salt is missing"))
        #expect(outcome.errors.contains("--salt-file"))
    }

    @Test(
        "A file that is not a salt is refused",
        arguments: ["", "0011", String(repeating: "g", count: 32), String(repeating: "00", count: 17)])
    func noSalt(_ text: String) async throws {
        _ = try await shell("right", TemporaryFolder.sampleSQL)
        try scratch.write(Data(text.utf8), to: "salt")
        let outcome = try await strongroom(["verify-key", path, "--salt-file", scratch.path("salt")] + key)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("this is not a salt"))
    }

    @Test("Foreign plaintext headers are made by create with a given salt, and open in the stock shell")
    func created() async throws {
        let salt = try saltFile(binary: true)
        let outcome = try await strongroom(["create", path, "--plaintext-header", "--salt-file", salt] + key)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try scratch.names() == ["header.db", "key", "salt"])
        #expect(try await shell("right", "SELECT count(*) FROM sqlite_master;") == "0")
    }

    @Test("--salt-file is refused for a database that has its salt in itself")
    func needless() async throws {
        let database = try await scratch.encryptedDatabase(passphrase: "right")
        let outcome = try await strongroom(["verify-key", database, "--salt-file", try saltFile(binary: true)] + key)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("Leave out --salt-file"))
    }
}

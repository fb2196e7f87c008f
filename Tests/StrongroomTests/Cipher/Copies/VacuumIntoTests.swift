import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("A vacuumed copy")
struct VacuumIntoTests {
    /// Ways to say how a database is encrypted, other than SQLCipher's defaults.
    enum Format: String, CaseIterable, CustomTestStringConvertible {
        case iterations, pageSize, hashes, withoutHMAC, sqlcipher3, header, providedSalt, keyWithSalt,
            keyWithSaltInSmallPages
        case pragmas, compatibility, rawKeyAndPragma, headerByPragma, saltByPragma, headerByMethod

        var testDescription: String { rawValue }

        var configuration: Configuration {
            var configuration = Configuration()
            if let encryption {
                configuration.encryption = encryption
            } else {
                configuration.prepareDatabase { [pragmas] db in
                    try db.usePassphrase(
                        self == .rawKeyAndPragma ? "x'" + String(repeating: "5a", count: 32) + "'" : "correct horse")
                    try db.execute(sql: "PRAGMA kdf_iter = 1000")
                    for pragma in pragmas { try db.execute(sql: "PRAGMA \(pragma)") }
                    if self == .headerByMethod { try db.usePlaintextHeader() }
                }
            }
            return configuration
        }

        private static let salt = (1...16).map { UInt8($0) }

        private var encryption: Encryption? {
            var encryption = Encryption(
                key: .passphrase("correct horse"),
                settings: CipherSettings(kdfIterations: 1000))
            switch self {
            case .iterations: break
            case .pageSize: encryption.settings.pageSize = 8192
            case .hashes:
                encryption.settings =
                    CipherSettings(kdfIterations: 1000, kdfAlgorithm: .sha256, hmacAlgorithm: .sha256)
            case .withoutHMAC: encryption.settings.hmacAlgorithm = nil
            case .sqlcipher3: encryption.settings = .sqlcipher3
            case .header: encryption.plaintextHeader = PlaintextHeader()
            case .providedSalt: encryption.plaintextHeader = PlaintextHeader(size: 64, salt: .provided(Self.salt))
            case .keyWithSalt, .keyWithSaltInSmallPages:
                encryption.key = .passphrase("x'" + String(repeating: "5a", count: 48) + "'")
                if self == .keyWithSaltInSmallPages { encryption.settings.pageSize = 1024 }
            default: return nil
            }
            return encryption
        }

        private var pragmas: [String] {
            switch self {
            case .pragmas: ["cipher_page_size = 2048", "cipher_hmac_algorithm = HMAC_SHA1"]
            case .compatibility: ["cipher_compatibility = 3"]
            case .rawKeyAndPragma: ["cipher_page_size = 8192"]
            case .headerByPragma: ["cipher_plaintext_header_size = 32"]
            case .saltByPragma:
                [
                    "cipher_plaintext_header_size = 32",
                    "cipher_salt = \"x'\(Self.salt.map { String(format: "%02x", $0) }.joined())'\"",
                ]
            default: []
            }
        }
    }

    @Test("opens as the original does", arguments: Format.allCases)
    func file(format: Format) async throws {
        try await check(format) { try DatabasePool(path: $0, configuration: format.configuration) }
    }

    @Test("of a database in memory opens as a file with that configuration", arguments: Format.allCases)
    func memory(format: Format) async throws {
        try await check(format) { _ in try DatabaseQueue(configuration: format.configuration) }
    }

    @Test(
        "is not written by VACUUM INTO where nothing would open it",
        arguments: [Format.pageSize, .pragmas, .compatibility])
    func statement(format: Format) throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: format.configuration)
        for sql in ["VACUUM INTO ?", "/* all */ vacuum main into ?"] { expectRefusal(of: sql, on: queue, folder) }
    }

    @Test(
        "of a database in memory is not written by VACUUM INTO, because its key is unknown",
        arguments: [Format.iterations, .headerByMethod])
    func statementInMemory(format: Format) throws {
        expectRefusal(
            of: "VACUUM INTO ?", on: try DatabaseQueue(configuration: format.configuration),
            try TemporaryFolder())
    }

    @Test("of an encrypted database is not written in clear text because another one is")
    func attached() throws {
        let folder = try TemporaryFolder()
        let encryption = Encryption(key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000))
        let queue = try DatabaseQueue(path: folder.path("clear.sqlite"))
        try queue.writeWithoutTransaction { db in
            try db.attach(path: folder.path("db.sqlite"), as: "vault", encryption: encryption)
            try db.execute(sql: "CREATE TABLE vault.note (text)")
        }
        for sql in ["VACUUM vault INTO ?", "vacuum \"Vault\" into ?", "VACUUM [vault] INTO ?"] {
            expectRefusal(of: sql, on: queue, folder)
        }
        try queue.writeWithoutTransaction {
            try $0.execute(sql: "VACUUM INTO ?", arguments: [folder.path("copy.sqlite")])
        }
    }

    private func expectRefusal(
        of sql: String, on queue: DatabaseQueue, _ folder: TemporaryFolder,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let path = folder.path("copy.sqlite")
        let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) {
            try queue.writeWithoutTransaction { try $0.execute(sql: sql, arguments: [path]) }
        }
        #expect(error?.resultCode == .SQLITE_MISUSE, sourceLocation: sourceLocation)
        #expect(error?.recoverySuggestion?.contains("use vacuum(into:)") == true, sourceLocation: sourceLocation)
        #expect(!FileManager.default.fileExists(atPath: path), sourceLocation: sourceLocation)
    }

    @Test(
        "is written by VACUUM INTO where the key and the salt tell everything",
        arguments: [Format.iterations, .keyWithSalt])
    func statementOfDefaultFormat(format: Format) throws {
        let folder = try TemporaryFolder(), copy = folder.path("copy.sqlite")
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: format.configuration)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('kept')")
            try db.execute(sql: "VACUUM INTO ?", arguments: [copy])
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy)).range(of: Data("kept".utf8)) == nil)
        let opened = try DatabaseQueue(path: copy, configuration: format.configuration)
        #expect(try opened.read { try String.fetchAll($0, sql: "SELECT text FROM note") } == ["kept"])
        #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: copy, configuration: .encrypted(passphrase: "other"))
        }
    }

    private func check(_ format: Format, _ open: (String) throws -> any DatabaseWriter) async throws {
        let folder = try TemporaryFolder()
        let writer = try open(folder.path("db.sqlite"))
        try await writer.write { db in
            try db.execute(
                sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note (text) VALUES ('kept')")
        }
        let copies = [folder.path("copy.sqlite"), folder.path("second copy.sqlite")]
        try vacuum(writer, into: copies[0])
        try await writer.vacuum(into: copies[1])
        for copy in copies {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: copy))
            #expect(bytes.range(of: Data("kept".utf8)) == nil)
            let queue = try DatabaseQueue(path: copy, configuration: format.configuration)
            #expect(try await queue.read { try String.fetchAll($0, sql: "SELECT text FROM note") } == ["kept"])
            #expect(throws: DatabaseError.self) { try vacuum(writer, into: copy) }
        }
    }

    private func vacuum(_ writer: any DatabaseWriter, into path: String) throws {
        try writer.vacuum(into: path)
    }
}

import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A plaintext header")
struct HeaderTests {
    /// The set-up that the guide on sharing databases gives, word for word.
    private func recipe(_ passphrase: String = "secret") -> Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { (db: Database) in
            try db.usePassphrase(passphrase)
            try db.execute(sql: "PRAGMA cipher_plaintext_header_size = 32")
        }
        return configuration
    }

    private func declared(_ header: PlaintextHeader? = PlaintextHeader()) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: .passphrase("secret"), settings: CipherSettings(kdfIterations: 1000), plaintextHeader: header)
        return configuration
    }

    private func write(_ path: String, _ configuration: Configuration) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
        try queue.close()
    }

    private func read(_ path: String, _ configuration: Configuration) throws -> Int? {
        try DatabaseQueue(path: path, configuration: configuration).read {
            try Int.fetchOne($0, sql: "SELECT a FROM t")
        }
    }

    private func start(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)).prefix(15), as: UTF8.self)
    }

    @Test("by the recipe of the guide creates, closes, reopens")
    func guide() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try write(path, recipe())
        #expect(try start(path) == "SQLite format 3")
        #expect(try read(path, recipe()) == 7)
        #expect(throws: DatabaseError.self) { try read(path, recipe("wrong")) }
    }

    @Test("opens without the pragma, too: the salt file knows the size")
    func withoutPragma() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try write(path, recipe())
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase("secret") }
        #expect(try read(path, configuration) == 7)
    }

    @Test("by usePlaintextHeader() and by Encryption is the same thing")
    func spellings() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var called = Configuration()
        called.prepareDatabase { db in
            try db.usePassphrase("secret")
            try db.execute(sql: "PRAGMA kdf_iter = 1000")
            try db.usePlaintextHeader()
        }
        try write(path, called)
        #expect(try start(path) == "SQLite format 3")
        #expect(try read(path, declared()) == 7)
        #expect(try read(path, declared(nil)) == 7)
        #expect(try read(path, called) == 7)
    }

    @Test(
        "that is requested after the key is derived has its salt beside it, too", arguments: [true, false],
        [true, false])
    func afterSettledKey(declared: Bool, pragma: Bool) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        if declared { configuration.encryption = try #require(self.declared(nil).encryption) }
        configuration.prepareDatabase { db in
            if !declared { try db.usePassphrase("x'" + String(repeating: "a7", count: 32) + "'") }
            if pragma {
                try db.execute(sql: "PRAGMA cipher_plaintext_header_size = 32")
            } else {
                try db.usePlaintextHeader()
            }
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(FileManager.default.fileExists(atPath: path + "-salt"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
        try queue.close()
        #expect(try start(path) == "SQLite format 3")
        #expect(try read(path, configuration) == 7)
    }

    @Test("has its salt beside it before the first page, readable for the readers of the database")
    func sidecar() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let queue = try DatabaseQueue(path: path, configuration: declared())
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
        let modes = try [path, path + "-salt"].map {
            try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int
        }
        #expect(modes[0] != nil && modes[0] == modes[1])
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        let text = try String(contentsOfFile: path + "-salt", encoding: .utf8)
        #expect(text.hasPrefix("Strongroom salt 1\nsalt "))
        #expect(text.contains("\nheader 32\n"))
    }

    @Test("opens with the stock shell, passphrase and salt")
    func stock() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try write(path, declared())
        let salt = try #require(try DatabaseFile.inspect(path: path).salt)
        let setUp =
            """
            PRAGMA kdf_iter = 1000; PRAGMA cipher_plaintext_header_size = 32; \
            PRAGMA cipher_salt = "x'\(hexadecimal(salt))'";
            """
        #expect(try stockShell(path, key: "secret", setUp: setUp, "SELECT a FROM t;") == ["7"])
    }

    @Test("without its salt file names the missing file")
    func missingSalt() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try write(path, declared())
        try FileManager.default.removeItem(atPath: path + "-salt")
        let error = #expect(throws: DatabaseError.self) { try read(path, declared()) }
        #expect(error?.resultCode == .SQLITE_NOTADB)
        #expect(error?.reason == .missingSalt)
        #expect(error?.isWrongKeyError == false)
    }

    @Test("with a damaged salt file says so")
    func damagedSalt() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try write(path, declared())
        let text = try String(contentsOfFile: path + "-salt", encoding: .utf8)
        try text.replacingOccurrences(of: "header 32", with: "header 48").write(
            toFile: path + "-salt", atomically: true, encoding: .utf8)
        let error = #expect(throws: DatabaseError.self) { try read(path, declared()) }
        #expect(error?.reason == .damagedSalt)
    }

    @Test("with the caller's salt needs no file, and needs that salt")
    func providedSalt() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let salt = [UInt8](1...16)
        try write(path, declared(PlaintextHeader(salt: .provided(salt))))
        #expect(try start(path) == "SQLite format 3")
        #expect(!FileManager.default.fileExists(atPath: path + "-salt"))
        #expect(try read(path, declared(PlaintextHeader(salt: .provided(salt)))) == 7)
        #expect(try read(path, declared(PlaintextHeader(salt: .provided(Data(salt))))) == 7)
        let error = #expect(throws: DatabaseError.self) {
            try read(path, declared(PlaintextHeader(salt: .provided(salt.reversed()))))
        }
        #expect(error?.failureReason?.contains("wrong salt") == true)
    }

    @Test("with the stock recipe of passphrase and cipher_salt takes that salt")
    func cipherSaltPragma() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.usePassphrase("secret")
            try db.execute(sql: "PRAGMA kdf_iter = 1000")
            try db.execute(sql: "PRAGMA cipher_plaintext_header_size = 32")
            try db.execute(sql: "PRAGMA cipher_salt = \"x'01010101010101010101010101010101'\"")
        }
        try write(path, configuration)
        #expect(try read(path, configuration) == 7)
        #expect(try read(path, declared(PlaintextHeader(salt: .provided([UInt8](repeating: 1, count: 16))))) == 7)
    }

    @Test("on a database that has none is refused with the remedy")
    func late() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try write(path, declared(nil))
        let error = #expect(throws: DatabaseError.self) { try read(path, declared()) }
        #expect(error?.reason == .missingPlaintextHeader)
        #expect(try read(path, declared(nil)) == 7)
    }

    @Test("can be turned on and off", arguments: [true, false])
    func onAndOff(wal: Bool) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try write(path, declared(nil))
        if wal {
            try DatabaseQueue(path: path, configuration: declared(nil)).inDatabase {
                try $0.execute(sql: "PRAGMA journal_mode = wal")
            }
        }
        let encryption = try #require(declared(nil).encryption)
        try DatabaseFile.setPlaintextHeader(PlaintextHeader(), path: path, encryption: encryption)
        #expect(try start(path) == "SQLite format 3")
        #expect(try read(path, declared()) == 7)
        try DatabaseFile.setPlaintextHeader(nil, path: path, encryption: encryption)
        #expect(try start(path) != "SQLite format 3")
        #expect(!FileManager.default.fileExists(atPath: path + "-salt"))
        #expect(try read(path, declared(nil)) == 7)
        let mode = try DatabaseQueue(path: path, configuration: declared(nil)).inDatabase {
            try String.fetchOne($0, sql: "PRAGMA journal_mode")
        }
        #expect(mode == (wal ? "wal" : "delete"))
    }

    @Test("survives a rotation, with a fresh salt in its file")
    func rotation() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try write(path, declared())
        let before = try DatabaseFile.inspect(path: path).salt
        let queue = try DatabaseQueue(path: path, configuration: declared())
        try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = wal") }
        try queue.rotateKey(to: .passphrase("new"))
        try queue.close()
        #expect(try DatabaseFile.inspect(path: path).salt != before)
        var configuration = declared()
        configuration.encryption?.key = .passphrase("new")
        #expect(try read(path, configuration) == 7)
    }

    @Test("of a size that SQLCipher doesn't take is refused", arguments: [1, 24, 112])
    func size(_ size: Int) throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: folder.path("db.sqlite"), configuration: declared(PlaintextHeader(size: size)))
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
    }
}

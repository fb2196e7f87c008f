import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("Opening")
struct OpeningTests {
    private func opening(_ path: String, _ configuration: Configuration = .encrypted()) -> DatabaseError? {
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration) }
    }

    private func createEncrypted(_ path: String, rows: Int = 10) throws {
        try DatabaseQueue(path: path, configuration: .encrypted()).write { db in
            try db.execute(sql: "CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
            for _ in 0..<rows { try db.execute(sql: "INSERT INTO t(b) VALUES (randomblob(1000))") }
        }
    }

    private func contents(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    @Test("Opening with the wrong passphrase says so, and leaves the file alone")
    func wrongKey() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try createEncrypted(path)
        let before = try contents(path)
        let error = opening(path, .encrypted(passphrase: "wrong"))
        #expect(error?.resultCode == .SQLITE_NOTADB)
        #expect(error?.isWrongKeyError == true)
        #expect(error?.reason == .wrongKey)
        #expect(error?.message == "file is not a database")
        #expect(error?.failureReason?.contains(path) == true)
        #expect(try contents(path) == before)
    }

    @Test(
        "Opening refuses page sizes outside 1024 to 65536 bytes, and writes nothing",
        arguments: [0, 512, 1000, 131_072])
    func unusablePages(_ size: Int) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try .random(), settings: CipherSettings(pageSize: size))
        #expect(opening(path, configuration)?.resultCode == .SQLITE_MISUSE)
        let found = (try? contents(path))?.count ?? 0
        #expect(found == 0)
    }

    @Test("Opening with a wrong raw key says so")
    func wrongRawKey() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try .random())
        try DatabaseQueue(path: path, configuration: configuration).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        configuration.encryption = Encryption(key: try .random())
        #expect(opening(path, configuration)?.isWrongKeyError == true)
    }

    @Test("Opening an unencrypted database with a key says that it is not encrypted")
    func clearWithKey() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        let before = try contents(path)
        let error = opening(path)
        #expect(error?.resultCode == .SQLITE_NOTADB)
        #expect(error?.isWrongKeyError == false)
        #expect(error?.reason == .notEncrypted)
        #expect(error?.recoverySuggestion?.contains("DatabaseFile.encrypt") == true)
        #expect(try contents(path) == before)
    }

    @Test("Opening an encrypted database without a key says that it needs one")
    func encryptedWithoutKey() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try createEncrypted(path)
        let error = opening(path, Configuration())
        #expect(error?.resultCode == .SQLITE_NOTADB)
        #expect(error?.reason == .encryptedWithoutKey)
        #expect(error?.isWrongKeyError == true)
        #expect(error?.message == "file is not a database")
    }

    @Test("Opening a text says that it is none", arguments: [true, false])
    func text(withKey: Bool) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try String(repeating: "This is a shopping list.\n", count: 400)
            .write(toFile: path, atomically: true, encoding: .utf8)
        let error = opening(path, withKey ? .encrypted() : Configuration())
        #expect(error?.resultCode == .SQLITE_NOTADB)
        #expect(error?.reason == .notDatabase)
        #expect(error?.isWrongKeyError == false)
    }

    @Test("Opening a file of a few bytes says how few", arguments: [5, 20, 300])
    func short(_ count: Int) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try Data((0..<count).map { _ in UInt8.random(in: 128...255) }).write(to: URL(fileURLWithPath: path))
        let error = opening(path)
        #expect(error?.resultCode == .SQLITE_NOTADB)
        #expect(error?.reason == .notDatabase)
        #expect(error?.failureReason?.contains("only \(count) bytes") == true)
    }

    @Test("Opening random bytes is a wrong key, because the two can't be distinguished")
    func randomBytes() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try Data((0..<8192).map { _ in UInt8.random(in: 0...255) }).write(to: URL(fileURLWithPath: path))
        #expect(opening(path)?.isWrongKeyError == true)
    }

    @Test("Opening with page 1 damaged says that it is damage, not the key")
    func damagedFirstPage() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try createEncrypted(path)
        try flip(path, at: 200)
        let error = opening(path)
        #expect(error?.resultCode == .SQLITE_CORRUPT)
        #expect(error?.reason == .damaged)
        #expect(error?.damagedPage == 1)
        #expect(error?.isWrongKeyError == false)
        #expect(opening(path, .encrypted(passphrase: "wrong"))?.isWrongKeyError == true)
    }

    @Test("Opening a truncated file says so")
    func truncated() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try createEncrypted(path)
        let size = try contents(path).count
        truncate(path, off_t(size - 4096))
        let error = opening(path)
        #expect(error?.resultCode == .SQLITE_CORRUPT)
        #expect(error?.reason == .damaged)
    }

    @Test("Opening a folder can't be")
    func folder() throws {
        let folder = try TemporaryFolder()
        #expect(opening(folder.path)?.resultCode == .SQLITE_CANTOPEN)
    }

    @Test("Opening a missing file read-only fails and creates nothing")
    func absent() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration.encrypted()
        configuration.readonly = true
        #expect(opening(path, configuration)?.resultCode == .SQLITE_CANTOPEN)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(
        "Opening an older format says which one it is",
        arguments: [(3, CipherSettings.sqlcipher3), (2, .sqlcipher2), (1, .sqlcipher1)])
    func olderFormat(_ version: Int, _ settings: CipherSettings) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        _ = try stockShell(
            path, setUp: "PRAGMA cipher_compatibility = \(version);",
            "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2);")
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase("correct horse"))
        let error = opening(path, configuration)
        #expect(error?.resultCode == .SQLITE_NOTADB)
        #expect(error?.reason == .olderFormat)
        #expect(error?.formatVersion == version)
        #expect(error?.isWrongKeyError == false)
        configuration.encryption?.settings = settings
        #expect(
            try DatabaseQueue(path: path, configuration: configuration)
                .read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 2)
    }

    @Test("Opening follows PRAGMA cipher_compatibility after the passphrase, as the stock shell does")
    func compatibilityPragma() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.usePassphrase("correct horse")
            try db.execute(sql: "PRAGMA cipher_compatibility = 3")
        }
        try DatabaseQueue(path: path, configuration: configuration)
            .write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        #expect(try stockShell(path, setUp: "PRAGMA cipher_compatibility = 3;", "SELECT a FROM t;") == ["1"])
        #expect(
            try DatabaseQueue(path: path, configuration: configuration)
                .read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }

    @Test("Opening a database of the stock shell, which reads the rows of the library")
    func stock() throws {
        let folder = try TemporaryFolder()
        let theirs = folder.path("theirs.sqlite"), ours = folder.path("ours.sqlite")
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase("correct horse"))
        _ = try stockShell(theirs, setUp: "", "CREATE TABLE t(a); INSERT INTO t VALUES (42);")
        #expect(
            try DatabaseQueue(path: theirs, configuration: configuration)
                .read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 42)
        try DatabaseQueue(path: ours, configuration: configuration)
            .write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (43)") }
        #expect(try stockShell(ours, setUp: "", "SELECT a FROM t;") == ["43"])
    }

    @Test("Opening with custom settings, and letting the stock shell do the same")
    func customSettings() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: .passphrase("correct horse"),
            settings: CipherSettings(
                pageSize: 8192, kdfIterations: 5000, kdfAlgorithm: .sha256,
                hmacAlgorithm: .sha256))
        try DatabaseQueue(path: path, configuration: configuration)
            .write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        let setUp = """
            PRAGMA cipher_page_size = 8192; PRAGMA kdf_iter = 5000; PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_SHA256; \
            PRAGMA cipher_hmac_algorithm = HMAC_SHA256;
            """
        #expect(try stockShell(path, setUp: setUp, "SELECT a FROM t;") == ["1"])
        #expect(
            try DatabaseQueue(path: path, configuration: configuration)
                .read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }

    @Test(
        "Opening lets set-up say other things before it says how the key is derived",
        arguments: ["foreign_keys = ON", "busy_timeout = 100", "locking_mode"])
    func pragmasInBetween(pragma: String) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.usePassphrase("correct horse")
            try db.execute(sql: "PRAGMA \(pragma); PRAGMA kdf_iter = 1000")
        }
        try DatabaseQueue(path: path, configuration: configuration)
            .write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        #expect(try stockShell(path, "SELECT a FROM t;") == ["1"])
        #expect(
            try DatabaseQueue(path: path, configuration: configuration)
                .read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }

    @Test("Opening refuses temporary data on disk", arguments: ["FILE", "1", "DEFAULT", "0"])
    func tempStore(_ value: String) throws {
        try withEncryptedQueue { queue in
            let error = #expect(throws: DatabaseError.self) {
                try queue.inDatabase { try $0.execute(sql: "PRAGMA temp_store = \(value)") }
            }
            #expect(error?.reason == .temporaryDataOnDisk)
            let setting = try queue.read { try Int.fetchOne($0, sql: "PRAGMA temp_store") }
            #expect(setting == 2)
        }
    }

    @Test("Opening refuses temporary data on disk that was set before the key")
    func earlyTempStore() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA temp_store = FILE")
            try db.usePassphrase("correct horse")
            try db.execute(sql: "PRAGMA kdf_iter = 1000")
        }
        let error = opening(path, configuration)
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.reason == .temporaryDataOnDisk)
        #expect(error?.recoverySuggestion == "leave PRAGMA temp_store alone")
        #expect(try contents(path).isEmpty)
    }

    @Test("Opening keeps temporary data in memory without a key, too")
    func tempStoreOfClearDatabases() throws {
        try withEncryptedQueue(Configuration()) { queue in
            let setting = try queue.read { try Int.fetchOne($0, sql: "PRAGMA temp_store") }
            #expect(setting == 2)
        }
    }

    @Test("A refused opening stays refused, even if set-up swallows the error: nothing is written under another key")
    func swallowedRefusal() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let refusals = Shared(0)
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.usePassphrase("correct horse")
            try db.execute(sql: "PRAGMA cipher_page_size = 512")
            for _ in 0..<2 {
                do { try db.execute(sql: "CREATE TABLE t(a)") } catch { refusals.update { $0 += 1 } }
            }
        }
        #expect(opening(path, configuration)?.resultCode == .SQLITE_MISUSE)
        #expect(refusals.value == 2)
        #expect(try contents(path).isEmpty)
    }

    @Test("Opening an unencrypted database may keep temporary data on disk, until it reads an encrypted one")
    func tempStoreBesideAttachments() throws {
        let folder = try TemporaryFolder(), secret = folder.path("secret.sqlite")
        try createEncrypted(secret)
        let encryption = Encryption(key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000))
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA temp_store = FILE") }
        try DatabaseQueue(path: folder.path("clear.sqlite"), configuration: configuration).inDatabase { db throws in
            #expect(try Int.fetchOne(db, sql: "PRAGMA temp_store") == 1)
            for attach in [
                { try db.attach(path: secret, as: "a", encryption: encryption) },
                { try db.execute(sql: "ATTACH '\(secret)' AS a KEY 'x'") },
            ] {
                let error = #expect(throws: DatabaseError.self) { try attach() }
                #expect(error?.resultCode == .SQLITE_MISUSE)
            }
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            try db.attach(path: secret, as: "a", encryption: encryption)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM a.t") == 10)
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "PRAGMA temp_store = FILE") }
            #expect(error?.resultCode == .SQLITE_AUTH)
        }
    }

    @Test("Opening in memory takes a key and needs no file")
    func memory() throws {
        let queue = try DatabaseQueue(configuration: .encrypted())
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }

    @Test("Opening twice at the same time creates one database", arguments: 0..<40)
    func race(_ round: Int) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var waiting = Configuration.encrypted()
        waiting.busyMode = .timeout(20)
        let configuration = waiting
        let start = DispatchSemaphore(value: 0), done = DispatchGroup()
        let failures = Shared<[String]>([])
        for index in 0..<4 {
            done.enter()
            Thread.detachNewThread {
                start.wait()
                do {
                    let queue = try DatabaseQueue(path: path, configuration: configuration)
                    try queue.write { try $0.execute(sql: "CREATE TABLE t\(index)(a)") }
                } catch {
                    failures.update { $0.append("\(error)") }
                }
                done.leave()
            }
        }
        for _ in 0..<4 { start.signal() }
        done.wait()
        #expect(failures.value == [])
        #expect(
            try DatabaseQueue(path: path, configuration: configuration)
                .read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") } == 4)
        #expect(!FileManager.default.fileExists(atPath: path + "-salt-new"))
        #expect(!FileManager.default.fileExists(atPath: path + "-salt"))
    }

    @Test("Opening follows a stock shell that created the database in between")
    func foreignCreation() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.usePassphrase("correct horse")
            try db.execute(sql: "PRAGMA kdf_iter = 1000")
            try db.keySetup.settlePendingKey()
            _ = try stockShell(path, "CREATE TABLE t(a); INSERT INTO t VALUES (5);")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 5)
    }

    @Test("Opening makes SQLCipher's version and provider available")
    func versions() throws {
        try withEncryptedQueue { queue in
            try queue.inDatabase { db in
                let version = try db.cipherVersion, provider = try db.cipherProvider
                let providerVersion = try db.cipherProviderVersion, fips = try db.cipherFipsStatus
                #expect(version.hasPrefix("4."))
                #expect(provider?.isEmpty == false)
                #expect(providerVersion?.isEmpty == false)
                #expect(fips == "0" || fips == "1")
            }
        }
    }

    @Test("Opening with a wrong key prints nothing on stderr")
    func quiet() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
            try DatabaseQueue(path: path, configuration: .encrypted()).write {
                try $0.execute(sql: "CREATE TABLE t(a)")
            }
            #expect(throws: DatabaseError.self) {
                try DatabaseQueue(path: path, configuration: .encrypted(passphrase: "wrong"))
            }
        }
        let printed = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(!printed.contains("CORE"))
        #expect(!printed.contains("sqlcipher"))
    }
}

import CSQLCipher
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A key")
struct KeyTests {
    @Test("of 32 bytes works immediately, for statements of C in set-up, too", arguments: [32, 48])
    func rawKeyInStatementsOfC(keyLength: Int) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.usePassphrase("x'" + String(repeating: "5a", count: keyLength) + "'")
            #expect(
                sqlite3_exec(
                    db.sqliteConnection, "CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1)", nil, nil, nil)
                    == SQLITE_OK)
        }
        for count in 1...2 {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") } == count)
            try queue.close()
        }
    }

    @Test("shows nothing of itself")
    func description() throws {
        let secret = "quite-a-secret"
        let key = DatabaseKey.passphrase(secret)
        let encryption = Encryption(key: key)
        for text in ["\(key)", String(reflecting: key), "\(encryption)", String(reflecting: encryption)] {
            #expect(!text.contains(secret))
        }
        var dumped = ""
        dump(key, to: &dumped)
        dump(encryption, to: &dumped)
        #expect(!dumped.contains(secret))
        #expect(!dumped.contains("identity"))
    }

    @Test("of 31 bytes is no raw key")
    func rawLength() {
        #expect(throws: DatabaseError.self) { try DatabaseKey.rawKey([UInt8](repeating: 1, count: 31)) }
        #expect(throws: DatabaseError.self) {
            try DatabaseKey.rawKey([UInt8](repeating: 1, count: 32), salt: [1, 2, 3])
        }
    }

    @Test("is random when it is requested")
    func random() throws {
        let bytes = try (0..<2).map { _ in try DatabaseKey.random().withUnsafeBytes { Array($0) } }
        #expect(bytes[0].count == 32)
        #expect(bytes[0] != bytes[1])
    }

    @Test("is the same as text, as bytes, and from a provider")
    func spellings() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let settings = CipherSettings(kdfIterations: 1000)
        func open(_ key: DatabaseKey) throws -> Int? {
            var configuration = Configuration()
            configuration.encryption = Encryption(key: key, settings: settings)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            return try queue.write { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (1)")
                return try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
            }
        }
        #expect(try open(.passphrase("clé")) == 1)
        #expect(try open(.passphrase(Array("clé".utf8))) == 2)
        #expect(try open(.passphrase(from: { Array("clé".utf8) })) == 3)
        #expect(try open(.passphrase(Data("clé".utf8))) == 4)
        #expect(try open(.passphrase(from: { Data("clé".utf8) })) == 5)
        #expect(try open(.passphrase(from: { "clé" })) == 6)
        #expect(try open(.passphrase(from: { "clé".utf8 })) == 7)
    }

    @Test("may contain bytes of value zero, and they count")
    func zeros() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        func configuration(_ bytes: [UInt8]) -> Configuration {
            var configuration = Configuration()
            configuration.encryption = Encryption(
                key: .passphrase(bytes), settings: CipherSettings(kdfIterations: 1000))
            return configuration
        }
        try DatabaseQueue(path: path, configuration: configuration([1, 0, 2])).write {
            try $0.execute(sql: "CREATE TABLE t(a)")
        }
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration([1])) }
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration([1, 0])) }
        _ = try DatabaseQueue(path: path, configuration: configuration([1, 0, 2]))
    }

    @Test("that is empty is refused, and nothing is written", arguments: [true, false])
    func empty(declared: Bool) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        if declared {
            configuration.encryption = Encryption(key: .passphrase(""))
        } else {
            configuration.prepareDatabase { try $0.usePassphrase("") }
        }
        let error = #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.reason == .emptyKey)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
    }

    @Test("answers how it was derived, on all connections", arguments: [true, false])
    func iterations(declared: Bool) throws {
        let folder = try TemporaryFolder()
        var configuration = declared ? Configuration() : .encrypted()
        if declared {
            configuration.encryption = Encryption(
                key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000))
        }
        let pool = try DatabasePool(path: folder.path("db.sqlite"), configuration: configuration)
        let answer = { (db: Database) throws in try Int.fetchOne(db, sql: "PRAGMA kdf_iter") }
        #expect(try pool.read(answer) == 1000)
        #expect(try pool.write(answer) == 1000)
        try pool.rotateKey(to: .passphrase("new"))
        #expect(try pool.read(answer) == 1000)
        #expect(try pool.write(answer) == 1000)
        try pool.close()
        let count = "SELECT count(*) FROM sqlite_master;"
        #expect(try stockShell(folder.path("db.sqlite"), key: "new", setUp: "PRAGMA kdf_iter = 1000;", count) == ["0"])
    }

    @Test("from a provider that gives nothing is refused")
    func emptyProvider() throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase(from: { [] }))
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
        }
        #expect(error?.reason == .emptyKey)
    }

    @Test("from a provider is requested once for all connections")
    func provider() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let calls = Counter()
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: .passphrase(from: {
                calls.increment()
                return [1, 2, 3]
            }), settings: CipherSettings(kdfIterations: 1000))
        configuration = configuration.sharingKeys()
        for _ in 0..<3 {
            try withConnection(path, configuration) { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a)") }
        }
        #expect(calls.value == 1)
    }

    @Test(
        "of the form x'…' that is no key is refused",
        arguments: [
            "x'00'", "x'" + String(repeating: "0", count: 63) + "'", "x'" + String(repeating: "g", count: 64) + "'",
            "X'" + String(repeating: "0", count: 97) + "'",
        ])
    func malformed(_ passphrase: String) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(passphrase) }
        let error = #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
    }

    @Test("of the form x'…' is the stock shell's raw key")
    func spelledRawKey() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let spec = "x'" + String(repeating: "a7", count: 32) + "'"
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(spec) }
        try DatabaseQueue(path: path, configuration: configuration).write {
            try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)")
        }
        #expect(try stockShell(path, key: spec, setUp: "", "SELECT a FROM t;") == ["7"])
        var raw = Configuration()
        raw.encryption = Encryption(key: try .rawKey([UInt8](repeating: 0xa7, count: 32)))
        #expect(
            try DatabaseQueue(path: path, configuration: raw).read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 7
        )
    }

    @Test("can't be set a second time with another value, which SQLCipher would ignore")
    func second() throws {
        try withEncryptedQueue { queue in
            try queue.inDatabase { db in
                let error = #expect(throws: DatabaseError.self) { try db.usePassphrase("zork") }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(error?.expandedDescription.contains("zork") == false)
                try db.usePassphrase("correct horse")
            }
        }
    }

    @Test(
        "in SQL opens the database of the same passphrase",
        arguments: [
            "PRAGMA key = 'correct horse'", "pragma main.key('correct horse')",
            "PRAGMA hexkey = '636f727265637420686f727365'",
        ])
    func pragmaKey(_ sql: String) throws {
        let folder = try TemporaryFolder()
        try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted()).write {
            try $0.execute(sql: "CREATE TABLE t (a)")
        }
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: sql + "; PRAGMA kdf_iter = 1000") }
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
        #expect(try queue.read { try $0.tableExists("t") })
    }

    @Test("in SQL that is empty is refused, and nothing is written in clear")
    func emptyPragmaKey() throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA key = ''") }
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
    }

    @Test(
        "in SQL that differs from the one in use is refused, and is in no error",
        arguments: [
            "PRAGMA key = 'hush'", "PRAGMA rekey = 'hush'", "PRAGMA main.hexkey = 'hush'",
        ])
    func keyInSQL(_ sql: String) throws {
        try withEncryptedQueue { queue in
            let error = #expect(throws: DatabaseError.self) { try queue.inDatabase { try $0.execute(sql: sql) } }
            #expect(error?.description.contains("hush") == false)
            #expect(error?.expandedDescription.contains("hush") == false)
        }
    }
}

@Suite("A derivation")
struct DerivationTests {
    @Test("runs once for five threads that ask at the same time")
    func once() throws {
        let keyring = Keyring()
        let salt = try Salt.random()
        let key = DatabaseKey.passphrase("correct horse")
        let start = DispatchSemaphore(value: 0), done = DispatchGroup()
        for _ in 0..<5 {
            done.enter()
            Thread.detachNewThread {
                start.wait()
                _ = try? keyring.derivedKey(for: key, salt: salt, settings: CipherSettings(kdfIterations: 20_000))
                done.leave()
            }
        }
        for _ in 0..<5 { start.signal() }
        done.wait()
        #expect(keyring.derivationCount == 1)
    }

    @Test("runs again for another salt, other settings, another passphrase")
    func again() throws {
        let keyring = Keyring()
        let salt = try Salt.random(), settings = CipherSettings(kdfIterations: 10)
        let key = DatabaseKey.passphrase("correct horse")
        let first = try keyring.derivedKey(for: key, salt: salt, settings: settings)
        #expect(
            try keyring.derivedKey(for: .passphrase("correct horse"), salt: salt, settings: settings).key === first.key)
        #expect(keyring.derivationCount == 1)
        _ = try keyring.derivedKey(for: key, salt: .random(), settings: settings)
        _ = try keyring.derivedKey(for: key, salt: salt, settings: CipherSettings(kdfIterations: 11))
        _ = try keyring.derivedKey(for: .passphrase("correct hors"), salt: salt, settings: settings)
        #expect(keyring.derivationCount == 4)
    }

    @Test("equals PBKDF2's result in other implementations")
    func vector() throws {
        // RFC 6070, with SHA-1.
        let out = try pbkdf2(
            SecretBytes(copying: Array("password".utf8)), salt: Array("salt".utf8), rounds: 4096, algorithm: .sha1,
            count: 20)
        #expect(out.withBytes { hexadecimal($0) } == "4b007901b765489abead49d926f721d065a429c1")
    }

    @Test("follows replacements, there and back")
    func replacements() {
        let keyring = Keyring()
        let a = DatabaseKey.passphrase("a"), b = DatabaseKey.passphrase("b"), c = DatabaseKey.passphrase("c")
        keyring.replace(a, by: b)
        keyring.replace(b, by: c)
        #expect(keyring.current(a).source === c.source)
        #expect(keyring.current(.passphrase("b")).source === c.source)
        keyring.replace(c, by: a)
        #expect(keyring.current(a).source === a.source)
        #expect(keyring.current(b).source === a.source)
    }
}

final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0
    var value: Int { lock.withLock { count } }
    func increment() { lock.withLock { count += 1 } }
}

/// A connection of its own, set up as a queue's would be.
func withConnection<T>(
    _ path: String, _ configuration: Configuration = .encrypted(), _ body: (Database) throws -> T
) throws -> T {
    try Database(path: path, description: "test", configuration: configuration).withSoleAccess { db in
        try db.setUp()
        return try body(db)
    }
}

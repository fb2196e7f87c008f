import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Searches the memory of a process whose database is locked.
@Suite("A locked database leaves nothing in memory", .enabled(if: ProcessMemory.isShown), .timeLimit(.minutes(2)))
struct LockMemoryTests {
    /// A passphrase and the derived key of its database, which stand nowhere in the open.
    struct Secrets {
        let passphrase = MaskedBytes.random(48)

        var configuration: Configuration {
            let passphrase = passphrase
            var configuration = Configuration()
            configuration.encryption = Encryption(
                key: .passphrase(passphrase.bytes), settings: CipherSettings(kdfIterations: 1000))
            configuration.wipesFreedMemory = true
            return configuration
        }

        var key: DatabaseKey { .passphrase(passphrase.bytes) }
    }

    /// A text of 24 bytes that SQL puts together, so that neither the program nor a statement has it.
    static let row = MaskedBytes(
        masked: ["strongroom", "row", "01234", "56789ab"].flatMap { $0.utf8.map { $0 ^ 0x55 } }, mask: 0x55)
    static let insertion =
        "INSERT INTO t SELECT 'strongroom' || 'row' || '01234' || '56789ab' || hex(randomblob(9)) FROM n"

    @Test("no key, no derived key and no row", arguments: LockableKind.allCases)
    func nothing(kind: LockableKind) async {
        await #expect(processExitsWith: .success) { [kind = kind.rawValue as String] in
            let secrets = Secrets()
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
            let writer = try LockableKind(rawValue: kind)!.open(path, secrets.configuration)
            // The first page has the salt.
            try writer.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            let derived = try Self.derivedKey(secrets.passphrase, path)
            for _ in 0..<2 {
                try Self.work(with: writer)
                // The searches find what is there.
                guard try ProcessMemory.contains(secrets.passphrase) else { exit(3) }
                guard try ProcessMemory.contains(derived) else { exit(4) }
                guard try ProcessMemory.contains(Self.row) else { exit(5) }
                try writer.lock()
                if try ProcessMemory.contains(secrets.passphrase) { exit(6) }
                if try ProcessMemory.contains(derived) { exit(7) }
                for isUppercase in [true, false] {
                    if try ProcessMemory.contains(derived.digits(isUppercase: isUppercase)) { exit(8) }
                }
                if try ProcessMemory.contains(Self.row) { exit(9) }
                try writer.unlock(with: secrets.key)
            }
            try writer.lock()
            let wrong = try DatabaseKey.random()
            guard (try? writer.unlock(with: wrong)) == nil else { exit(10) }
            if try ProcessMemory.contains(derived) { exit(11) }
        }
    }

    /// Reads and sorts the rows in SQL, on all connections, inside of statements that stay in caches.
    private static func work(with writer: any LockableWriter) throws {
        try writer.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) \(insertion)
                    """)
            _ = try Int.fetchOne(db, sql: "SELECT sum(length(a)) FROM (SELECT a FROM t ORDER BY a DESC)")
            // Temporary pages, the tokens of a full-text index, and a large value.
            try db.execute(
                sql: """
                    CREATE TEMP TABLE IF NOT EXISTS copy (a);
                    CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(a);
                    CREATE TABLE IF NOT EXISTS large (a BLOB);
                    INSERT INTO copy SELECT a FROM t;
                    INSERT INTO words SELECT a FROM t LIMIT 50;
                    INSERT INTO large SELECT CAST(group_concat(a) AS BLOB) FROM t
                    """)
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM words WHERE words MATCH 'strongroom*'")
        }
        let sql = "SELECT count(*) FROM t WHERE a > (SELECT max(a) FROM t WHERE a < 'z') OR a LIKE '%F'"
        _ = try writer.read { db in try Int.fetchOne(db, sql: sql) }
        _ = try writer.read { db in try Int.fetchOne(db.cachedStatement(sql: sql)) }
        if let pool = writer as? DatabasePool {
            _ = try pool.makeSnapshot().read { db in try Int.fetchOne(db, sql: sql) }
        }
    }

    /// Derives the key as SQLCipher does, and masks it.
    private static func derivedKey(_ passphrase: MaskedBytes, _ path: String) throws -> MaskedBytes {
        let salt = try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).read(upToCount: 16) ?? Data()
        let secret = try SecretBytes(copying: passphrase.bytes)
        let derived = try pbkdf2(secret, salt: Array(salt), rounds: 1000, algorithm: .sha512, count: 32)
        return derived.withBytes { bytes in MaskedBytes(masked: bytes.map { $0 ^ 0x55 }, mask: 0x55) }
    }

    @Test("no passphrase of a slot, and no data key", arguments: LockableKind.allCases)
    func slots(kind: LockableKind) async {
        await #expect(processExitsWith: .success) { [kind = kind.rawValue as String] in
            let passphrase = MaskedBytes.random(48)
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
            func open() throws -> any LockableWriter {
                var configuration = Configuration()
                configuration.encryption = Encryption(key: .passphrase(passphrase.bytes))
                configuration.encryption?.keySlots.creating = NewKeySlot(label: "slot", derivation: .cheap)
                return try LockableKind(rawValue: kind)!.open(path, configuration)
            }
            let writer = try open()
            try writer.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            let dataKey = try writer.keySlots().withDataKeyAndSalt { bytes in
                MaskedBytes(masked: bytes.prefix(32).map { $0 ^ 0x55 }, mask: 0x55)
            }
            for _ in 0..<2 {
                _ = try writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                guard try ProcessMemory.contains(passphrase) else { exit(3) }
                guard try ProcessMemory.contains(dataKey) else { exit(4) }
                try writer.lock()
                if try ProcessMemory.contains(passphrase) { exit(5) }
                if try ProcessMemory.contains(dataKey) { exit(6) }
                for isUppercase in [true, false] {
                    if try ProcessMemory.contains(dataKey.digits(isUppercase: isUppercase)) { exit(7) }
                }
                try writer.unlock(with: .passphrase(passphrase.bytes))
            }
        }
    }

    @Test("no key, even if freed memory is not wiped", arguments: LockableKind.allCases)
    func keysByDefault(kind: LockableKind) async {
        await #expect(processExitsWith: .success) { [kind = kind.rawValue as String] in
            let key = MaskedBytes.random(32)
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
            func open() throws -> any LockableWriter {
                var configuration = Configuration()
                configuration.encryption = Encryption(key: try .rawKey(key.bytes))
                return try LockableKind(rawValue: kind)!.open(path, configuration)
            }
            let writer = try open()
            try writer.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            _ = try writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
            guard try ProcessMemory.contains(key) else { exit(3) }
            try writer.lock()
            if try ProcessMemory.contains(key) { exit(4) }
            for isUppercase in [true, false] {
                if try ProcessMemory.contains(key.digits(isUppercase: isUppercase)) { exit(5) }
            }
            try writer.unlock(with: .rawKey(key.bytes))
            _ = try writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        }
    }
}

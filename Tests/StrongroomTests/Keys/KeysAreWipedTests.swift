import Foundation
import Strongroom
import TestSupport
import Testing

/// Invariant 4: keys are short-lived. What is shown of them is the subject of the tests about keys and secrets.
@Suite("Keys are wiped", .enabled(if: ProcessMemory.isShown))
struct KeysAreWipedTests {
    @Test(
        "A database that is closed leaves its key nowhere in the memory of the process, neither as bytes nor as digits")
    func closedDatabase() async {
        await #expect(processExitsWith: .success) {
            let key = MaskedBytes.random(32)
            func work() throws {
                let folder = try TemporaryFolder()
                var configuration = Configuration()
                configuration.encryption = Encryption(key: try .rawKey(key.bytes))
                let pool = try DatabasePool(path: folder.path("db.sqlite"), configuration: configuration)
                try pool.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
                _ = try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
                // The search finds what is there.
                guard try ProcessMemory.contains(key) else { exit(3) }
                try pool.close()
            }
            try work()
            if try ProcessMemory.contains(key) { exit(4) }
            for isUppercase in [true, false] {
                if try ProcessMemory.contains(key.digits(isUppercase: isUppercase)) { exit(5) }
            }
        }
    }

    @Test("An open idle database holds no passphrase that a core dump would show")
    func coreDump() async throws {
        await #expect(processExitsWith: .success) {
            // Of what is freed, the allocator writes over the beginning; the search is for the end.
            let passphrase = MaskedBytes.random(4000), end = passphrase.suffix(32)
            let folder = try TemporaryFolder()
            var configuration = Configuration()
            configuration.encryption = Encryption(
                key: .passphrase(from: { Array(passphrase.bytes) }), settings: CipherSettings(kdfIterations: 1000))
            let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
            try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
            // The search finds what is there.
            guard try ProcessMemory.contains(end.asMasked, dumpableOnly: true) else { exit(3) }
            if try ProcessMemory.contains(end, dumpableOnly: true) { exit(4) }
            try queue.close()
        }
    }

    @Test("A key stands in no memory that a core dump would show")
    func secretMemory() async throws {
        await #expect(processExitsWith: .success) {
            let bytes = MaskedBytes.random(32)
            let key = try DatabaseKey.rawKey(bytes.bytes)
            guard try ProcessMemory.contains(bytes) else { exit(3) }
            if try ProcessMemory.contains(bytes, dumpableOnly: true) { exit(4) }
            withExtendedLifetime(key) {}
        }
    }

    @Test("A key of a store, loaded, made and changed, is nowhere in memory once the database is closed")
    func managedKey() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            func work() throws {
                let store = FileKeyStore(path: folder.path("key"))
                for _ in 0..<2 {
                    let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .managed(by: store))
                    try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a)") }
                    try queue.rotateKey(to: .managed(by: store))
                    try queue.close()
                }
            }
            try work()
            // Read one digit at a time, so that the search does not find what was read.
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.path("key")))
            var digits: [UInt8] = [], byte: UInt8 = 0
            while read(file.fileDescriptor, &byte, 1) == 1 { digits.append(byte ^ 0x55) }
            let text = MaskedBytes(masked: Array(digits[2..<66]), mask: 0x55)
            guard digits.count == 68 else { exit(3) }
            if try ProcessMemory.contains(text) { exit(4) }
            func nibble(_ digit: UInt8) -> UInt8 { digit ^ 0x55 < 58 ? (digit ^ 0x55) - 48 : (digit ^ 0x55) - 87 }
            let bytes = stride(from: 0, to: 64, by: 2).map { at in
                (nibble(text.masked[at]) << 4 | nibble(text.masked[at + 1])) ^ 0x55
            }
            if try ProcessMemory.contains(MaskedBytes(masked: bytes, mask: 0x55)) { exit(5) }
        }
    }

    @Test("A key is locked in memory, as far as the limits allow", .enabled(if: ProcessMemory.canBeLocked))
    func locked() async throws {
        await #expect(processExitsWith: .success) {
            let before = try ProcessMemory.lockedKilobytes()
            var keys = try (0..<4).map { _ in try DatabaseKey.random() }
            guard try ProcessMemory.lockedKilobytes() >= before + 16 else { exit(3) }
            keys = []
            guard try ProcessMemory.lockedKilobytes() <= before + 8, keys.isEmpty else { exit(4) }
        }
    }
}

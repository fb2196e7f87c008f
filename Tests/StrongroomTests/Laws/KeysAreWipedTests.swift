import Foundation
import Strongroom
import Testing

/// Law 4: keys are short-lived. What is shown of them is the subject of the tests about keys and secrets.
@Suite("Keys are wiped", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/mem")))
struct KeysAreWipedTests {
    @Test("A database that is closed leaves its key nowhere in the memory of the process, neither as bytes nor as digits")
    func closedDatabase() async {
        await #expect(processExitsWith: .success) {
            let key = MaskedKey()
            func work() throws {
                let folder = try TemporaryFolder()
                var configuration = Configuration()
                configuration.encryption = Encryption(key: try .rawKey(key.bytes))
                let pool = try DatabasePool(path: folder.path("db.sqlite"), configuration: configuration)
                try pool.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
                _ = try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
                // The search finds what is there.
                guard try ProcessMemory.contains(key.maskedBytes, mask: MaskedKey.mask) else { exit(3) }
                try pool.close()
            }
            try work()
            if try ProcessMemory.contains(key.maskedBytes, mask: MaskedKey.mask) { exit(4) }
            for isUppercase in [true, false] {
                if try ProcessMemory.contains(key.maskedDigits(isUppercase: isUppercase), mask: MaskedKey.mask) { exit(5) }
            }
        }
    }
}

/// A random key that stands nowhere in the open, so that the search does not find itself.
private struct MaskedKey {
    static let mask: UInt8 = 0x55
    let maskedBytes = (0..<32).map { _ in UInt8.random(in: 0...255) }

    var bytes: some Collection<UInt8> { maskedBytes.lazy.map { $0 ^ Self.mask } }

    func maskedDigits(isUppercase: Bool) -> [UInt8] {
        let letters = UInt8(ascii: isUppercase ? "A" : "a")
        return maskedBytes.flatMap { byte in
            [(byte ^ Self.mask) >> 4, (byte ^ Self.mask) & 15].map { ($0 < 10 ? UInt8(ascii: "0") + $0 : letters + $0 - 10) ^ Self.mask }
        }
    }
}

private enum ProcessMemory {
    /// Whether writable memory of this process contains the bytes that `masked` hides.
    static func contains(_ masked: [UInt8], mask: UInt8) throws -> Bool {
        let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/mem"))
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 1)
        defer {
            chunk.initializeMemory(as: UInt8.self, repeating: 0)
            chunk.deallocate()
        }
        let maps = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps")).readToEnd() ?? Data()
        for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            let bounds = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard words[1].hasPrefix("rw"), bounds.count == 2 else { continue }
            var start = bounds[0]
            while start < bounds[1] {
                // What is found in the chunk itself is a trace of the search.
                let length = min(chunk.count, Int(bounds[1] - start))
                let own = UInt64(UInt(bitPattern: chunk.baseAddress!))
                let isOwn = start < own + UInt64(chunk.count) && own < start + UInt64(length)
                if !isOwn {
                    let count = pread(memory.fileDescriptor, chunk.baseAddress!, length, off_t(start))
                    if count > 0, find(masked, mask, in: UnsafeRawBufferPointer(rebasing: chunk[..<count])) { return true }
                }
                start += UInt64(length) - (length == chunk.count ? UInt64(masked.count) : 0)
            }
        }
        return false
    }

    private static func find(_ masked: [UInt8], _ mask: UInt8, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= masked.count, let base = bytes.baseAddress else { return false }
        var from = 0
        while from <= bytes.count - masked.count, let hit = memchr(base + from, CInt(masked[0] ^ mask), bytes.count - from) {
            let index = UnsafeRawPointer(hit) - base
            if index <= bytes.count - masked.count, masked.indices.allSatisfy({ bytes[index + $0] ^ mask == masked[$0] }) { return true }
            from = index + 1
        }
        return false
    }
}

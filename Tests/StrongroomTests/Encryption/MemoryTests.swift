import Foundation
import Strongroom
import Testing

@Suite("The memory of a process", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/smaps")))
struct MemoryTests {
    @Test("with an open idle database holds no passphrase that a core dump would show")
    func coreDump() async throws {
        await #expect(processExitsWith: .success) {
            // Never in the open, so that the search doesn't find itself.
            let masked = (0..<24).map { _ in UInt8.random(in: 0...255) ^ 0x55 }
            let folder = try TemporaryFolder()
            var configuration = Configuration()
            configuration.encryption = Encryption(
                key: .passphrase(from: { masked.map { $0 ^ 0x55 } }), settings: CipherSettings(kdfIterations: 1000))
            let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
            try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
            guard try dumpableMemory(contains: masked) else { exit(3) }   // the search finds what is there
            if try dumpableMemory(contains: masked, under: 0x55) { exit(4) }
            try queue.close()
        }
    }
}

/// Whether the pages that a core dump of this process would have contain `needle`, each byte of which is masked.
private func dumpableMemory(contains masked: [UInt8], under mask: UInt8 = 0) throws -> Bool {
    let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/mem"))
    var range: (start: UInt64, end: UInt64)?
    for line in try String(contentsOfFile: "/proc/self/smaps", encoding: .utf8).split(separator: "\n") {
        let words = line.split(separator: " ")
        let bounds = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
        if bounds.count == 2 {
            range = words[1].hasPrefix("rw") ? (bounds[0], bounds[1]) : nil
        } else if words[0] == "VmFlags:", let found = range, !words.contains("dd"), !words.contains("io") {
            if try search(memory, found.start, found.end, masked, mask) { return true }
        }
    }
    return false
}

private func search(_ memory: FileHandle, _ start: UInt64, _ end: UInt64, _ masked: [UInt8], _ mask: UInt8) throws -> Bool {
    let chunk = 1 << 20
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: chunk)
    defer {
        bytes.update(repeating: 0, count: chunk)
        bytes.deallocate()
    }
    var at = start
    while at < end {
        let count = pread(memory.fileDescriptor, bytes, min(chunk, Int(end - at)), off_t(at))
        guard count > masked.count else { return false }
        let first = masked[0] ^ mask
        var from = 0
        while from <= count - masked.count, let hit = memchr(bytes + from, CInt(first), count - from) {
            let index = hit.assumingMemoryBound(to: UInt8.self) - bytes
            if index <= count - masked.count, (0..<masked.count).allSatisfy({ bytes[index + $0] ^ mask == masked[$0] }) { return true }
            from = index + 1
        }
        at += UInt64(count - masked.count + 1)
    }
    return false
}

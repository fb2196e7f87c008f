import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A backup as a stream")
struct BackupStreamTests {
    private let scratch: TemporaryFolder
    private static let name = "notes.db"
    private let encryption = Encryption(
        key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000),
        plaintextHeader: PlaintextHeader())

    init() throws { scratch = try TemporaryFolder() }

    private func write(_ name: String = name) throws -> [UInt8] {
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.encryption?.keySlots.creating = NewKeySlot(
            label: "owner", derivation: .scrypt(logN: 14, r: 8, p: 1))
        let queue = try DatabaseQueue(path: scratch.path(name), configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE note(text); INSERT INTO note VALUES ('kept')") }
        try queue.close()
        var stream: [UInt8] = []
        try BackupStream.write(scratch.path(name), encryption: encryption, by: scratch.path) { stream += $0 }
        return stream
    }

    /// Unpacks bytes that come in odd portions.
    private func unpack(_ stream: [UInt8]) throws -> UnpackedBackup {
        var rest = stream[...], portion = 1
        return try BackupStream.unpack(beside: scratch.path("target")) { room in
            portion = portion % 7919 + 1
            let part = rest.prefix(min(room.count, portion))
            room.copyBytes(from: part)
            rest = rest.dropFirst(part.count)
            return part.count
        }
    }

    @Test(
        "opens again after it was unpacked into a folder of its owner's only",
        arguments: [
            name, String(repeating: "n", count: 230), "notés.db", "-f *.db",
            // A header has room for 100 bytes: half of the last letter.
            "n" + String(repeating: "é", count: 110), "\u{301}notes.db", "notes.db\r", "\u{301}\r",
        ])
    func roundTrip(name: String) throws {
        let unpacked = try unpack(write(name))
        #expect(NamedFile.name(of: unpacked.path) == name)
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.readonly = true
        let queue = try DatabaseQueue(path: unpacked.path, configuration: configuration)
        #expect(try queue.read { try String.fetchOne($0, sql: "SELECT text FROM note") } == "kept")
        try queue.close()
        let folder = NamedFile.folder(of: unpacked.path)
        let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        #expect(NamedFile.folder(of: folder) == scratch.path)
        unpacked.remove()
        #expect(try scratch.names() == [name, name + "-keys", name + "-salt"].sorted())
    }

    @Test("is an archive that tar lists and unpacks, with the database last")
    func tar() throws {
        let long = String(repeating: "n", count: 200), other = "n" + String(repeating: "x", count: 98) + "é-long"
        for name in [Self.name, long, other] {
            try scratch.write(write(name), to: "stream.tar")
            let listed = try run("tar", "--quoting-style=literal", "-tf", scratch.path("stream.tar"))
            #expect(listed == ["strongroom-backup", name + "-salt", name + "-keys", name])
            try FileManager.default.createDirectory(atPath: scratch.path("by tar"), withIntermediateDirectories: true)
            #expect(try run("tar", "-C", scratch.path("by tar"), "-xf", scratch.path("stream.tar")) == [])
            let record = try #require(BackupRecord.read(in: scratch.path("by tar")))
            for file in record.files {
                let digest = try run("sha256sum", scratch.path("by tar/") + file.name)[0].prefix(64)
                #expect(digest == file.digest)
            }
        }
    }

    private func run(_ words: String...) throws -> [String] {
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        (process.arguments, process.standardOutput, process.standardError) = (words, pipe, pipe)
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("that ends too early is refused, wherever it ends, and leaves nothing")
    func truncated() throws {
        let stream = try write(), before = try scratch.names()
        // The zeros at the end of an archive say nothing: all but the first block of them.
        let whole = stream.lastIndex { $0 != 0 }! / 512 * 512 + 1024
        for count in stride(from: 0, to: whole, by: 307) {
            let error = #expect(throws: DatabaseError.self, "\(count)") { try unpack(Array(stream.prefix(count))) }
            #expect(error?.reason == .unfitBackup && error?.resultCode == .SQLITE_CORRUPT)
        }
        #expect(try scratch.names() == before)
    }

    @Test("with a changed byte is refused, or unpacks to what was written")
    func changed() throws {
        let stream = try write(), before = try scratch.names()
        var random = SeededGenerator(seed: 5), refused = 0
        for _ in 0..<300 {
            var other = stream
            other[Int.random(in: 0..<stream.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            do {
                let unpacked = try unpack(other)
                for file in unpacked.record.files {
                    let path = NamedFile.folder(of: unpacked.path) + "/" + file.name
                    #expect(try BackupContent(path).file() == file)
                }
                unpacked.remove()
            } catch let error as DatabaseError {
                #expect(error.reason == .unfitBackup, "\(error)")
                refused += 1
            }
        }
        #expect(refused > 150)
        #expect(try scratch.names() == before)
    }

    @Test("that is another archive, or none, is refused")
    func others() throws {
        try scratch.write(Data("text".utf8), to: "file")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path("strongroom-backup"), withDestinationPath: "/etc/passwd")
        _ = try run("tar", "-C", scratch.path, "-cf", scratch.path("other.tar"), "file")
        _ = try run("tar", "-C", scratch.path, "-cf", scratch.path("link.tar"), "strongroom-backup")
        let streams = try [scratch.bytes("other.tar"), scratch.bytes("link.tar"), Data(), Data(count: 100_000)]
        for stream in streams {
            let error = #expect(throws: DatabaseError.self) { try unpack(Array(stream)) }
            #expect(error?.reason == .unfitBackup)
        }
    }

    @Test("has a header with the size of a file of more than 8 GiB")
    func large() throws {
        let header = TarHeader(name: String(repeating: "é", count: 80), size: 1 << 40)
        let blocks = header.blocks
        #expect(blocks.count % 512 == 0 && blocks.count == 1536)
        let head = try #require(TarHeader(block: Array(blocks.prefix(512))))
        #expect(head.kind == TarHeader.extended)
        var last = try #require(TarHeader(block: Array(blocks.suffix(512))))
        let isRead = last.apply(records: Array(blocks[512..<(512 + Int(head.size))]))
        #expect(isRead)
        #expect(last == header)
    }
}

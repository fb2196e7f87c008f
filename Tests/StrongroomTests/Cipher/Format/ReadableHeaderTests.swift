import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Nothing authenticates the readable bytes of page 1, and SQLite uses them.
@Suite("A plaintext header that was changed")
struct ReadableHeaderTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
    }

    private func configuration(_ settings: CipherSettings = .sqlcipher4, header: Int) throws -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: try .rawKey(Data(repeating: 1, count: 32)), settings: settings,
            plaintextHeader: PlaintextHeader(size: header))
        return configuration
    }

    private func create(_ settings: CipherSettings = .sqlcipher4, header: Int) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration(settings, header: header))
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
        try queue.close()
    }

    /// The length of the header, the bytes that replace those at an offset, and a part of the message.
    static let changes: [(header: Int, offset: Int, bytes: [UInt8], words: String)] = [
        (32, 16, [0, 0], "its page size is 0 bytes, that of the settings 4096"),
        (32, 16, [0x20, 0], "its page size is 8192 bytes, that of the settings 4096"),
        (32, 16, [0x12, 0x34], "its page size is 4660 bytes"),
        (32, 18, [3], "an unknown version"), (32, 18, [0], "an unknown version"), (32, 19, [3], "an unknown version"),
        (32, 20, [0], "reserves 0 bytes in each page, the settings require 80"), (32, 20, [48], "reserves 48 bytes"),
        (32, 21, [65], "payload fractions"), (32, 23, [0], "payload fractions"),
        (48, 47, [5], "schema format"), (64, 59, [4], "text encoding"), (64, 56, [1], "text encoding"),
        (96, 80, [1], "reserved bytes are not zero"),
    ]

    @Test(
        "contradicts the settings, which is an error and no matter of keys; the file stays as it was",
        arguments: 0..<changes.count)
    func contradiction(_ index: Int) throws {
        let change = Self.changes[index]
        try create(header: change.header)
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        let offset = change.offset
        file.replaceSubrange(offset..<offset + change.bytes.count, with: change.bytes)
        try file.write(to: URL(fileURLWithPath: path))
        for readonly in [true, false] {
            var configuration = try configuration(header: change.header)
            configuration.readonly = readonly
            let error = #expect(throws: DatabaseError.self) {
                try DatabaseQueue(path: path, configuration: configuration)
            }
            #expect(error?.resultCode == .SQLITE_NOTADB && error?.isWrongKeyError == false)
            #expect(error?.reason == .contradictoryHeader)
            #expect(error?.failureReason?.contains(change.words) == true, "\(error?.failureReason ?? "")")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == file)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "db.sqlite", "db.sqlite-salt",
            ])
    }

    @Test("shows no page size that is none")
    func inspection() throws {
        try create(header: 32)
        let file = try Data(contentsOf: URL(fileURLWithPath: path))
        let sizes: [([UInt8], Int?)] = [
            ([0, 0], nil), ([0x12, 0x34], nil), ([1, 0], nil), ([0, 1], 65536), ([0x10, 0], 4096),
        ]
        for (bytes, size) in sizes {
            var changed = file
            changed.replaceSubrange(16..<18, with: bytes)
            try changed.write(to: URL(fileURLWithPath: path))
            #expect(try DatabaseFile.inspect(path: path).pageSize == size)
        }
    }

    @Test(
        "and one that was not: each format opens with its settings",
        arguments: [
            CipherSettings.sqlcipher4, .sqlcipher3, .sqlcipher2, CipherSettings(pageSize: 65536),
            CipherSettings(pageSize: 1024, hmacAlgorithm: .sha256), CipherSettings(hmacAlgorithm: nil),
        ], [32, 48, 64, 96])
    func formats(_ settings: CipherSettings, header: Int) throws {
        try create(settings, header: header)
        for _ in 0..<2 {
            let queue = try DatabaseQueue(path: path, configuration: configuration(settings, header: header))
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 7)
            try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = wal") }
            try queue.close()
        }
    }
}

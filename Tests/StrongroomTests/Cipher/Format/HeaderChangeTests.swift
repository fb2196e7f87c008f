import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// At every instant one key opens the database, from its files alone.
@Suite("A change of the plaintext header")
struct HeaderChangeTests {
    private typealias End = RotationEndTests

    private let encryption = Encryption(key: .passphrase("secret"), settings: RotationEndTests.settings)

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.encryption = encryption
        return configuration
    }

    private func create(_ path: String, _ size: Int?, journalMode: String = "delete") throws {
        try End.create(
            path, End.configuration(encryption.key, size.map { PlaintextHeader(size: $0) }), journalMode: journalMode
        ).close()
    }

    private func headerSize(_ path: String) throws -> Int {
        try DatabaseFile.details(path: path, encryption: encryption).plaintextHeaderSize
    }

    @Test("goes on where an earlier one was killed at its first write", arguments: ["", "Strongroom salt 1\nsalt 0"])
    func rerun(_ beginning: String) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path, nil)
        try Data(beginning.utf8).write(to: URL(fileURLWithPath: path + "-salt"))
        try DatabaseFile.setPlaintextHeader(PlaintextHeader(), path: path, encryption: encryption)
        #expect(try headerSize(path) == 32)
        #expect(try End.count(path, configuration) == 30)
    }

    private static let changes: [(Int?, Int?)] = [(32, 64), (64, 32), (nil, 32), (48, nil)]

    @Test("from one size to another opens with the key alone", arguments: Self.changes, ["wal", "delete"])
    func sizes(_ sizes: (Int?, Int?), journalMode: String) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path, sizes.0, journalMode: journalMode)
        try DatabaseFile.setPlaintextHeader(
            sizes.1.map { PlaintextHeader(size: $0) }, path: path, encryption: encryption)
        #expect(try headerSize(path) == sizes.1 ?? 0)
        #expect(try End.count(path, configuration) == 30)
        #expect(FileManager.default.fileExists(atPath: path + "-salt") == (sizes.1 != nil))
        #expect(!FileManager.default.fileExists(atPath: path + "-salt-next"))
    }

    @Test("that is refused or cancelled keeps the write-ahead log", arguments: [true, false])
    func refusal(isCancelled: Bool) async throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path, nil, journalMode: "wal")
        let salt = PlaintextHeader(size: 32, salt: .provided([UInt8](repeating: 1, count: 16)))
        let header = isCancelled ? PlaintextHeader() : salt, encryption = encryption
        let change = Task {
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            try DatabaseFile.setPlaintextHeader(header, path: path, encryption: encryption)
        }
        await #expect(throws: (any Error).self) { try await change.value }
        #expect(try headerSize(path) == 0)
        #expect(!FileManager.default.fileExists(atPath: path + "-salt"))
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try await queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
    }

    @Test("that fails at the first page keeps the write-ahead log")
    func failure() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path, nil, journalMode: "wal")
        // The salt can't be written beside it.
        try FileManager.default.createDirectory(atPath: path + "-salt", withIntermediateDirectories: false)
        #expect(throws: DatabaseError.self) {
            try DatabaseFile.setPlaintextHeader(PlaintextHeader(), path: path, encryption: encryption)
        }
        try FileManager.default.removeItem(atPath: path + "-salt")
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
    }

    @Test(
        "while another connection reads is busy, and the database opens as before",
        arguments: [(32, 64), (nil, 32)] as [(Int?, Int?)], ["wal", "delete"])
    func busy(_ sizes: (Int?, Int?), journalMode: String) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path, sizes.0, journalMode: journalMode)
        let reader = try DatabaseQueue(path: path, configuration: configuration)
        try reader.read { db in
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
            let error = #expect(throws: DatabaseError.self) {
                try DatabaseFile.setPlaintextHeader(
                    sizes.1.map { PlaintextHeader(size: $0) }, path: path, encryption: encryption)
            }
            #expect(error?.resultCode == .SQLITE_BUSY)
            let count = try End.count(path, configuration)
            #expect(count == 30)
        }
        try reader.close()
        #expect(try headerSize(path) == sizes.0 ?? 0)
        #expect(FileManager.default.fileExists(atPath: path + "-salt") == (sizes.0 != nil))
        #expect(try End.count(path, configuration) == 30)
        #expect(!FileManager.default.fileExists(atPath: path + "-salt-next"))
    }

    @Test(
        "that fails or is killed at any operation leaves one header that opens",
        arguments: [(32, 64, "wal"), (32, 64, "delete"), (64, 32, "delete"), (nil, 32, "delete"), (48, nil, "delete")]
            as [(Int?, Int?, String)])
    func everyOperation(_ sizes: (Int?, Int?, String)) throws {
        strongroom_faults_install()
        let folder = try TemporaryFolder()
        var failures = 0
        for operation in 0..<Int64(60) {
            let path = folder.path("\(operation).sqlite")
            try create(path, sizes.0, journalMode: sizes.2)
            let hits = strongroom_faults_hits()
            strongroom_faults_set(path, STRONGROOM_FAULT_CHANGE, operation)
            let result = Result {
                try DatabaseFile.setPlaintextHeader(
                    sizes.1.map { PlaintextHeader(size: $0) }, path: path, encryption: encryption)
            }
            strongroom_faults_clear(path)
            let crashed = try End.copy(
                path, ["", "-wal", "-journal", "-salt", "-salt-next"], into: folder.path("crashed-\(operation)"))
            for file in [crashed, path] {
                #expect(try End.count(file, configuration) == 30, "operation \(operation): \(result)")
                #expect(
                    !FileManager.default.fileExists(atPath: file + "-salt-next"), "operation \(operation): \(result)")
            }
            if case .failure = result { failures += 1 }
            if strongroom_faults_hits() == hits { break }
        }
        #expect(failures > 2)
    }

    @Test(
        "that a size of zero, or of no page, stands in is no reason to stop",
        arguments: [(0, 0), (3, 0), (0, 2), (255, 255), (1, 0)] as [(UInt8, UInt8)])
    func shownPageSize(_ bytes: (UInt8, UInt8)) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path, 32)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 16)
        try file.write(contentsOf: [bytes.0, bytes.1])
        try file.close()
        #expect(try DatabaseFile.inspect(path: path).pageSize == nil)
        let error = #expect(throws: DatabaseError.self) { try End.count(path, configuration) }
        #expect(error?.reason == .contradictoryHeader)
    }

    @Test("with a log that refers to missing pages is detected by a check")
    func impossibleSize() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let queue = try End.create(path, End.configuration(encryption.key, PlaintextHeader()), journalMode: "wal")
        let copied = try End.copy(path, ["", "-wal", "-salt"], into: folder.path("copy"))
        try queue.close()
        var forgery = try LogForgery(copied + "-wal", pageSize: 4096)
        try forgery.tell(pageCount: 0xFFFF_FF00)
        let bad = try Database(path: copied, description: "forged", configuration: configuration).withSoleAccess { db in
            try db.setUp()
            #expect(try db.pageCount == 0xFFFF_FF00)
            return try PageAuthentication(db).badPages()
        }
        #expect((1..<500).contains(bad.count))
    }
}

/// Changes what a write-ahead log and the readable header of page 1 in it say of the size, checksums included.
/// <https://www.sqlite.org/walformat.html>
private struct LogForgery {
    private let path: String
    private var bytes: [UInt8]
    private let frameSize: Int

    init(_ path: String, pageSize: Int) throws {
        self.path = path
        bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        frameSize = pageSize + 24
    }

    mutating func tell(pageCount: UInt32) throws {
        var sums = (number(at: 24), number(at: 28))
        for frame in stride(from: 32, to: bytes.count, by: frameSize) {
            if number(at: frame) == 1 { put(pageCount, at: frame + 24 + 28) }
            if number(at: frame + 4) != 0 { put(pageCount, at: frame + 4) }
            for at in [frame] + stride(from: frame + 24, to: frame + frameSize, by: 8) {
                sums.0 &+= word(at: at) &+ sums.1
                sums.1 &+= word(at: at + 4) &+ sums.0
            }
            put(sums.0, at: frame + 16)
            put(sums.1, at: frame + 20)
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    private func number(at offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }

    /// Sums are of words in the order that the magic number of the log tells.
    private func word(at offset: Int) -> UInt32 {
        number(at: 0) & 1 == 1 ? number(at: offset) : number(at: offset).byteSwapped
    }

    private mutating func put(_ value: UInt32, at offset: Int) {
        for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32(index))) }
    }
}

import Foundation
import Strongroom
import TestSupport
import Testing

/// A power cut in the first transaction leaves pages in pieces, and a journal that says that there was none before.
@Suite("A database whose creation was cut off")
struct CutCreationTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
        try Data((0..<8192).map { _ in UInt8.random(in: 0...255) }).write(to: URL(fileURLWithPath: path))
        try journal(pages: 0).write(to: URL(fileURLWithPath: path + "-journal"))
    }

    /// The header of a journal that was synced before the database was written.
    /// <https://www.sqlite.org/fileformat.html#the_rollback_journal>
    private func journal(pages: UInt8) -> Data {
        let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        let rest: [UInt8] = [0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, pages, 0, 0, 2, 0, 0, 0, 16, 0]
        return Data(magic + rest) + Data(count: 512 - magic.count - rest.count)
    }

    private func encrypted(_ header: PlaintextHeader?) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000), plaintextHeader: header)
        return configuration
    }

    @Test("is created again, in any format", arguments: [nil, PlaintextHeader()])
    func again(header: PlaintextHeader?) throws {
        var configuration = encrypted(header)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try queue.close()
        configuration.encryption?.plaintextHeader = nil
        let opened = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try opened.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(try opened.checkIntegrity().isIntact)
    }

    /// Gives the lost page a size of pages of 4096 bytes, a reserve, and full vacuum.
    private func writeFormat() throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes.replaceSubrange(16..<18, with: [0x10, 0])
        (bytes[20], bytes[52]) = (171, 1)
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    @Test("gives the next one no format", arguments: [nil, PlaintextHeader(), PlaintextHeader(size: 80)])
    func format(header: PlaintextHeader?) throws {
        try writeFormat()
        let configuration = encrypted(header)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try queue.close()
        if header != nil { #expect(try Data(contentsOf: URL(fileURLWithPath: path))[20] == 80) }
        let opened = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try opened.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(try opened.checkIntegrity().isIntact)
    }

    @Test("gives the next one no format in clear text")
    func clearFormat() throws {
        try writeFormat()
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") } == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path))[20] == 0)
    }

    @Test("gives an attached database no format")
    func attachedFormat() throws {
        try writeFormat()
        let queue = try DatabaseQueue(path: folder.path("main.sqlite"), configuration: encrypted(nil))
        try queue.inDatabase { db in
            try db.attach(path: path, as: "other", encryption: encrypted(PlaintextHeader()).encryption)
            try db.execute(sql: "CREATE TABLE other.t(a)")
        }
        try queue.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path))[20] == 80)
    }

    @Test("is waited for while it goes on", arguments: ["COMMIT", "ROLLBACK"])
    func goesOn(end: String) throws {
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.removeItem(atPath: path + "-journal")
        var configuration = encrypted(nil)
        configuration.allowsUnsafeTransactions = true
        let creator = try DatabaseQueue(path: path, configuration: configuration)
        try creator.inDatabase { db in
            // The row doesn't fit the cache: SQLite writes pages before the commit, and excludes readers.
            try db.execute(
                sql: "PRAGMA cache_size = 5; BEGIN; CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(99999))")
        }
        try #require(try Data(contentsOf: URL(fileURLWithPath: path)).count > 4096)
        configuration.busyMode = .callback { count in
            if count == 0 { try? creator.inDatabase { try $0.execute(sql: end) } }
            return count < 9
        }
        let opened = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try opened.read { try $0.tableExists("t") } == (end == "COMMIT"))
        try opened.write { try $0.execute(sql: "CREATE TABLE u(a)") }
        #expect(try creator.read { try $0.tableExists("u") })
    }

    @Test("is created again with key slots")
    func keySlots() throws {
        let queue = try DatabaseQueue(path: path, configuration: .slots("first", creating: true))
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try queue.close()
        let opened = try DatabaseQueue(path: path, configuration: .slots("first"))
        #expect(try opened.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }

    @Test("is not taken for one whose journal has pages to bring back: no file changes under a wrong key")
    func otherJournal() throws {
        try journal(pages: 2).write(to: URL(fileURLWithPath: path + "-journal"))
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: .encrypted()) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }
}

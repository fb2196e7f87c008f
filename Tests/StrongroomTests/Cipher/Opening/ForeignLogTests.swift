import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A log that is not that of the database beside it")
struct ForeignLogTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db")
    }

    private func configuration(_ digit: UInt8, pageSize: Int = 4096) throws -> Configuration {
        var configuration = Configuration()
        var settings = CipherSettings.sqlcipher4
        settings.pageSize = pageSize
        configuration.encryption = Encryption(
            key: try .rawKey([UInt8](repeating: digit, count: 32)), settings: settings)
        return configuration
    }

    /// Makes a database of which only the transactions after the first one are in the log.
    private func make(_ path: String, _ configuration: Configuration, onlyRows: Bool) throws {
        let queue = try DatabaseQueue(path: path + ".open", configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = wal") }
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(20000))")
        }
        if onlyRows { _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
        try queue.write { try $0.execute(sql: "UPDATE t SET a = randomblob(20000)") }
        for ending in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + ".open" + ending, toPath: path + ending)
        }
        try queue.close()
    }

    /// Expects that each kind of opening reports the log, and changes no file.
    private func expectRefusals(_ own: Configuration) throws {
        let before = try folder.contents(".")
        var readonly = own
        readonly.readonly = true
        let openings: [() throws -> Void] = [
            { _ = try DatabaseQueue(path: path, configuration: own) },
            { _ = try DatabasePool(path: path, configuration: own) },
            { _ = try DatabaseQueue(path: path, configuration: readonly) },
            { _ = try DatabaseFile.details(path: path, encryption: own.encryption) },
            { _ = try DatabaseFile.check(path: path, encryption: own.encryption) { _ in } },
        ]
        for opening in openings {
            let error = #expect(throws: DatabaseError.self) { try opening() }
            #expect(error?.reason == .foreignLog, "\(error as Any)")
            #expect(error?.isWrongKeyError == false)
            for ending in ["", "-wal"] {
                #expect(FileManager.default.contents(atPath: path + ending) == before["db" + ending])
            }
        }
    }

    @Test(
        "is reported as such, and neither applied nor changed, for each kind of opening", arguments: [true, false],
        [4096, 1024])
    func foreign(onlyRows: Bool, pageSize: Int) throws {
        let own = try configuration(1)
        let queue = try DatabaseQueue(path: path, configuration: own)
        try queue.write { try $0.execute(sql: "CREATE TABLE own(a); INSERT INTO own VALUES (1)") }
        try queue.close()
        try make(folder.path("other"), configuration(2, pageSize: pageSize), onlyRows: onlyRows)
        try FileManager.default.moveItem(atPath: folder.path("other-wal"), toPath: path + "-wal")
        try expectRefusals(own)
        // As the message advises.
        for ending in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + ending) }
        let again = try DatabaseQueue(path: path, configuration: own)
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT a FROM own") } == 1)
        try again.close()
    }

    @Test(
        "is reported as such although the other database has the same key, and another salt", arguments: [true, false],
        [true, false])
    func sameKey(isPassphrase: Bool, onlyRows: Bool) throws {
        var own = try configuration(1)
        if isPassphrase {
            own.encryption = Encryption(key: .passphrase("same"), settings: CipherSettings(kdfIterations: 1000))
        }
        let queue = try DatabaseQueue(path: path, configuration: own)
        try queue.write { try $0.execute(sql: "CREATE TABLE own(a); INSERT INTO own VALUES (1)") }
        try queue.close()
        try make(folder.path("other"), own, onlyRows: onlyRows)
        try FileManager.default.moveItem(atPath: folder.path("other-wal"), toPath: path + "-wal")
        try expectRefusals(own)
        #expect(!FileManager.default.fileExists(atPath: path + "-salt-next"))
        // What is left of the database is all of it, and the report names the log.
        let report = try DatabaseFile.salvage(
            path: path, to: folder.path("saved"), encryption: own.encryption!)
        #expect(report.hasForeignLog && !report.isComplete)
        #expect(report.tables.map(\.name) == ["own"] && report.tables[0].saved == 1 && report.damagedPages.isEmpty)
    }

    @Test("is not the database's own log, whatever of it was cut off", arguments: [true, false])
    func own(onlyRows: Bool) throws {
        let own = try configuration(1)
        try make(path, own, onlyRows: onlyRows)
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        for length in stride(from: 0, through: log.count, by: 3000) {
            try log.prefix(length).write(to: URL(fileURLWithPath: path + "-wal"))
            try? FileManager.default.removeItem(atPath: path + "-shm")
            let copy = folder.path("copy")
            for ending in ["", "-wal"] {
                try? FileManager.default.removeItem(atPath: copy + ending)
                try FileManager.default.copyItem(atPath: path + ending, toPath: copy + ending)
            }
            let queue = try DatabaseQueue(path: copy, configuration: own)
            if onlyRows { #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1) }
            try queue.close()
        }
    }

    @Test("with a torn first transaction is ignored, as SQLite does")
    func torn() throws {
        let own = try configuration(1)
        try make(path, own, onlyRows: true)
        var log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        for at in stride(from: 32 + 24 + 100, to: log.count, by: 4096 + 24) { log[at] ^= 1 }
        try log.write(to: URL(fileURLWithPath: path + "-wal"))
        let queue = try DatabaseQueue(path: path, configuration: own)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
        try queue.close()
    }
}

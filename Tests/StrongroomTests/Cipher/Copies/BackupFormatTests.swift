import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A backup into a database of another format")
struct BackupFormatTests {
    enum Format: String, CaseIterable, CustomTestStringConvertible {
        case standard, sqlcipher3, largePages, withoutHMAC, smallReserve, header

        var testDescription: String { rawValue }

        var encryption: Encryption {
            var encryption = Encryption(
                key: .passphrase("key of \(rawValue)"), settings: CipherSettings(kdfIterations: 1000))
            switch self {
            case .standard: break
            case .sqlcipher3: encryption.settings = .sqlcipher3
            case .largePages: encryption.settings.pageSize = 8192
            case .withoutHMAC: encryption.settings.hmacAlgorithm = nil
            case .smallReserve: encryption.settings.hmacAlgorithm = .sha256
            case .header: encryption.plaintextHeader = PlaintextHeader()
            }
            return encryption
        }

        var configuration: Configuration {
            var configuration = Configuration()
            configuration.encryption = encryption
            return configuration
        }
    }

    private func fill(_ writer: any DatabaseWriter, _ text: String = "a secret of the source") throws {
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE t(a TEXT); CREATE INDEX i ON t(a)")
            for number in 0..<500 { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: ["\(text) \(number)"]) }
            try db.execute(sql: "PRAGMA user_version = 5")
        }
    }

    @Test("opens as the destination does, and holds nothing in clear", arguments: Format.allCases, Format.allCases)
    func all(source: Format, destination: Format) throws {
        let folder = try TemporaryFolder(), path = folder.path("destination")
        let from = try DatabasePool(path: folder.path("source"), configuration: source.configuration)
        try fill(from)
        for isNew in [true, false] {
            let to = try DatabaseQueue(path: path, configuration: destination.configuration)
            var steps = 0
            try from.backup(to: to, pagesPerStep: 3) { _ in steps += 1 }
            #expect(steps > 1)
            #expect(try to.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 500)
            // Later writes of the destination fit, too.
            try to.write { try $0.execute(sql: isNew ? "CREATE TABLE other(a)" : "DELETE FROM t WHERE rowid > 250") }
            try to.close()
        }
        let to = try DatabaseQueue(path: path, configuration: destination.configuration)
        #expect(try to.checkIntegrity().isIntact)
        #expect(try to.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 5)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes.range(of: Data("a secret of the source".utf8)) == nil)
    }

    @Test(
        "that is stopped leaves the destination as it was",
        arguments: ["at the first step", "in the middle", "before the last page"])
    func stopped(moment: String) throws {
        let folder = try TemporaryFolder()
        let from = try DatabaseQueue(path: folder.path("source"), configuration: Format.sqlcipher3.configuration)
        let to = try DatabaseQueue(path: folder.path("destination"), configuration: Format.standard.configuration)
        try fill(from)
        try to.write { try $0.execute(sql: "CREATE TABLE old(a); INSERT INTO old VALUES (7)") }
        var all = 0, seen = 0
        try from.backup(
            to: DatabaseQueue(path: folder.path("whole"), configuration: Format.standard.configuration), pagesPerStep: 1
        ) { state in
            if !state.isCompleted { all += 1 }
        }
        #expect(all > 5)
        let last = ["at the first step": 1, "in the middle": all / 2, "before the last page": all][moment]
        #expect(throws: CancellationError.self) {
            try from.backup(to: to, pagesPerStep: 1) { _ in
                seen += 1
                if seen == last { throw CancellationError() }
            }
        }
        #expect(try to.read { try Int.fetchOne($0, sql: "SELECT a FROM old") } == 7)
        #expect(try to.read { try $0.tableExists("t") } == false)
        #expect(try to.checkIntegrity().isIntact)
    }

    @Test("works from and to memory", arguments: [Format.sqlcipher3, .withoutHMAC])
    func memory(format: Format) throws {
        let folder = try TemporaryFolder()
        let from = try DatabaseQueue(configuration: format.configuration)
        try fill(from)
        let to = try DatabaseQueue(path: folder.path("destination"), configuration: Format.standard.configuration)
        try from.backup(to: to)
        #expect(try to.checkIntegrity().isIntact)
        let back = try DatabaseQueue(configuration: format.configuration)
        try to.backup(to: back)
        #expect(try back.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 500)
    }

    @Test("takes no more than the mode of the source", arguments: [Format.standard, .sqlcipher3])
    func mode(destination: Format) throws {
        let folder = try TemporaryFolder()
        let from = try DatabaseQueue(path: folder.path("source"), configuration: Format.standard.configuration)
        try fill(from)
        chmod(folder.path("source"), 0o600)
        let to = try DatabasePool(path: folder.path("destination"), configuration: destination.configuration)
        try from.backup(to: to)
        #expect(permissions(of: folder.path("destination")) == 0o600)
        #expect(permissions(of: folder.path("destination-wal")) == 0o600)
    }
}

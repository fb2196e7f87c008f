import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// A database before a restore, or the backup of one.
enum RestoredKind: String, CaseIterable, CustomTestStringConvertible, Codable, Sendable {
    case plain, log = "with a log that was left", slots, header

    var testDescription: String { rawValue }

    static let pairs = allCases.flatMap { former in allCases.map { (former, $0) } }

    var configuration: Configuration {
        var configuration = Configuration()
        let settings = CipherSettings(kdfIterations: 1000)
        configuration.encryption = Encryption(key: .passphrase("first"), settings: settings)
        if self == .slots {
            configuration.encryption?.keySlots.creating = NewKeySlot(label: "a", derivation: .cheap)
        }
        if self == .header { configuration.encryption?.plaintextHeader = PlaintextHeader() }
        return configuration
    }

    /// The encryption that opens each kind.
    static var encryption: Encryption { RestoredKind.plain.configuration.encryption! }

    /// Makes a database with a table that has the value in many rows. `log` leaves half of them in its log.
    func make(_ path: String, _ value: Int) throws {
        let isLeft = self == .log, made = isLeft ? path + ".open" : path
        let queue = try DatabaseQueue(path: made, configuration: configuration)
        if isLeft { try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = wal") } }
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a, b)") }
        if isLeft { _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
        try queue.write { db in
            for _ in 1...20 { try db.execute(sql: "INSERT INTO t VALUES (?, randomblob(400))", arguments: [value]) }
        }
        if isLeft {
            for ending in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: made + ending, toPath: path + ending)
            }
        }
        try queue.close()
        if isLeft { try FileManager.default.removeItem(atPath: made) }
    }

    /// Returns the value in all rows, if they are there and authentic. Nil if there is no table.
    static func value(_ path: String, readonly: Bool = false) throws -> Int? {
        var configuration = RestoredKind.plain.configuration
        configuration.readonly = readonly
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        guard try queue.read({ try $0.tableExists("t") }) else { return nil }
        let found = try queue.read { try Row.fetchAll($0, sql: "SELECT a, count(*) AS n FROM t GROUP BY a") }
        guard found.count == 1, found[0]["n"] == 20, try queue.checkIntegrity().isIntact else {
            throw DatabaseError(message: "\(path): \(found)")
        }
        return found[0]["a"]
    }

    static func names(_ folder: String) throws -> Set<String> {
        try Set(FileManager.default.contentsOfDirectory(atPath: folder))
    }
}

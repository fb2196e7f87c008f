import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("The size of pages")
struct PageSizeTests {
    /// Ways to say that pages have 8192 bytes.
    enum Spelling: String, CaseIterable, CustomTestStringConvertible {
        case settings, cipherPragma, cipherPragmaAfterRawKey, pragma, pragmaAfterRawKey, pragmaBesideSettings

        var testDescription: String { rawValue }

        func configuration(_ passphrase: String = "correct horse") -> Configuration {
            var configuration = Configuration()
            switch self {
            case .settings, .pragmaBesideSettings:
                configuration.encryption = Encryption(
                    key: .passphrase(passphrase), settings: CipherSettings(kdfIterations: 1000))
                if self == .settings { configuration.encryption?.settings.pageSize = 8192 }
            case .cipherPragma, .pragma:
                configuration.prepareDatabase { db in
                    try db.usePassphrase(passphrase)
                    try db.execute(sql: "PRAGMA kdf_iter = 1000")
                }
            case .cipherPragmaAfterRawKey, .pragmaAfterRawKey:
                configuration.prepareDatabase {
                    try $0.usePassphrase("x'" + String(repeating: passphrase == "other" ? "0f" : "5a", count: 32) + "'")
                }
            }
            switch self {
            case .settings: break
            case .cipherPragma, .cipherPragmaAfterRawKey:
                configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cipher_page_size = 8192") }
            case .pragma, .pragmaAfterRawKey, .pragmaBesideSettings:
                configuration.prepareDatabase { try $0.execute(sql: "PRAGMA page_size = 8192") }
            }
            return configuration
        }
    }

    @Test("holds for checks, rotations and copies, however it was said", arguments: Spelling.allCases)
    func everywhere(spelling: Spelling) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("db.sqlite"), copy = folder.path("copy.sqlite")
        let pool = try DatabasePool(path: path, configuration: spelling.configuration())
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE note (text); INSERT INTO note VALUES (zeroblob(100000)), ('kept')")
        }
        #expect(try pool.read { try Int.fetchOne($0, sql: "PRAGMA page_size") } == 8192)
        let report = try pool.checkIntegrity()
        #expect(report.unauthenticPages == [] && report.structureProblems == [])
        try pool.vacuum(into: copy)
        let newKey: DatabaseKey =
            switch spelling {
            case .cipherPragmaAfterRawKey, .pragmaAfterRawKey: try .rawKey([UInt8](repeating: 0x0f, count: 32))
            default: .passphrase("other")
            }
        try pool.rotateKey(to: newKey)
        try pool.close()
        for (path, configuration) in [(path, spelling.configuration("other")), (copy, spelling.configuration())] {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            #expect(
                try queue.read { try String.fetchOne($0, sql: "SELECT text FROM note WHERE typeof(text) = 'text'") }
                    == "kept")
        }
    }
}

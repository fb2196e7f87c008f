import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A read that fails while a database is opened")
struct FailingReadTests {
    @Test(
        "is an error of the disk, and says nothing of the key or of damage", arguments: ["wal", "delete"],
        [nil, PlaintextHeader()])
    func once(journalMode: String, header: PlaintextHeader?) throws {
        strongroom_faults_install()
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: .passphrase("secret"), settings: CipherSettings(kdfIterations: 1000), plaintextHeader: header)
        func value() throws -> Int? {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            return try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = \(journalMode); CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        }
        try queue.close()
        var count: Int64 = 0, hits = strongroom_faults_hits()
        repeat {
            hits = strongroom_faults_hits()
            strongroom_faults_set_once(folder.path, STRONGROOM_FAULT_READ, count)
            let result = Result { try value() }
            strongroom_faults_clear(folder.path)
            if case .failure(let error) = result {
                #expect((error as? DatabaseError)?.extendedResultCode == .SQLITE_IOERR_READ, "read \(count): \(error)")
            } else {
                #expect(try result.get() == 1)
            }
            count += 1
        } while strongroom_faults_hits() > hits
        #expect(count > 3)
        #expect(try value() == 1)
    }
}

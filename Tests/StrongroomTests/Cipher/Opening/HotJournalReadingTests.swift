import CSQLCipher
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("Reading a database whose change of journal mode was killed")
struct HotJournalReadingTests {
    private let folder: TemporaryFolder
    private let path: String

    private var encryption: Encryption {
        Encryption(key: .passphrase("first"), settings: CipherSettings(kdfIterations: 1000))
    }

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.encryption = encryption
        return configuration
    }

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
    }

    /// Leaves page 1 of a database with a log, and the journal of a transaction without one.
    private func makeKilled() throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = wal; CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        }
        try queue.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let other = try DatabaseQueue(path: path, configuration: configuration)
        var journal = Data()
        try other.inDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = delete")
            try db.execute(sql: "BEGIN; UPDATE t SET a = 2; CREATE TABLE u(a)")
            #expect(sqlite3_db_cacheflush(db.sqliteConnection) == SQLITE_OK)
            journal = try Data(contentsOf: URL(fileURLWithPath: path + "-journal"))
            try db.execute(sql: "ROLLBACK")
        }
        try other.close()
        try whole.write(to: URL(fileURLWithPath: path))
        try journal.write(to: URL(fileURLWithPath: path + "-journal"))
    }

    @Test("says that it must be rolled back, and a program that may write does that")
    func named() throws {
        try makeKilled()
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseFile.reading(path: path, encryption: encryption) { _ in }
        }
        #expect(error?.extendedResultCode == .SQLITE_READONLY_ROLLBACK, "\(String(describing: error))")
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        try queue.close()
        let value = try DatabaseFile.reading(path: path, encryption: encryption) { db in
            try Int.fetchOne(db, sql: "SELECT a FROM t")
        }
        #expect(value == 1)
    }
}

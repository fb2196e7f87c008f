import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Refuses each commit.
private final class RefusingObserver: TransactionObserver, Sendable {
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseWillCommit() throws { throw DatabaseError(message: "refused") }
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}

/// Disks and file systems return zeros for blocks that they have lost.
@Suite("A page of zeros")
struct EmptyPageTests {
    /// Replaces a page of a closed database with zeros.
    private func clear(_ page: Int, of path: String) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64((page - 1) * 4096))
        try file.write(contentsOf: Data(count: 4096))
        try file.close()
    }

    /// Returns the numbers of the pages of zeros.
    private func emptyPages(of path: String) throws -> [Int] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        return (0..<bytes.count / 4096).filter { page in
            bytes[page * 4096..<(page + 1) * 4096].allSatisfy { $0 == 0 }
        }.map { $0 + 1 }
    }

    @Test("that is in use is damaged, and a rotation names it")
    func used() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), configuration = Configuration.encrypted()
        try makeHoles(in: path, configuration)
        let holes = try emptyPages(of: path)
        var queue = try DatabaseQueue(path: path, configuration: configuration)
        // The leaf of the last table.
        let used = try queue.read { try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'u'")! }
        try queue.close()
        #expect(!holes.contains(used))
        try clear(used, of: path)
        queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try queue.checkIntegrity().unauthenticPages == [used])
        let error = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: .passphrase("new")) }
        #expect(error?.resultCode == .SQLITE_CORRUPT && error?.damagedPage == used, "\(error as Any)")
        try? queue.close()
    }

    @Test("that a checkpoint writes during a check is no damage")
    func checkpoint() throws {
        let fixture = try PoolFixture(walConfiguration())
        try fixture.pool.write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            for _ in 0..<1200 { try db.execute(sql: "INSERT INTO t VALUES (randomblob(3000))") }
        }
        let other = try DatabaseQueue(path: fixture.path, configuration: walConfiguration())
        try other.writeWithoutTransaction { _ = try $0.checkpoint(.full) }
        var wasTruncated = false
        let report = try DatabaseFile.reading(path: fixture.path, encryption: fixture.pool.read { $0.ownEncryption }) {
            db in
            try db.integrityReport { _ in
                guard !wasTruncated else { return }
                wasTruncated = true
                _ = try other.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            }
        }
        #expect(wasTruncated && report.isIntact, "\(report)")
    }

    /// A database with unused pages that SQLite has never written.
    fileprivate func makeHoles(in path: String, _ configuration: Configuration) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA secure_delete = OFF; CREATE TABLE k (a)")
            try db.inTransaction {
                try db.execute(sql: "CREATE TABLE t (a)")
                for _ in 0..<50 { try db.execute(sql: "INSERT INTO t VALUES (randomblob(2000))") }
                // The pages of the first table are unused before they are written, and the second one is behind them.
                try db.execute(sql: "CREATE TABLE u (a); INSERT INTO u VALUES (randomblob(9000)); DELETE FROM t")
                return .commit
            }
        }
        try queue.close()
        try #require(emptyPages(of: path).count > 10)
    }

    /// Work that reads each page.
    enum Work: CaseIterable {
        case rotation, vacuum, erasure, backup

        func run(in queue: DatabaseQueue) throws {
            switch self {
            case .rotation: #expect(try queue.rotateKey(to: .passphrase("new")) == .complete)
            case .vacuum: try queue.vacuum()
            case .erasure: try queue.erase()
            case .backup:
                // Both have such pages.
                let folder = try TemporaryFolder(), configuration = queue.configuration
                try EmptyPageTests().makeHoles(in: folder.path("copy.sqlite"), configuration)
                let copy = try DatabaseQueue(path: folder.path("copy.sqlite"), configuration: configuration)
                try queue.backup(to: copy)
                #expect(try copy.checkIntegrity().isIntact)
                #expect(try copy.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM u") } == 1)
                try queue.vacuum()
            }
        }
    }

    @Test("that SQLite never wrote is no damage, and prevents no work", arguments: Work.allCases)
    func unwritten(work: Work) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), configuration = Configuration.encrypted()
        try makeHoles(in: path, configuration)
        let queue = try DatabaseQueue(path: path, configuration: configuration), observer = RefusingObserver()
        // An erasure also resets two numbers of the header.
        if work != .erasure { queue.add(transactionObserver: observer, extent: .databaseLifetime) }
        try queue.inDatabase { try $0.execute(sql: "PRAGMA secure_delete = FAST") }
        #expect(try queue.checkIntegrity().isIntact)
        try work.run(in: queue)
        queue.remove(transactionObserver: observer)
        #expect(try queue.checkIntegrity().isIntact)
        let (rows, wipes) = try queue.inDatabase { db in
            let hasTable = try db.tableExists("u")
            let rows = hasTable ? try Int.fetchOne(db, sql: "SELECT count(*) FROM u") : nil
            return (rows, try Int.fetchOne(db, sql: "PRAGMA secure_delete"))
        }
        #expect(rows == (work == .erasure ? nil : 1))
        #expect(wipes == 2)
        #expect(try emptyPages(of: path).isEmpty)
        try queue.close()
    }
}

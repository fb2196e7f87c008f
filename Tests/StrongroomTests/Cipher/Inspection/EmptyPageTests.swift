import Foundation
import TestSupport
import Testing

@testable import Strongroom

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
        var queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a); CREATE TABLE gone (a)")
            for _ in 0..<20 {
                try db.execute(sql: "INSERT INTO t VALUES (randomblob(2000))")
                try db.execute(sql: "INSERT INTO gone VALUES (randomblob(2000))")
            }
            try db.execute(sql: "DROP TABLE gone")
        }
        try queue.close()
        let used = 12, free = 13
        try clear(used, of: path)
        try clear(free, of: path)
        queue = try DatabaseQueue(path: path, configuration: configuration)
        let freePages = try queue.read { try Int.fetchOne($0, sql: "PRAGMA freelist_count")! }
        #expect(freePages > 5)
        #expect(try queue.checkIntegrity().unauthenticPages?.contains(used) == true)
        let error = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: .passphrase("new")) }
        #expect(error?.resultCode == .SQLITE_CORRUPT && error?.damagedPage != nil, "\(error as Any)")
        try? queue.close()
    }

    /// A database with unused pages that SQLite has never written.
    private func makeHoles(in path: String, _ configuration: Configuration) throws {
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
        case rotation, vacuum, erasure

        func run(in queue: DatabaseQueue) throws {
            switch self {
            case .rotation: #expect(try queue.rotateKey(to: .passphrase("new")) == .complete)
            case .vacuum: try queue.vacuum()
            case .erasure: try queue.erase()
            }
        }
    }

    @Test("that SQLite never wrote is no damage, and prevents no work", arguments: Work.allCases)
    func unwritten(work: Work) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), configuration = Configuration.encrypted()
        try makeHoles(in: path, configuration)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA secure_delete = FAST") }
        #expect(try queue.checkIntegrity().isIntact)
        try work.run(in: queue)
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

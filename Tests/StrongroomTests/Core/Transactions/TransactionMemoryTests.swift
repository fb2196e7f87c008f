import CSQLCipher
import CStrongroomFaults
import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("A transaction without memory")
struct TransactionMemoryTests {
    @Test("is rolled back as a whole, at each failing allocation", arguments: [false, true])
    func refused(inSavepoint: Bool) async throws {
        // The allocator must be there before SQLite is used for the first time.
        await #expect(processExitsWith: .success) { [inSavepoint = inSavepoint as Bool] in
            guard strongroom_faults_install_allocator() == 0 else { exit(9) }
            let folder = try TemporaryFolder()
            var allocation: Int64 = 0, isRefused = true, rows = 0
            while isRefused {
                // A connection that has prepared nothing yet.
                let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
                try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a, b)") }
                let refusals = strongroom_faults_refusals()
                let written = Result {
                    try queue.writeWithoutTransaction { db in
                        try db.execute(sql: "PRAGMA cache_size = 10")
                        strongroom_faults_refuse_memory(allocation, 1, true)
                        try db.inTransaction { try insert(into: db, inSavepoint: inSavepoint) }
                    }
                }
                strongroom_faults_refuse_memory(-1, 0, false)
                isRefused = strongroom_faults_refusals() > refusals
                if case .success = written { rows += 2 }
                guard try queue.read({ try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }) == rows else { exit(8) }
                try queue.close()
                allocation += 1
            }
            // Newer SQLites allocate little beside what a connection has.
            guard allocation > (sqlite3_libversion_number() < 3_053_000 ? 20 : 1) else { exit(7) }
        }
    }

    @Test("leaves nothing, and no lock, although the prepared ROLLBACK has to be compiled again")
    func refusedRollback() async throws {
        await #expect(processExitsWith: .success) {
            guard strongroom_faults_install_allocator() == 0 else { exit(9) }
            let folder = try TemporaryFolder()
            var allocation: Int64 = 0, isRefused = true, tables = 0
            while isRefused {
                let path = folder.path("db.sqlite")
                let queue = try DatabaseQueue(path: path, configuration: .encrypted())
                let refusals = strongroom_faults_refusals()
                let changed = Result {
                    try queue.writeWithoutTransaction { db in
                        // Prepared statements are out of date after this.
                        try db.inTransaction { .commit }
                        try db.execute(sql: "PRAGMA foreign_keys = OFF")
                        strongroom_faults_refuse_memory(allocation, 1, true)
                        try db.inTransaction {
                            try db.execute(sql: "CREATE TABLE t\(allocation)(a); INSERT INTO t\(allocation) VALUES (1)")
                            return .commit
                        }
                    }
                }
                strongroom_faults_refuse_memory(-1, 0, false)
                isRefused = strongroom_faults_refusals() > refusals
                if case .success = changed { tables += 1 }
                let other = try DatabaseQueue(path: path, configuration: .encrypted())
                let count = try other.write { db in
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
                }
                guard count == tables else { exit(8) }
                try other.close()
                try queue.close()
                allocation += 1
            }
            guard allocation > 20 else { exit(7) }
        }
    }

    @Test(
        "of a reader that can't be ended closes this reader, and later reads have another one",
        .enabled(if: sqlite3_libversion_number() < 3_053_000, "such a read allocates nothing: SQLite has the memory"))
    func refusedReader() async throws {
        await #expect(processExitsWith: .success) {
            guard strongroom_faults_install_allocator() == 0 else { exit(9) }
            let folder = try TemporaryFolder()
            var configuration = Configuration.encrypted()
            configuration.maximumReaderCount = 1
            let pool = try DatabasePool(path: folder.path("db.sqlite"), configuration: configuration)
            try pool.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
            var allocation: Int64 = 0, isRefused = true
            while isRefused {
                let refusals = strongroom_faults_refusals()
                _ = try? pool.read { db in
                    // Prepared statements are out of date after this.
                    try db.execute(sql: "PRAGMA foreign_keys = OFF")
                    strongroom_faults_refuse_memory(allocation, 1, true)
                    _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
                }
                strongroom_faults_refuse_memory(-1, 0, false)
                isRefused = strongroom_faults_refusals() > refusals
                guard try pool.read({ try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }) == 1 else { exit(8) }
                allocation += 1
            }
            guard allocation > 5 else { exit(7) }
        }
    }
}

private func insert(into db: Database, inSavepoint: Bool) throws -> Database.TransactionCompletion {
    let insert = { try db.execute(sql: "INSERT INTO t VALUES (1, randomblob(3000)), (2, randomblob(9000))") }
    guard inSavepoint else {
        try insert()
        return .commit
    }
    try db.inSavepoint {
        try insert()
        return .commit
    }
    return .commit
}

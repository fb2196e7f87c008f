import CStrongroomFaults
import Foundation
import Strongroom
import Testing

@Suite("A transaction without memory")
struct TransactionMemoryTests {
    @Test("is rolled back as a whole, whichever allocation is the last one that succeeds", arguments: [false, true])
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
            guard allocation > 20 else { exit(7) }
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
